"""The printed snippets in real course pages: Sphinx with MyST, MkDocs Material, a notebook."""

import contextlib
import io
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from alibi_explorer.cli import main
from alibi_explorer.theme import DARK, LIGHT

CHOICE = {"heads": 6, "head": 4, "query": 3, "key": 1}
THREE = (
    {"heads": 4, "head": 0, "query": 5, "key": 0},
    {"heads": 6, "head": 4, "query": 2, "key": 1},
    {"heads": 16, "head": 9, "query": 3, "key": 5},
)
HOSTS = ["myst", "sphinx", "mkdocs"]


@pytest.fixture(scope="session")
def snippet():
    """Prints the snippet of a host, and writes the file that it shows, as an author does."""

    def snippet(host, folder, choice=CHOICE, src="/explorer.html"):
        file = folder / "explorer.html"
        if not file.exists():
            command("embed", "-o", str(file))
        options = [part for name in choice for part in (f"--{name}", str(choice[name]))]
        return command("snippet", host, "--src", src, *options)

    return snippet


def command(*arguments):
    """What the command prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(arguments) == 0
    return printed.getvalue().strip()


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def sphinx_site(tmp_path_factory, serve_folder, snippet):
    """A site of Sphinx with MyST: each snippet in its own language, once and three times."""
    source, built = tmp_path_factory.mktemp("sphinx"), tmp_path_factory.mktemp("sphinx-built")
    (source / "conf.py").write_text(
        'project = "Course"\nextensions = ["myst_parser"]\nhtml_extra_path = ["explorer.html"]\n'
    )
    three = {
        host: "\n\n".join(snippet(host, source, choice) for choice in THREE)
        for host in ("myst", "sphinx")
    }
    pages = "".join(f"   {name}\n" for name in ("myst", "sphinx", "myst-three", "sphinx-three"))
    (source / "index.rst").write_text(f"Course\n======\n\n.. toctree::\n\n{pages}")
    (source / "myst.md").write_text(
        f"# Lesson myst\n\nText.\n\n{snippet('myst', source)}\n\nEnd.\n"
    )
    (source / "myst-three.md").write_text(f"# Three myst\n\n{three['myst']}\n")
    (source / "sphinx.rst").write_text(
        f"Lesson sphinx\n=============\n\nText.\n\n{snippet('sphinx', source)}\n\nEnd.\n"
    )
    (source / "sphinx-three.rst").write_text(f"Three sphinx\n============\n\n{three['sphinx']}\n")
    run(sys.executable, "-m", "sphinx", "-W", "-q", str(source), str(built))
    return serve_folder(built)


@pytest.fixture(scope="session")
def mkdocs_site(tmp_path_factory, serve_folder, snippet):
    """A site of MkDocs Material with instant navigation, which needs to know its address."""
    source = tmp_path_factory.mktemp("mkdocs")
    site = serve_folder(source / "site")
    (source / "mkdocs.yml").write_text(
        f"site_name: Course\nsite_url: {site}/\nplugins: []\nuse_directory_urls: false\n"
        "theme:\n  name: material\n  font: false\n  features: [navigation.instant]\n"
    )
    docs = source / "docs"
    docs.mkdir()
    three = "\n\n".join(snippet("mkdocs", docs, choice) for choice in THREE)
    links = "[Lesson mkdocs](mkdocs.md) [Three mkdocs](mkdocs-three.md)"
    (docs / "index.md").write_text(f"# Course\n\nText.\n\n{links}\n")
    (docs / "mkdocs.md").write_text(
        f"# Lesson mkdocs\n\nText.\n\n{snippet('mkdocs', docs)}\n\nEnd. [Course](index.md)\n"
    )
    (docs / "mkdocs-three.md").write_text(f"# Three mkdocs\n\n{three}\n")
    run(sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", cwd=source)
    return site


@pytest.fixture(params=HOSTS)
def host(request):
    """The kind of a host and the address of its site."""
    name = request.param
    return name, request.getfixturevalue("mkdocs_site" if name == "mkdocs" else "sphinx_site")


def explorers(page, embedded_of, count=1):
    """The explorers of a page, each once its frame is there and has the height of its content."""
    frames = page.locator("iframe[title='ALiBi explorer']")
    expect(frames).to_have_count(count)
    found = []
    for frame in frames.all():
        frame.scroll_into_view_if_needed()
        inside = frame.element_handle().content_frame()
        inside.wait_for_load_state()
        inside.locator(".alibi").wait_for()
        found.append(embedded_of(inside))
    return found


def fits(explorer):
    """Wait until the frame has the height of its content: all of it is seen, and nothing more."""
    explorer.page.wait_for_function("""() => {
        const {scrollHeight, clientHeight} = document.documentElement
        const {bottom} = document.querySelector(".alibi").getBoundingClientRect()
        return innerHeight !== 900 && scrollHeight === clientHeight
            && Math.abs(scrollY + bottom - innerHeight) <= 1
    }""")


def changes(page, explorer, choice):
    """Clicks and keys change what is shown."""
    explorer.shows(**choice)
    explorer.chip("query", 2).click()
    explorer.shows(**choice | {"query": 2})
    explorer.control("key").focus()
    page.keyboard.press("ArrowRight")
    explorer.shows(**choice | {"query": 2, "key": choice["key"] + 1})
    explorer.page.locator(".card").nth(1).click()
    explorer.shows(**choice | {"head": 1, "query": 2, "key": choice["key"] + 1})


def follow_link(page, name):
    page.get_by_role("link", name=name, exact=True).first.click()
    page.wait_for_function(
        "(name) => document.querySelector('h1').textContent.includes(name)", arg=name
    )


def test_a_snippet_shows_the_explorer(page, host, embedded_of):
    """The explorer appears at its choice, changes by click and key, and fits its frame."""
    name, site = host
    page.goto(f"{site}/{name}.html")
    (explorer,) = explorers(page, embedded_of)
    changes(page, explorer, CHOICE)
    fits(explorer)
    page.set_viewport_size({"width": 500, "height": 800})
    fits(explorer)
    explorer.page.locator("summary").last.click()
    fits(explorer)


def test_a_frame_follows_the_theme_of_the_system(page, host, embedded_of):
    """Light and dark reach the frame, also when the system changes."""
    name, site = host
    for scheme, palette in (("dark", DARK), ("light", LIGHT)):
        page.emulate_media(color_scheme=scheme)
        if scheme == "dark":
            page.goto(f"{site}/{name}.html")
            (explorer,) = explorers(page, embedded_of)
        colour = "rgb({}, {}, {})".format(*bytes.fromhex(palette.page[1:]))
        expect(explorer.page.locator("body")).to_have_css("background-color", colour)


def test_another_page_and_back(page, host, embedded_of):
    """From another page to the explorer, away, and back by link and by history: it works anew."""
    name, site = host
    lesson = f"Lesson {name}"
    page.goto(f"{site}/index.html")
    page.evaluate("window.stays = true")
    follow_link(page, lesson)
    (explorer,) = explorers(page, embedded_of)
    fits(explorer)
    changes(page, explorer, CHOICE)
    follow_link(page, "Course")
    expect(page.locator("iframe")).to_have_count(0)
    follow_link(page, lesson)
    (explorer,) = explorers(page, embedded_of)
    fits(explorer)
    changes(page, explorer, CHOICE)
    page.go_back()
    expect(page.locator("iframe")).to_have_count(0)
    page.go_forward()
    (explorer,) = explorers(page, embedded_of)
    fits(explorer)
    page.set_viewport_size({"width": 500, "height": 800})
    fits(explorer)
    assert page.evaluate("window.stays") is (True if name == "mkdocs" else None)


def test_three_on_one_page_stay_independent(page, host, embedded_of):
    """A change in one of three explorers is a change in one, and each has its own height."""
    name, site = host
    page.goto(f"{site}/{name}-three.html")
    found = explorers(page, embedded_of, 3)
    choices = [dict(choice) for choice in THREE]
    for number, part in ((1, {"query": 4}), (0, {"heads": 2}), (2, {"key": 0})):
        found[number].choose(**part)
        choices[number] |= part
        for explorer, choice in zip(found, choices, strict=True):
            explorer.shows(**choice)
    found[1].page.locator("summary").last.click()
    for explorer in found:
        fits(explorer)


@pytest.fixture(scope="session")
def notebook_site(tmp_path_factory, serve_folder, snippet):
    """A notebook that was run and turned to HTML: the file inline, and in a frame by its URL."""
    folder = tmp_path_factory.mktemp("notebook")
    cells = [
        "import alibi_explorer\n\nalibi_explorer.embed(query=3, key=1, num_heads=6, head=4)",
        snippet("jupyter", folder, src="explorer.html"),
        "alibi_explorer.embed(query=2, theme='dark', sections=('row', 'pair'), height=700)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=str(folder))
    # Nothing is loaded from a CDN: neither by us nor by the exporter's own scripts.
    exporter = HTMLExporter(mathjax_url="", require_js_url="", jquery_url="")
    html, _ = exporter.from_notebook_node(notebook)
    (folder / "notebook.html").write_text(html, "utf-8")
    return serve_folder(folder)


def test_a_notebook_shows_the_explorer_without_a_kernel(page, notebook_site, embedded_of):
    """Inline and by URL it appears, changes by click and key, and stays by itself."""
    page.goto(f"{notebook_site}/notebook.html")
    inline, framed, dark = explorers(page, embedded_of, 3)
    changes(page, inline, CHOICE)
    changes(page, framed, CHOICE)
    dark.shows(query=2)
    dark.choose(key=2)
    dark.shows(query=2, key=2)
    expect(inline.page.locator(".share")).to_be_hidden()  # inline there is no address to copy
    expect(framed.page.locator(".share")).to_be_visible()


def test_a_notebook_follows_the_theme_of_the_system(page, notebook_site, embedded_of):
    """Inline and by URL the frame is dark where the system is, and where the author said so."""
    page.goto(f"{notebook_site}/notebook.html")
    found = explorers(page, embedded_of, 3)
    for scheme, palettes in (("dark", (DARK, DARK, DARK)), ("light", (LIGHT, LIGHT, DARK))):
        page.emulate_media(color_scheme=scheme)
        for explorer, palette in zip(found, palettes, strict=True):
            colour = "rgb({}, {}, {})".format(*bytes.fromhex(palette.page[1:]))
            expect(explorer.page.locator("body")).to_have_css("background-color", colour)
