"""Code for this state in the browser: it follows the choice, and is copied or shown to copy."""

import pytest
from playwright.sync_api import expect

from alibi_explorer.embed import embedded_page
from alibi_explorer.layout import assets
from alibi_explorer.sections.code import LISTINGS

OPENING = "key = 4, 0, 5, 0\n"
SELECTED = "({selectionStart, selectionEnd}) => selectionEnd - selectionStart"


@pytest.fixture(scope="session")
def site(tmp_path_factory, serve_folder):
    folder = tmp_path_factory.mktemp("code")
    (folder / "explorer.html").write_text(embedded_page(), "utf-8")
    frame = '<!doctype html><title>Course</title><iframe src="explorer.html" width="900"'
    (folder / "framed.html").write_text(
        f'{frame} height="800" title="ALiBi explorer" sandbox="allow-scripts"></iframe>', "utf-8"
    )
    return serve_folder(folder)


@pytest.fixture(params=["embedded", "served"])
def host(request, page, site, embedded_of):
    """The explorer without a server, and with one."""
    if request.param == "embedded":
        return embedded_of(page, f"{site}/explorer.html")
    return request.getfixturevalue("explorer")


def files():
    return {name: (assets() / "code" / f"{name}.py").read_text("utf-8") for name in LISTINGS}


def listing(page, name):
    return page.get_by_role("region", name=f"Code: {LISTINGS[name]}")


def unfold(page, name):
    page.locator(".code summary", has_text=LISTINGS[name]).filter(visible=True).click()
    return page.locator(".code details", has=page.locator("summary", has_text=LISTINGS[name]))


def test_the_code_follows_the_choice(host):
    """Every listing has the choice in it, and nothing else in it changes."""
    host.open("?sections=code&heads=12&head=8")
    host.open_details()
    for query, key in ((5, 0), (2, 4)):
        host.choose(query=query, key=key)
        host.shows(heads=12, head=8, query=query, key=key)
        for name, code in files().items():
            text = listing(host.page, name).text_content()
            assert text == code.replace(OPENING, f"key = 12, 8, {query}, {key}\n")


def test_one_row_is_shown(host):
    """Of the row's table the chosen key alone stands there, also where it is masked."""
    host.open("?sections=code")
    row = host.page.locator(".code tbody tr:visible")
    for query, key, name in ((5, 0, "The (0)"), (2, 4, "the (4)")):
        host.choose(query=query, key=key)
        host.shows(query=query, key=key)
        expect(row).to_have_count(1)
        expect(row.locator("th")).to_have_text(name)


def test_the_code_is_copied(host):
    """The button puts the listing of the choice on the clipboard."""
    origin = host.page.url if host.page.url.startswith("http") else host.url
    host.page.context.grant_permissions(
        ["clipboard-read", "clipboard-write"], origin="/".join(origin.split("/")[:3])
    )
    host.open("?sections=code&query=2&key=4")
    for name, code in files().items():
        opened = unfold(host.page, name)
        opened.get_by_role("button", name="Copy this code").click()
        expect(opened.get_by_role("status")).to_have_text("Copied.")
        expect(opened.locator("textarea")).to_be_hidden()
        copied = host.page.evaluate("navigator.clipboard.readText()")
        assert copied == code.replace(OPENING, "key = 4, 0, 2, 4\n")


def test_the_code_is_shown_where_copying_is_refused(host):
    """Where the clipboard is refused the listing is selected, to be copied by hand."""
    host.page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error())")
    host.open("?sections=code&query=3")
    opened = unfold(host.page, "with_flex")
    opened.get_by_role("button").click()
    by_hand = opened.get_by_label("Copying is not allowed here")
    code = files()["with_flex"].replace(OPENING, "key = 4, 0, 3, 0\n")
    expect(by_hand).to_have_value(code)
    expect(by_hand).to_be_focused()
    assert by_hand.evaluate(SELECTED) == len(code)


def test_in_a_sandboxed_frame(page, site, embedded_of):
    """With scripts and nothing else allowed the code is shown, and nothing is logged."""
    page.goto(f"{site}/framed.html")
    frame = page.locator("iframe").element_handle().content_frame()
    embedded = embedded_of(frame)
    embedded.wait()
    opened = unfold(frame, "with_numpy")
    opened.get_by_role("button").click()
    by_hand = opened.get_by_label("Copying is not allowed here")
    expect(by_hand).to_have_value(files()["with_numpy"])
    expect(by_hand).to_be_focused()


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_long_lines_scroll_inside(host, width):
    """A long line is reached by scrolling its listing, by key too; the page stays as wide."""
    host.page.set_viewport_size({"width": width, "height": 800})
    host.open("?sections=code")
    for name in LISTINGS:
        unfold(host.page, name)
        pre = listing(host.page, name)
        right = pre.evaluate("(pre) => pre.scrollWidth - pre.clientWidth")
        assert (right > 0) == (width < 1280)
        pre.focus()
        host.page.keyboard.press("ArrowRight")
        if right:
            host.page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    root = "document.documentElement"
    assert host.page.evaluate(f"{root}.scrollWidth") == width


def test_print(page, site, embedded_of):
    """On paper it stands where it is all that is shown, with every listing and no button."""
    embedded = embedded_of(page, f"{site}/explorer.html")
    for sections, is_there in (("code", True), ("pair,code", False)):
        embedded.open(f"?sections={sections}")
        embedded.open_details()
        page.emulate_media(media="print")
        for name in LISTINGS:
            expect(listing(page, name)).to_be_visible(visible=is_there)
        expect(page.locator(".code button:visible")).to_have_count(0)
        page.emulate_media(media="screen")
