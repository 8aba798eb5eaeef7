"""axe-core finds nothing on any page, and the keyboard skips the navigation.

Streamlit's own findings would be listed here, with the reason; at this version there is none that the app does not mend.
"""

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from app_pages.controls.pages import ATTENTION, COMPARE, FIRST, HEADS, INSIDE_A_HEAD, MASKS, PAGES, POSITIONS
from tests.browser.watching import ready

WITH_PICTURES = (ATTENTION, INSIDE_A_HEAD, HEADS, MASKS, POSITIONS, COMPARE)
IMPACTS = (
    "critical",
    "serious",
    "moderate",
)  # the fourth, minor, is a matter of taste: an empty corner of a table


def findings(page: Page, path: str) -> list[str]:
    page.goto(path)
    expect(page.locator("h1")).to_be_visible()
    ready(page)
    page.evaluate(f"{AXE_SCRIPT}; 0")
    violations = page.evaluate("axe.run({ resultTypes: ['violations'] }).then((found) => found.violations)")
    return [
        f"{path}: {violation['id']}: {node['html'][:200]}"
        for violation in violations
        if violation["impact"] in IMPACTS
        for node in violation["nodes"]
    ]


def test_axe_finds_nothing_with_a_text(page: Page) -> None:
    names = ["" if each == FIRST else each.name for each in PAGES.values()]
    assert [line for name in names for line in findings(page, f"/{name}")] == []


def test_axe_finds_nothing_with_a_picture(page: Page) -> None:
    names = ["" if each == FIRST else each.name for each in WITH_PICTURES]
    assert [line for name in names for line in findings(page, f"/{name}?kind=Digit")] == []


def test_the_skip_link_goes_behind_the_navigation(page: Page) -> None:
    page.goto("/cost")
    ready(page)
    navigation = page.get_by_role("navigation", name="Pages")
    expect(navigation.locator("[aria-current=page]")).to_have_text("Cost")
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("stSkipToContent")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("h1")).not_to_be_focused()
    expect(navigation.locator("*:focus")).to_have_count(0)
