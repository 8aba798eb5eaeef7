"""What stands on the first screen: how much, where, and that nothing covers or cuts anything."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.acting import text_box, write
from tests.browser.linked_chart import tokens
from tests.browser.watching import eventually, ready, rectangle, visit

pytestmark = pytest.mark.slow

LONG = (
    "The story begins slowly, in a small town by the sea, where a teacher finds a letter that was never sent. "
    * 3
)
CONTROLS = """() => [...document.querySelectorAll('.stMainBlockContainer :is(button, a[href], input, textarea, [tabindex="0"])')]
  .filter((element) => !element.closest(".st-key-navigation") && element.tabIndex >= 0)
  .map((element) => element.getBoundingClientRect())
  .filter((box) => box.width && box.height && box.top < innerHeight && box.bottom > 0)"""


def top(locator: Locator) -> float:
    """Pixels from the window's upper edge."""
    return rectangle(locator)["y"]


def bottom(locator: Locator) -> float:
    box = rectangle(locator)
    return box["y"] + box["height"]


def test_the_figure_begins_within_240_pixels_and_ends_on_the_screen(page):
    visit(page, "/", width=1280)
    figure = page.locator(".st-key-all_heads_chart")
    eventually(page, lambda: top(figure) <= 240 and bottom(figure) <= 800)
    controls = page.evaluate(CONTROLS)
    assert len(controls) <= 26
    assert all(control["width"] > 2 for control in controls)  # none that is there for the keyboard alone


def test_a_long_text_pushes_the_page_down_until_enter_and_covers_nothing(page):
    visit(page, "/?text=a+great+film", width=1280)
    figure, box = page.locator(".st-key-all_heads_chart"), text_box(page)
    begin = top(figure)
    height = rectangle(box)["height"]
    box.fill(LONG)
    below = page.get_by_role("combobox", name="Lens")
    page.wait_for_function(
        f"document.querySelector('.st-key-text_text textarea').clientHeight > {2 * height}"
    )
    eventually(page, lambda: top(below) >= bottom(box) and top(figure) > begin + height)
    box.press("Enter")
    page.wait_for_function(
        f"document.querySelector('.st-key-text_text textarea').clientHeight < {height + 5}"
    )
    box.press("End")  # who writes on sees all of it again
    box.press_sequentially("!")
    page.wait_for_function(
        f"document.querySelector('.st-key-text_text textarea').clientHeight > {2 * height}"
    )


def test_the_box_of_the_text_is_as_wide_for_any_answer(page):
    visit(page, "/?text=The+film+is+not+good.")
    box = text_box(page)
    width = rectangle(box)["width"]
    for text in ("Terrible.", "A warm, funny and beautifully acted film that I would gladly watch again."):
        box.fill(text)
        box.press("Enter")
        expect(tokens(page).nth(1)).to_have_text(text.split()[0].lower().strip("."))
        ready(page)
        eventually(page, lambda: rectangle(box)["width"] == width)


def test_of_many_tokens_no_line_is_cut_and_the_switch_measures_what_is_not_measured(page):
    visit(page, f"/?text={LONG.replace(' ', '+')}")
    lists = page.locator(".st-key-linked_words .tokens")
    page.wait_for_function(
        """list => {
          const frame = list.getBoundingClientRect();
          const boxes = [...list.children].map((button) => button.getBoundingClientRect());
          const isCut = (box) => box.top < frame.bottom - 1 && box.bottom > frame.bottom;
          return list.scrollHeight > list.clientHeight && !boxes.some(isCut);
        }""",
        arg=lists.element_handle(),
    )
    sign = page.locator(".st-key-explains")
    expect(sign).to_contain_text("not checked")
    page.get_by_role("button", name="what the answer hangs on").click()
    expect(sign).to_contain_text(re.compile("no ·|cannot be told ·|yes ·"))
    expect(page.locator(".st-key-linked_words .note")).to_contain_text("Gold: speaks for")


