"""Two checkpoints on one page."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import arrives
from tests.browser.linked_chart import click_head, click_row, wait_until_told
from tests.browser.watching import ready, visit

pytestmark = pytest.mark.slow


def test_a_click_on_either_side_chooses_for_both(page):
    visit(page, "/compare?kind=Digit")
    for key, layer, head in (("heads_first", 2, 3), ("heads_second", 4, 1)):
        click_head(page, layer, head, key)
        wait_until_told(page, key, layer=layer, head=head)
        name = f"L{layer} H{head}"
        expect(page.get_by_text(re.compile(rf"{name} ↔|↔ {name}"))).to_be_visible()
    click_row(page, 22, "heads_second")
    arrives(page, r"[?&]query=r3c0")
    for key in ("heads_first", "heads_second"):
        wait_until_told(page, key, query=22)


def test_from_a_disagreement_to_the_head_that_differs_in_four_clicks(page):
    visit(page, "/compare?kind=Digit")
    answers = page.locator("[class*=st-key-side_heads] .headline", has_text="%")
    expect(answers).to_have_count(2)
    page.get_by_role("button", name="Next disagreement").click()  # 1
    arrives(page, r"[?&]digit=\d")
    first, second = (re.search(r"(\d)\s[<>]?[\d.]+\s?%", answer)[1] for answer in answers.all_inner_texts())
    assert first != second
    page.locator(".st-key-compare_view").get_by_role("combobox").click()  # 2
    page.get_by_role("option", name="difference", exact=True).click()  # 3
    expect(page.locator(".st-key-difference")).to_be_visible()
    page.get_by_role("button", name="Most different pair").click()  # 4
    expect(page).to_have_url(re.compile(r"[?&](layer|head)=\d"))
    expect(page.get_by_text("(max 0.69)")).to_be_visible()
    ready(page)  # until then the figure of the run before stands beside the new one
    expect(page.locator(".st-key-difference")).to_be_visible()


def test_what_blinks_says_which_encoder_is_seen(page):
    visit(page, "/compare?checkpoint=imdb-pre-ln")
    expect(page.locator(".st-key-pair [tabindex='0']")).to_have_count(0)  # words alone are no tab stop
    name = page.get_by_role("status").filter(has_text=re.compile("^imdb"))
    expect(name).to_have_count(0)
    page.keyboard.down("b")
    for encoder in ("imdb-post-ln", "imdb-pre-ln", "imdb-post-ln"):
        expect(name).to_have_text(re.compile(f"^{encoder} "))
    page.keyboard.up("b")
    expect(name).to_have_count(0)
