import xml.etree.ElementTree as ET

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import new_context
from tests.browser.linked_chart import canvas
from tests.browser.watching import Complaints, eventually, ready, visit

TEXT = "/?checkpoint=imdb-pre-ln&layer=1&head=2"
CANVAS = "document.querySelector('#chart canvas').toDataURL()"
SVG = "{http://www.w3.org/2000/svg}"


def test_a_figure_becomes_a_file_by_keyboard_alone(page, tmp_path):
    visit(page, TEXT)
    page.get_by_role("button", name="Download the figure: matrix").focus()  # which scrolls to it
    before = canvas(page).bounding_box()
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio", name="PNG")).to_be_visible()
    page.get_by_role("radio", name="8.5 cm column, 8 pt").focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("radio", name="8.5 cm column, 8 pt")).to_be_checked()
    page.get_by_role("radio", name="SVG").focus()
    page.keyboard.press("Space")
    name = "attention-L1-H2-imdb-pre-ln.svg"
    expect(page.get_by_text(name)).to_be_visible()  # below the button of the run that both choices led to
    page.locator(".st-key-file_of_matrix_file button").focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == name
    download.value.save_as(tmp_path / "figure.svg")
    drawn = ET.parse(tmp_path / "figure.svg").getroot()
    assert drawn.get("width") == "8.50cm"
    assert "[CLS]" in ["".join(element.itertext()) for element in drawn.iter(f"{SVG}text")]
    page.keyboard.press("Escape")
    eventually(page, lambda: canvas(page).bounding_box() == before)


@pytest.mark.slow
def test_a_figure_is_copied_as_python(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(page, TEXT)
    page.get_by_role("button", name="Download the figure: matrix", exact=True).click()
    page.get_by_text("As Python").click()
    code = page.get_by_test_id("stCode")
    code.hover()
    code.get_by_role("button", name="Copy to clipboard").click()
    eventually(page, lambda: "record.pattern[1, 2]" in page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.slow
def test_the_menu_opens_whole_at_the_end_of_the_page(page):
    visit(page, "/?kind=Digit&checkpoint=mnist-pre-ln&layer=2&head=1", width=1280)
    page.get_by_role("button", name="Download the figure: matrix", exact=True).click()
    button = page.locator(".st-key-file_of_matrix_file button")
    menu = page.get_by_test_id("stPopoverBody")
    for name, file in (("overview", "overview-mnist"), ("picture", "picture-L2-H1"), ("matrix", "L2-H1")):
        menu.get_by_role("radio", name=name, exact=True).click()
        expect(menu.get_by_text(f"attention-{file}")).to_be_visible()
        expect(button).to_be_in_viewport(ratio=1)
        page.wait_for_function("menu => menu.scrollHeight <= menu.offsetHeight", arg=menu.element_handle())


@pytest.mark.parametrize("color_scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_the_offline_page_opens_from_disk(page, browser, color_scheme, tmp_path):
    visit(page, TEXT)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as web page").click()
    assert download.value.suggested_filename == "imdb-pre-ln-heads.html"
    download.value.save_as(tmp_path / "page.html")
    with (
        new_context(browser, offline=True, color_scheme=color_scheme) as context,
        Complaints(context) as complaints,
    ):
        alone = context.new_page()
        requests = []
        alone.on("request", lambda request: requests.append(request.url))
        alone.goto((tmp_path / "page.html").as_uri())
        chart, announced = alone.locator("#chart canvas"), alone.locator(".announced")
        expect(chart).to_be_visible()
        light = "rgb(255, 255, 255)"
        assert (alone.evaluate("getComputedStyle(document.body).backgroundColor") == light) == (
            color_scheme == "light"
        )
        query = alone.locator(".tokens [aria-pressed=true]")
        label = query.get_attribute("aria-label")
        picture = alone.evaluate(CANVAS)
        first_head = {"x": 40, "y": 50}
        chart.hover(position=first_head)
        alone.wait_for_function(f"before => {CANVAS} !== before", arg=picture)
        expect(query).not_to_have_attribute("aria-label", label)  # which says its weight
        chart.click(position=first_head)
        expect(announced).to_contain_text("L0 H0, ")
        alone.locator("#chart").focus()
        alone.keyboard.press("ArrowDown")
        expect(announced).to_contain_text("L1 H0, ")
        alone.locator(".tokens button").nth(2).click()
        expect(announced).to_contain_text("L1 H0, query 2 ")
        alone.get_by_role("button", name="dark", exact=True).click()
        assert alone.evaluate("getComputedStyle(document.body).backgroundColor") != light
        expect(query).to_have_attribute("data-position", "2")
        assert not complaints
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


@pytest.mark.slow
def test_the_pointer_reaches_the_way_to_a_pdf_below_the_linked_chart(page, tmp_path):
    page.goto(f"{TEXT}&text=a+film")  # each choice below makes the file anew: a small one
    ready(page)
    page.get_by_role("button", name="Download the figure: matrix").click()
    page.get_by_role("radio", name="PDF").click()
    page.get_by_text("Numbers and title").click()
    page.get_by_role("radio", name="none", exact=True).click()
    expect(page.get_by_role("radio", name="none", exact=True)).to_be_checked()
    expect(page.get_by_text("attention-L1-H2-imdb-pre-ln.pdf")).to_be_visible()
    ready(page)  # a press while the server is at work can still be lost
    with page.expect_download() as download:
        page.locator(".st-key-file_of_matrix_file button").click()
    download.value.save_as(tmp_path / "figure.pdf")
    content = (tmp_path / "figure.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert b"LiberationSans" in content
