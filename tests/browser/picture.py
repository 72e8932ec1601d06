"""Renews the picture in the README: serves the explorer and photographs its first view."""

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]


def main() -> None:
    command = [sys.executable, "-m", "alibi_explorer", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = next(word for word in server.stdout.readline().split() if "http" in word)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"]
                )
                page = browser.new_page(viewport={"width": 1280, "height": 1180})
                page.goto(url)
                page.locator('[data-figure="head.alibi"] canvas').first.wait_for()
                page.wait_for_timeout(500)  # the figures paint
                page.screenshot(path=ROOT / "assets" / "pictures" / "served.png")
                browser.close()
        finally:
            server.terminate()


main()
