"""No click is lost on a busy machine: the browser has a quarter of its speed, and clicks follow each other at once."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.acting import arrives, mark, page_link
from tests.browser.linked_chart import token
from tests.browser.watching import rectangle, visit

pytestmark = pytest.mark.slow

SLOW = 4  # times as slow as this machine
# `runs` is fulfilled once the server has begun to draw the page, however soon it ends.
RUNS = """() => {
  const app = document.querySelector("[data-testid=stApp]");
  window.runs = new Promise(begun => {
    const changes = new MutationObserver(() => app.dataset.testScriptState === "running" && begun());
    changes.observe(app, { attributeFilter: ["data-test-script-state"] });
  });
}"""


@pytest.fixture
def slow(page: Page) -> Iterator[Page]:
    """A window whose processor is slow."""
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOW})
    yield page
    session.send("Emulation.setCPUThrottlingRate", {"rate": 1})


def press_at_once(page: Page, *targets: Locator) -> None:
    """Presses one after the other, where they were at the beginning."""
    targets[-1].scroll_into_view_if_needed()
    for box in [rectangle(target) for target in targets]:
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.up()


def test_of_three_clicks_on_pairs_none_is_lost(slow):
    visit(slow, "/masks?masks_kind=Block+pairs&text=The+film+is+not+good&query=2+film")
    cells = ("1 the to 2 film", "2 film to 4 not", "3 is to 5 good")
    press_at_once(slow, *(mark(slow, "masks_board", cell) for cell in cells))
    arrives(slow, r"[?&]masks_cells=1-2\.2-4\.3-5(&|$)")
    press_at_once(slow, *(mark(slow, "masks_board", f"{cell}, masked") for cell in cells[:2]))
    expect(slow).to_have_url(re.compile(r"[?&]masks_cells=3-5(&|$)"))


PATCHES = "masks_patches", ("r2c3", "r3c3", "r4c3"), r"masks_keys=18\.25\.32"
PARTS = "ablate_grid", ("L0 H1", "L1 H2", "L3 FF"), r"ablated=f0\.f3\.h0-1\.h1-2"
ABLATED = "/heads?heads_part=Ablate&checkpoint=imdb-pre-ln&text=The+film+is+not+good&ablated=f0"


@pytest.mark.parametrize(
    ("address", "marks"),
    [("/masks?kind=Digit&query=[CLS]", PATCHES), (ABLATED, PARTS)],
    ids=["patches", "parts"],
)
def test_of_three_clicks_on_other_marks_none_is_lost(slow, address, marks):
    key, names, url = marks
    visit(slow, address)
    press_at_once(slow, *(mark(slow, key, name) for name in names))
    expect(slow).to_have_url(re.compile(rf"[?&]{url}(&|$)"))


def test_a_link_that_is_pressed_while_the_page_is_drawn_is_followed(slow):
    visit(slow, "/?text=it+is+not+a+bad+film")
    link = page_link(slow, "Masks")
    slow.evaluate(RUNS)
    token(slow, 3).click()
    slow.evaluate("runs")
    press_at_once(slow, link)
    expect(slow).to_have_url(re.compile(r"/masks[?].*query=3\+not"))


@pytest.mark.parametrize(
    ("page_name", "menu", "button", "file", "formats"),
    [
        ("", "file_of_matrix", "file_of_matrix_file", "attention-L1-H2", ("CSV", "Parquet", "SVG")),
        ("heads", "heads_file", "heads_file_button", "heads-table", ("LaTeX", "CSV")),
    ],
)
def test_a_download_has_the_format_that_was_chosen_just_before(slow, page_name, menu, button, file, formats):
    visit(slow, f"/{page_name}?checkpoint=imdb-pre-ln&layer=1&head=2&query=2+warm")
    slow.locator(f".st-key-{menu}").get_by_role("button").click()
    expect(slow.locator(f".st-key-{button} button")).to_be_visible()
    for name in formats:
        with slow.expect_download() as download:
            slow.get_by_role("radio", name=name, exact=True).click()
            slow.locator(f".st-key-{button} button").click()
        suffix = {"LaTeX": "tex"}.get(name, name.lower())
        assert download.value.suggested_filename == f"{file}-imdb-pre-ln.{suffix}"
