"""The package as others get it: a wheel outside the checkout, and a notebook."""

import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from alibi_core import Selection, calculate
from alibi_explorer.sections import fill_all

ROOT = Path(__file__).parents[2]


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_wheel_serves_the_page_from_a_fresh_environment(
    tmp_path, start_server, page, explorer_of
):
    """The wheel holds both packages and the assets, no `app`, and its command shows the page."""
    pip = (sys.executable, "-m", "pip", "--quiet")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", ".", str(ROOT), cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "alibi_core",
        "alibi_explorer",
    }
    assert {"alibi_core/py.typed", "alibi_explorer/assets/style.css"} <= set(names)

    run(sys.executable, "-m", "venv", "fresh", cwd=tmp_path)
    fresh = tmp_path / "fresh" / "bin"
    run(str(fresh / "python"), "-m", "pip", "--quiet", "install", str(wheel), cwd=tmp_path)
    where = run(
        str(fresh / "python"), "-c", "import alibi_explorer as a; print(a.__file__)", cwd=tmp_path
    )
    assert where.startswith(str(tmp_path / "fresh"))

    server = start_server((str(fresh / "alibi-explorer"), "serve", "--port"))
    explorer = explorer_of(page, server.url)
    explorer.open("?heads=6&head=4")
    explorer.shows(heads=6, head=4)
    explorer.choose(query=3, key=1)
    explorer.shows(heads=6, head=4, query=3, key=1)
    assert server.problems() == []


def test_a_notebook_shows_the_explorer(tmp_path, page):
    """`explorer(...)` at the end of a cell displays the page, also where the kernel is gone."""
    code = "import alibi_explorer\nalibi_explorer.explorer(query=5, key=0, num_heads=6, head=4)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=str(tmp_path))
    # Nothing is loaded from a CDN: neither by us nor by the exporter's own scripts.
    exporter = HTMLExporter(mathjax_url="", require_js_url="", jquery_url="")
    file = tmp_path / "notebook.html"
    file.write_text(exporter.from_notebook_node(notebook)[0], "utf-8")
    page.goto(file.as_uri())
    sentence = page.locator('[data-slot="pair.sentence"]')
    sentence.wait_for()
    shown = sentence.evaluate("(slot) => slot.innerHTML")
    assert shown == fill_all(calculate(Selection(6, 4)))["pair.sentence"]
    assert page.locator('[data-slot="row.keys"] tr').count() == 6
