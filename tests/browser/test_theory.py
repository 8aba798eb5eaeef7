"""The grid of short runs: what was made stays when somebody stops it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.watching import ready

pytestmark = pytest.mark.slow


def test_a_running_grid_can_be_stopped(page: Page) -> None:
    page.goto(
        "/theory?theory_part=First+steps&theory_depth=2&theory_seeds=1&theory_grid_layers=12&theory_grid_steps=240"
    )
    ready(page)
    button = page.locator(".st-key-theory_grid_run button")
    expect(button).to_contain_text("Start 18 short runs")
    button.click()
    expect(button).to_contain_text("Stop")
    grid = page.locator(".st-key-side_theory_live_pre-LN [data-testid=stVegaLiteChart]")
    expect(grid).to_be_visible()  # the first run is made
    button.click()
    expect(button).to_contain_text(re.compile(r"Start 1\d short runs"))
    ready(page)
    expect(grid).to_be_visible()
    expect(page.get_by_text("Losses at learning rate").first).to_be_visible()
