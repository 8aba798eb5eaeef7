"""In full screen the overview shows its maps larger, not only their frames."""

from playwright.sync_api import Page

from tests.browser.watching import ready

# Width and height of the first map and of its frame on the screen, in pixels.
SIZES = """() => ['svg.marks image', 'svg.marks .mark-rect path'].flatMap(part => {
  const box = document.querySelector('.st-key-overview ' + part).getBoundingClientRect()
  return [box.width, box.height].map(Math.round)
})"""
LARGER = f"""least => {{
  const sizes = ({SIZES})()
  return Math.min(...sizes) > least && Math.max(...sizes) - Math.min(...sizes) <= 2
}}"""


def test_the_maps_of_the_overview_grow_with_their_frames(page: Page) -> None:
    page.goto("/?text=The+film+is+not+good.&view=lines")
    ready(page)
    overview = page.locator(".st-key-overview")
    side = max(page.evaluate(SIZES))
    overview.locator("svg.marks").hover()
    overview.get_by_role("button", name="Fullscreen").click()
    page.wait_for_function(LARGER, arg=1.5 * side)
