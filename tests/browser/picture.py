"""Renews the pictures in the README: the served page's first view, and the embedded file's."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
EXPLORER = (sys.executable, "-m", "alibi_explorer")


def photograph(browser: Browser, url: str, waits_for: str, name: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1180})
    page.goto(url)
    page.locator(waits_for).first.wait_for()
    page.wait_for_timeout(1000)  # the figures paint
    page.screenshot(path=ROOT / "assets" / "pictures" / name)


def main() -> None:
    folder = tempfile.TemporaryDirectory()
    file = Path(folder.name) / "embedded.html"
    subprocess.run([*EXPLORER, "embed", "-o", file], cwd=ROOT, check=True)
    serve = subprocess.Popen(
        [*EXPLORER, "serve", "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with folder, serve as server, sync_playwright() as playwright:
        try:
            url = next(word for word in server.stdout.readline().split() if "http" in word)
            browser = playwright.chromium.launch(
                executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"]
            )
            photograph(browser, url, '[data-figure="head.alibi"] canvas', "served.png")
            photograph(
                browser,
                f"{file.as_uri()}?sections=head,heads&heads=6&head=4",
                ".head .matrix",
                "embedded.png",
            )
            browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