def test_why_opens_in_sight_and_stands_in_the_address(page):
    visit(page, "/", width=1280)
    page.get_by_role("button", name="why").click()
    expect(page).to_have_url(re.compile("faithful=true"))
    opened = page.get_by_test_id("stPopoverBody")
    expect(opened.get_by_text("Rank correlation with the effect")).to_be_in_viewport()
    expect(opened.get_by_role("radio", name="integrated gradients")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("faithful"))


@pytest.mark.parametrize("view", ["lines", "one query by layer"])
def test_what_the_colours_of_the_tokens_mean_covers_no_name_of_a_head(page, view):
    page.goto(f"/?view={view.replace(' ', '+')}&coloured_by=answer")
    note = page.locator(".st-key-linked_words .note")
    expect(note).to_contain_text("Gold: speaks for")
    name = page.locator("svg text").get_by_text("H0", exact=True).first
    expect(name).to_be_visible()
    ready(page)
    eventually(page, lambda: bottom(note) <= top(name) + 3)


def test_a_new_answer_is_announced(page):
    visit(page, "/?text=The+film+is+not+good.")
    line = page.locator(".announced-figure")
    expect(line).to_be_empty()
    write(page, "A warm and funny film.")
    expect(line).to_contain_text("positive")


@pytest.mark.parametrize("page_name", ["compare", "masks"])
def test_on_a_projector_the_maps_begin_in_the_uppermost_quarter(page, page_name):
    page.set_viewport_size({"width": 1280, "height": 720})  # 1920 × 1080 at 150 %
    visit(page, f"/{page_name}")
    key, tokens_key = {
        "compare": ("heads_first_chart", "tokens_first"),
        "masks": ("masks_maps", "masks_target_above"),
    }[page_name]
    figure, words = page.locator(f".st-key-{key}"), page.locator(f".st-key-{tokens_key}")
    eventually(page, lambda: top(figure) <= 180 and bottom(figure) <= top(words) and bottom(words) <= 720)


def test_on_a_projector_all_heads_of_a_small_encoder_are_on_the_screen(page):
    visit(page, "/heads", width=1280, height=720)
    rows, table = page.locator("tbody tr"), page.locator(".scroll")
    expect(rows).to_have_count(16)
    eventually(page, lambda: bottom(rows.last) <= bottom(table) <= 720)


# How many pixels of each heading lie below the top of what follows it.
COVERED = """() => [...document.querySelectorAll("[data-testid=stMarkdownContainer] :is(h2, h3)")].map((heading) => {
    const element = heading.closest("[data-testid=stElementContainer]");
    const next = element.nextElementSibling ?? element.closest("[data-testid=stLayoutWrapper]").nextElementSibling;
    return heading.getBoundingClientRect().bottom - next.getBoundingClientRect().top;
})"""


@pytest.mark.parametrize("address", ["/training?kind=Digit", "/inside_a_head?inside=LayerNorm"])
def test_nothing_covers_a_heading(page, address):
    visit(page, address)
    expect(page.locator("[data-testid=stMarkdownContainer] h2").last).to_be_visible()
    assert page.evaluate(COVERED)
    eventually(page, lambda: max(page.evaluate(COVERED)) <= 1)


@pytest.mark.parametrize("sizes", [{"vocab_size": 37_000}, {"vocab_size": 262_144, "n_positions": 262_144}])
def test_no_size_of_an_encoder_is_cut_off(page, sizes):
    """37000 tokens once read 370; the largest size that a box takes has six digits."""
    visit(page, f"/cost?{'&'.join(f'cost_{size}={number}' for size, number in sizes.items())}")
    page.locator(".st-key-more button").first.click()
    for size, number in sizes.items():
        expect(page.locator(f".st-key-cost_{size} input")).to_have_value(str(number))
    boxes = page.locator(".stNumberInput input[type=number]")
    assert boxes.evaluate_all("boxes => boxes.filter(box => box.scrollWidth > box.clientWidth).length") == 0
