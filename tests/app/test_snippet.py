"""What an author pastes, and the files an author writes."""

import ast
import os
import re
import tempfile
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from alibi_core import Selection, calculate
from alibi_explorer.cli import main
from alibi_explorer.picture import caption
from alibi_explorer.snippet import HOSTS

CHOICE = ["--heads", "6", "--head", "4", "--query", "3", "--key", "1"]


class Frames(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.frames = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "iframe":
            self.frames.append(dict(attrs))


def printed(capsys, *arguments):
    assert main(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("host", sorted(set(HOSTS) - {"docusaurus", "jupyter"}))
def test_html_hosts_get_a_frame(host, capsys):
    """One frame with title, lazy loading, a height and the whole choice in its address."""
    view = ["--sections", "row,pair", "--controls", "none", "--theme", "dark", "--title", "off"]
    view += ["--questions", "order,cutoff"]
    text = printed(capsys, "snippet", host, "--src", "https://a.org/e.html?x=1", *CHOICE, *view)
    (frame,) = Frames(text).frames
    assert (frame["title"], frame["loading"], frame["height"]) == ("ALiBi explorer", "lazy", "900")
    address = urlsplit(frame["src"])
    assert address._replace(query="").geturl() == "https://a.org/e.html"
    assert {name: values[0] for name, values in parse_qs(address.query).items()} == {
        "x": "1",
        "heads": "6",
        "head": "4",
        "query": "3",
        "key": "1",
        "sections": "row,pair",
        "questions": "order,cutoff",
        "controls": "none",
        "theme": "dark",
        "title": "off",
    }
    assert ("alibi-explorer:height" in text) is (host not in ("moodle", "canvas"))


def test_jupyter_gets_python_that_shows_a_frame(capsys):
    """The printed lines run, and the frame that they make has title and lazy loading."""
    text = printed(capsys, "snippet", "jupyter", "--src", "e.html", *CHOICE)
    *statements, last = ast.parse(text).body
    names = {}
    exec(compile(ast.Module(statements, []), "snippet", "exec"), names)
    frame = eval(compile(ast.Expression(last.value), "snippet", "eval"), names)
    (attributes,) = Frames(frame._repr_html_()).frames
    assert attributes["src"] == "e.html?heads=6&head=4&query=3&key=1"
    assert (attributes["title"], attributes["loading"]) == ("ALiBi explorer", "lazy")


def test_docusaurus_gets_jsx(capsys):
    """JSX spells style as an object and hears the height in an effect that cleans up."""
    text = printed(capsys, "snippet", "docusaurus", "--src", "/e.html", *CHOICE)
    assert text.endswith('\n<AlibiExplorer src={"/e.html?heads=6&head=4&query=3&key=1"} />\n')
    assert "style={{border: 0}}" in text
    assert "removeEventListener" in text


def test_a_snippet_says_no_more_than_it_is_asked(capsys):
    """The file opens at its own choice, and a choice in the URL stays, unless another is given."""
    for arguments, address in (
        (["e.html"], "e.html"),
        (["e.html", "--query", "2"], "e.html?query=2"),
        (["e.html?heads=3&theme=dark"], "e.html?heads=3&amp;theme=dark"),
        (["e.html?heads=3&head=2", "--heads", "6"], "e.html?head=2&amp;heads=6"),
        (["/app?v=1#top", "--key", "0"], "/app?v=1&amp;key=0#top"),
    ):
        assert f'src="{address}"' in printed(capsys, "snippet", "html", "--src", *arguments)
    assert main(["snippet", "html", "--src", "e.html", "--head", "9"]) == 2
    assert "head 9 does not exist with 4 heads" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written(tmp_path, capsys, monkeypatch):
    """The error names the folder, not the part that was to be renamed."""

    def refused(**_):
        raise PermissionError(13, "Permission denied", str(tmp_path / ".e.html.x"))

    monkeypatch.setattr(tempfile, "mkstemp", refused)
    assert main(["embed", "-o", str(tmp_path / "e.html")]) == 2
    error = capsys.readouterr().err
    assert f"cannot write in {tmp_path} (Permission denied); name another folder" in error


@pytest.mark.parametrize(
    "src", ["javascript:alert(1)", "data:text/html,x", "ftp://a/b", "http://[x"]
)
def test_a_snippet_wants_a_web_address(src, capsys):
    """Another scheme is refused, with what to give."""
    assert main(["snippet", "html", "--src", src]) == 2
    assert re.search(r"--src .* is no web address.*; give an? ", capsys.readouterr().err)


def test_embed_writes_once_and_whole(tmp_path, capsys, monkeypatch):
    """A file that is there is kept without --force, and a failed write leaves no part behind."""
    target = tmp_path / "explorer.html"
    assert printed(capsys, "embed", "-o", str(target)).startswith(str(target))
    before = target.read_bytes()
    assert before.endswith(b"</html>\n")

    assert main(["embed", "-o", str(target), "--query", "2"]) == 2
    assert "--force to overwrite it" in capsys.readouterr().err
    assert target.read_bytes() == before

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert main(["embed", "-o", str(target), "--query", "2", "--force"]) == 2
    assert "No space left" in capsys.readouterr().err
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["explorer.html"]


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (["--head", "7"], "head 7 does not exist with 4 heads; choose 0 to 3"),
        (["--sections", "none"], "a page needs a section"),
        (["--sections", "pair,rows"], "there is no section 'rows'"),
        (["--controls", "slope"], "there is no control 'slope'"),
        (["--questions", "order,seven"], "there is no question 'seven'; choose from near, zero"),
        (["--questions", "none"], "practice needs a question; choose from near, zero"),
        (["--theme", "sepia"], "there is no theme 'sepia'; choose from auto, light, dark"),
        (["-o", "missing/explorer.html"], "the folder missing does not exist; make it first"),
        (["-o", "."], "is a folder; name a file in it"),
        (["-o", "-"], "standard output takes no whole file; name one"),
    ],
)
def test_errors_name_the_fix(arguments, fix, tmp_path, capsys, monkeypatch):
    """Exit code 2, one line with what to do, and nothing written."""
    monkeypatch.chdir(tmp_path)
    assert main(["embed", *arguments]) == 2
    assert fix in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_picture_writes_both_kinds_with_the_figures_in_words(tmp_path, capsys):
    """SVG and PNG of the choice, the caption in the alt text and in the SVG itself."""
    text = printed(capsys, "picture", "-o", str(tmp_path / "pair"), *CHOICE)
    said = caption(calculate(Selection(6, 4, 3, 1)))
    assert "a bias of −1 takes its content logit 1.4 to 0.4" in said
    assert "<" not in said
    assert text.count(f'alt="{said}"') == text.count(f"<figcaption>{said}</figcaption>") == 2
    assert (tmp_path / "pair.png").read_bytes().startswith(b"\x89PNG")
    root = ElementTree.parse(tmp_path / "pair.svg").getroot()
    texts = {"".join(element.itertext()).strip() for element in root.iter() if element.text}
    assert {"21.1\u202f%", "25.7\u202f%", "masked", said} <= texts
    for path in tmp_path.iterdir():
        assert path.name in text


