"""axe-core finds nothing on any page, and the keyboard skips the navigation.

Streamlit's own findings would be listed here, with the reason; at this version there is none that the app does not mend.
"""

import re

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from app_pages.controls.pages import ATTENTION, COMPARE, FIRST, HEADS, INSIDE_A_HEAD, MASKS, PAGES, POSITIONS
from app_pages.controls.pages import Page as Item
from tests.browser.acting import choose
from tests.browser.watching import eventually, ready, visit

pytestmark = pytest.mark.slow

WITH_PICTURES = (ATTENTION, INSIDE_A_HEAD, HEADS, MASKS, POSITIONS, COMPARE)
# The fourth, minor, is a matter of taste: an empty corner of a table.
IMPACTS = ("critical", "serious", "moderate")


def findings(page: Page, item: Item, query: str = "") -> list[str]:
    """Opens the page and returns what axe finds, once its title is its own and it is no wider than the window."""
    path = f"/{'' if item == FIRST else item.name}{query}"
    page.goto(path)
    expect(page).to_have_title(f"{item.title} · Attention Loupe")
    expect(page.locator("h1")).to_be_visible()
    ready(page)
    main = page.get_by_test_id("stMain")
    eventually(page, lambda: main.evaluate("main => main.scrollWidth === main.clientWidth"))
    page.evaluate(f"{AXE_SCRIPT}; 0")
    violations = page.evaluate("axe.run({ resultTypes: ['violations'] }).then((found) => found.violations)")
    return [
        f"{path}: {violation['id']}: {node['html'][:200]}"
        for violation in violations
        if violation["impact"] in IMPACTS
        for node in violation["nodes"]
    ]


def test_every_page_has_a_title_of_its_own_is_no_wider_than_the_window_and_axe_finds_nothing(page):
    page.set_viewport_size({"width": 1280, "height": 800})
    assert [line for item in PAGES.values() for line in findings(page, item)] == []
    assert len({item.title for item in PAGES.values()}) == len(PAGES)


def test_nor_with_a_picture(page):
    assert [line for item in WITH_PICTURES for line in findings(page, item, "?kind=Digit")] == []


def stops(page: Page) -> list[str]:
    """Of every stop of the tabulator on the page, from its heading on, the key of the container that it is in."""
    page.locator("h1").evaluate("(heading) => { heading.tabIndex = -1; heading.focus(); }")
    result = []
    for _ in range(100):
        page.keyboard.press("Tab")
        key = page.evaluate(
            """() => {
              const element = document.activeElement;
              if (element === document.body || element.closest("h1")) return null;
              if (element.matches(".stPlotlyChart")) return "figure";
              return element.closest("[class*='st-key-']")?.className.match(/st-key-(\\S+)/)[1] ?? "";
            }"""
        )
        if key is None:
            return result
        result.append(key)
    raise AssertionError("the tabulator did not leave the page")


def test_the_keyboard_reaches_a_map_before_its_tools(page):
    page.goto("/masks")
    expect(page.locator(".stPlotlyChart[tabindex='0']")).to_have_count(3)
    ready(page)
    order = stops(page)
    first = order.index("figure")
    tools = [f"file_of_masks_map_{name}" for name in ("scores", "pattern", "change")]
    assert order.count("figure") == 3
    assert order[first : first + 6 : 2] == ["figure"] * 3
    assert order[first + 1 : first + 6 : 2] == tools  # one stop for each menu


def test_the_keyboard_reaches_the_player_before_the_download_of_its_film(page):
    page.goto("/training")
    expect(page.get_by_role("slider", name="Recorded moment")).to_be_visible()
    ready(page)
    order = stops(page)
    assert order.index("training_player") < order.index("file_of_film")


def test_another_head_is_announced_with_its_query_and_strongest_keys(page):
    page.goto("/masks?layer=0&head=0")
    maps = page.locator(".stPlotlyChart[aria-label*='L0 H0']")
    expect(maps).to_have_count(3)
    expect(maps.nth(1)).to_have_attribute("aria-label", re.compile(r"Query \S+: \S+ 0\.\d\d"))
    announced = page.locator(".announced-figure[aria-live=polite]")
    expect(announced).to_be_empty()
    choose(page, "Head", "2")
    expect(announced).to_contain_text(re.compile(r"L0 H2.* Query \S+: "))


def test_all_heads_beside_lines_have_a_role_and_a_name(page):
    page.goto("/?view=lines")
    expect(
        page.get_by_role("application", name="All heads. Arrow keys step through the heads.")
    ).to_be_visible()


def test_the_skip_link_goes_behind_the_navigation(page):
    visit(page, "/cost")
    navigation = page.get_by_role("navigation", name="Pages")
    expect(navigation.locator("[aria-current=page]")).to_have_text("Cost")
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("stSkipToContent")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("h1")).not_to_be_focused()
    expect(navigation.locator("*:focus")).to_have_count(0)


FIGURES = {
    "": "[role=application]",
    "compare": ".st-key-heads_first_chart",
    "heads": ".st-key-heads_table",
    "inside_a_head": ".st-key-inside_map",
    "positions": ".st-key-shown_positions_clocks .vega-embed",
}


def skip_to_the_figure(page: Page) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    link = page.get_by_role("link", name="Skip to the figure")
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("name", FIGURES)
def test_a_link_skips_to_the_figure(page, name):
    visit(page, f"/{name}")
    # a chart is drawn, and gets its height, after the script has ended
    has_height = "figure => [...document.querySelectorAll(figure)].some(it => it.offsetHeight > 120)"
    page.wait_for_function(has_height, arg=FIGURES[name])
    skip_to_the_figure(page)
    page.wait_for_function(
        "figure => [...document.querySelectorAll(figure)].some(it => it.contains(document.activeElement))",
        arg=FIGURES[name],
    )


def test_on_heads_a_link_skips_to_the_chosen_row_which_says_its_numbers(page):
    visit(page, "/heads?head=2")
    chosen = page.locator(".st-key-heads_table tr[aria-current] button")
    expect(chosen).to_have_text("L0 H2")
    skip_to_the_figure(page)
    expect(chosen).to_be_focused()
    expect(chosen).to_have_accessible_description(re.compile(r"entropy: 0\.\d\d"))


def test_on_masks_a_link_skips_to_the_tokens_which_the_keys_hide(page):
    visit(page, "/masks?text=great+film")
    expect(page.locator(".st-key-masks_words button[tabindex='0']")).to_be_visible()
    skip_to_the_figure(page)
    expect(page.locator(".st-key-masks_words button:focus")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("masks_keys=1"))


@pytest.mark.parametrize("name", ["", "inside_a_head"])
def test_every_stop_of_the_keyboard_is_seen(page, name):
    visit(page, f"/{name}")
    widths = []
    for _ in range(40):
        page.keyboard.press("Tab")
        widths.append(page.evaluate("document.activeElement.getBoundingClientRect().width"))
    assert min(widths) > 5
