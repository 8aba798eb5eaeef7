"""The bars of Streamlit and Plotly are seen on no figure; what they offered, such as full screen, is in the figure's menu."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.watching import ready, visit

pytestmark = pytest.mark.slow

BARS = "[data-testid=stElementToolbar], .modebar"
CHARTS = ":is(.stVegaLiteChart, .stPlotlyChart, .stDataFrame, .stImage):visible"
# Width and height of the first map and of its frame on the screen, in pixels.
SIZES = """() => ['svg.marks image', 'svg.marks .mark-rect path'].flatMap(part => {
  const box = document.querySelector('.st-key-overview ' + part).getBoundingClientRect()
  return [box.width, box.height].map(Math.round)
})"""
LARGER = f"""least => {{
  const sizes = ({SIZES})()
  return Math.min(...sizes) > least && Math.max(...sizes) - Math.min(...sizes) <= 2
}}"""
# Whether the plot is where the pointer would find it: in the whole window, above all else.
FILLS = """() => {
  const plot = document.querySelector('.st-key-mask_map_pattern .main-svg').getBoundingClientRect()
  const corners = [[plot.left + 5, plot.top + 5], [plot.right - 5, plot.bottom - 5]]
  const seen = corners.every(([x, y]) => document.elementFromPoint(x, y)?.closest('.st-key-mask_map_pattern'))
  return seen && plot.width > 0.9 * innerWidth && plot.height > 0.8 * innerHeight
}"""


def enter_full_screen(page: Page, figure: str) -> None:
    page.get_by_role("button", name=f"Download the figure: {figure}").click()
    page.get_by_role("button", name="Full screen").click()


def test_the_maps_of_the_overview_grow_with_their_frames(page):
    visit(page, "/?text=The+film+is+not+good.&view=lines")
    side = max(page.evaluate(SIZES))
    enter_full_screen(page, "overview")
    page.wait_for_function(LARGER, arg=1.5 * side)
    expect(page.get_by_role("button", name="Full screen")).to_have_count(0)  # the menu is closed
    page.get_by_role("button", name="Close fullscreen").click()
    page.wait_for_function(f"side => Math.max(...({SIZES})()) === side", arg=side)


def test_a_map_by_plotly_fills_the_window_until_escape(page):
    visit(page, "/masks?text=The+film+is+not+good.")
    enter_full_screen(page, "masks map pattern")
    page.wait_for_function(FILLS)
    ready(page)
    page.keyboard.press("Escape")
    page.wait_for_function(f"() => !({FILLS})()")
    expect(page.locator(BARS).filter(visible=True)).to_have_count(0)


@pytest.mark.parametrize(
    "address",
    [
        "/?text=The+film+is+not+good.",
        "/inside_a_head?text=The+film+is+not+good.",
        "/masks?text=The+film+is+not+good.",
        "/theory",
        "/cost",
    ],
)
def test_no_figure_shows_the_bar_of_a_library_under_the_pointer(page, address):
    visit(page, address)
    figures = page.locator(CHARTS)
    expect(figures.first).to_be_visible()
    for figure in figures.all():
        figure.hover(force=True)
        expect(page.locator(BARS).filter(visible=True)).to_have_count(0)