def test_a_picture_may_be_named_with_an_ending(tmp_path, capsys):
    """``-o pair.png`` names both files, not one with two endings."""
    text = printed(capsys, "picture", "-o", str(tmp_path / "pair #1.png"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pair #1.png", "pair #1.svg"]
    assert 'src="pair%20%231.svg"' in text


def test_the_same_choice_gives_the_same_picture(tmp_path, capsys):
    """A picture under version control changes only when what it shows changes."""
    for name in ("one", "two"):
        printed(capsys, "picture", "-o", str(tmp_path / name), *CHOICE)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_picture_overwrites_nothing(tmp_path, capsys):
    """If either file is there, neither is written."""
    (tmp_path / "pair.png").write_text("mine")
    assert main(["picture", "-o", str(tmp_path / "pair")]) == 2
    assert "--force" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["pair.png"]


def test_force_overwrites_files_only(tmp_path, capsys):
    """A pipe or a device is never replaced, and a link stays a link to the file it names."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert main(["embed", "-o", str(pipe), "--force"]) == 2
    assert "is a device or a pipe; name a file" in capsys.readouterr().err
    assert pipe.is_fifo()

    file, link = tmp_path / "file.html", tmp_path / "link.html"
    file.write_text("old")
    link.symlink_to(file)
    assert main(["embed", "-o", str(link), "--force"]) == 0
    assert link.is_symlink()
    assert file.read_bytes().endswith(b"</html>\n")
