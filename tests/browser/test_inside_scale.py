"""Clicks in the figures of why scores are divided: on a head's point, and on the curve over the temperature."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_links import mark, press
from tests.browser.watching import ready

WHY = "/inside_a_head?inside=Why+√d_k"


@pytest.mark.slow
def test_a_click_on_a_point_chooses_its_head(page):
    page.goto(f"{WHY}&inside_scale=this+encoder")
    ready(page)
    press(page, mark(page, "inside_own_variance", "L2 H1"))
    expect(page).to_have_url(re.compile(r"[?&]layer=2&.*head=1|[?&]head=1&.*layer=2"))
    expect(page.get_by_text("L2 H1 on this input")).to_be_visible()


@pytest.mark.slow
def test_a_click_on_the_curve_sets_the_temperature(page):
    page.goto(f"{WHY}&inside_scale=temperature")
    ready(page)
    press(page, mark(page, "inside_curve", "10"))
    expect(page).to_have_url(re.compile(r"[?&]inside_temperature=10"))
    ready(page)
    page.get_by_role("slider", name="Temperature T").press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]inside_temperature=20"))
