"""A click takes a token or a patch away, another one gives it back, and the answer above follows."""

import re

from playwright.sync_api import Page, expect

from tests.browser.test_links import mark, press
from tests.browser.watching import ready


def test_a_click_on_a_token_blocks_it_and_a_second_one_frees_it(page: Page) -> None:
    page.goto("/masks?checkpoint=imdb-pre-ln&text=The+film+is+not+good")
    ready(page)
    for _ in range(2):
        press(page, mark(page, "masks_strip", "not"))
        expect(page.get_by_text("Without “not”, the prediction")).to_be_visible()
        expect(page).to_have_url(re.compile(r"[?&]masks_keys=4"))
        press(page, mark(page, "masks_strip", "not, masked"))
        expect(page.get_by_text("Nothing is masked")).to_be_visible()
        expect(page).not_to_have_url(re.compile("masks_keys"))


def test_cells_patches_and_parts_are_in_the_address(page: Page) -> None:
    page.goto("/masks?kind=Digit")
    ready(page)
    press(page, mark(page, "masks_patches", "r2c3"))
    expect(page.get_by_text("Without r2c3, the prediction")).to_be_visible()
    page.locator(".st-key-masks_kind").get_by_text("Block pairs").click()
    press(page, mark(page, "masks_board", "0 [CLS] to 18 r2c3"))
    expect(page.get_by_text("Where [CLS] does not see r2c3, the prediction")).to_be_visible()
    page.locator(".st-key-masks_part").get_by_text("Ways of masking").click()
    expect(page.get_by_text("A fully masked row")).to_be_visible()
    expect(page).to_have_url(re.compile(r"(?=.*masks_cells=0-18)(?=.*masks_part=)"))
