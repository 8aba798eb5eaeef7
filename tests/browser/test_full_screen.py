"""In full screen the overview shows its maps larger, not only their frames."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.watching import ready


def box(part: Locator) -> tuple[float, float]:
    """Width and height on the screen."""
    found = part.bounding_box()
    assert found is not None
    return round(found["width"]), round(found["height"])


def test_the_maps_of_the_overview_grow_with_their_frames(page: Page) -> None:
    page.goto("/?text=The+film+is+not+good.")
    ready(page)
    overview = page.locator(".st-key-overview")
    first_map, frame = overview.locator("svg.marks image").first, overview.locator(".mark-rect path").first
    before = box(first_map)
    overview.locator("svg.marks").hover()
    overview.get_by_role("button", name="Fullscreen").click()
    expect(page.get_by_role("button", name="Close fullscreen")).to_be_attached()
    expect(overview.locator("svg.marks")).not_to_have_attribute("width", "338")
    width, height = box(first_map)
    assert (width, height) == box(frame)
    assert abs(width - height) <= 1
    assert width > 1.5 * before[0]
