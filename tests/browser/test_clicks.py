"""No click is lost on a busy machine: the browser has a quarter of its speed, and clicks follow each other at once."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.linked_chart import token
from tests.browser.test_links import mark
from tests.browser.watching import ready

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
    for box in [target.bounding_box() for target in targets]:
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.up()


@pytest.mark.slow
def test_of_three_clicks_on_pairs_none_is_lost(slow):
    slow.goto("/masks?masks_kind=Block+pairs&text=The+film+is+not+good&query=2+film")
    ready(slow)
    cells = ("1 the to 2 film", "2 film to 4 not", "3 is to 5 good")
    press_at_once(slow, *(mark(slow, "masks_board", cell) for cell in cells))
    expect(slow).to_have_url(re.compile(r"[?&]masks_cells=1-2\.2-4\.3-5(&|$)"))
    ready(slow)
    press_at_once(slow, *(mark(slow, "masks_board", f"{cell}, masked") for cell in cells[:2]))
    expect(slow).to_have_url(re.compile(r"[?&]masks_cells=3-5(&|$)"))


@pytest.mark.slow
def test_of_three_clicks_on_patches_none_is_lost(slow):
    slow.goto("/masks?kind=Digit&query=[CLS]")
    ready(slow)
    press_at_once(slow, *(mark(slow, "masks_patches", patch) for patch in ("r2c3", "r3c3", "r4c3")))
    expect(slow).to_have_url(re.compile(r"[?&]masks_keys=18\.25\.32(&|$)"))


@pytest.mark.slow
def test_of_three_clicks_on_heads_that_are_taken_away_none_is_lost(slow):
    slow.goto("/heads?heads_part=Ablate&checkpoint=imdb-pre-ln&text=The+film+is+not+good&ablated=f0")
    ready(slow)
    press_at_once(slow, *(mark(slow, "ablate_grid", part) for part in ("L0 H1", "L1 H2", "L3 FF")))
    expect(slow).to_have_url(re.compile(r"[?&]ablated=f0\.f3\.h0-1\.h1-2(&|$)"))


@pytest.mark.slow
def test_a_link_that_is_pressed_while_the_page_is_drawn_is_followed(slow):
    slow.goto("/?text=it+is+not+a+bad+film")
    ready(slow)
    link = slow.locator(".st-key-navigation").get_by_role("link", name="Masks", exact=True)
    slow.evaluate(RUNS)
    token(slow, 3).click()
    slow.evaluate("runs")
    press_at_once(slow, link)
    expect(slow).to_have_url(re.compile(r"/masks[?].*query=3\+not"))


@pytest.mark.slow
def test_a_download_has_the_format_that_was_chosen_just_before(slow):
    slow.goto("/?checkpoint=imdb-pre-ln&layer=1&head=2&query=2+warm")
    ready(slow)
    slow.get_by_role("button", name="Download the figure: matrix").click()
    button = slow.locator(".st-key-file_of_matrix_file button")
    expect(button).to_be_visible()
    for name in ("CSV", "Parquet", "SVG"):
        with slow.expect_download() as download:
            slow.get_by_role("radio", name=name, exact=True).click()
            button.click()
        assert download.value.suggested_filename == f"attention-L1-H2-imdb-pre-ln.{name.lower()}"


@pytest.mark.slow
def test_a_table_has_the_format_that_was_chosen_just_before(slow):
    slow.goto("/heads?checkpoint=imdb-pre-ln&layer=1&head=2")
    ready(slow)
    slow.locator(".st-key-heads_file").get_by_role("button").click()
    for name, suffix in (("LaTeX", "tex"), ("CSV", "csv")):
        with slow.expect_download() as download:
            slow.get_by_role("radio", name=name, exact=True).click()
            slow.locator(".st-key-heads_file_button button").click()
        assert download.value.suggested_filename == f"heads-table-imdb-pre-ln.{suffix}"
