"""Figures and pages in the cell of a notebook, without a network.

JupyterLab and marimo put the HTML of a cell's value into their page, and set `color-scheme` on it or on its frames. This page
does the same: the two would be 66 packages more for whoever tests.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from loupe import attention_heatmap, capture, head_overview, load, show, token_strip
from tests.browser.conftest import new_context
from tests.browser.watching import Complaints

TEXT = "A gripping, unforgettable film."
PAGES = {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 22, 20)"}


@cache
def cells() -> list[str]:
    """The HTML of a cell each."""
    record = capture(load("imdb-pre-ln", device="cpu"), TEXT)
    figures = (
        head_overview(record),
        attention_heatmap(record, layer=0, head=1, query=2),
        token_strip(record, layer=0, head=1, query=2),
    )
    return [shown._repr_html_() for shown in (show(record), *figures)]


@pytest.fixture(params=["light", "dark"])
def notebook(request: pytest.FixtureRequest, browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """A page with the cells, in a theme other than that of the reader's system; fails for whatever is fetched."""
    html = "".join(f"<div>{cell}</div>" for cell in cells())
    style = f"<style>:root {{ color-scheme: {request.param} }} body {{ width: 60rem }}</style>"
    # No encoding is said: a notebook may be saved in any.
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html>{style}{html}", encoding="utf-8")
    with (
        # emulated, the system's theme would be that of all frames
        new_context(browser, offline=True, color_scheme="null") as context,
        Complaints(context) as complaints,
    ):
        page = context.new_page()
        fetched: list[str] = []
        page.on("request", lambda sent: fetched.append(sent.url))
        page.goto((tmp_path / "notebook.html").as_uri())
        yield page
        assert [url for url in fetched if not url.startswith(("file:", "data:", "blob:"))] == []
        assert not complaints


def frames(page: Page) -> list[FrameLocator]:
    return [page.frame_locator("iframe").nth(index) for index in range(4)]


@pytest.mark.slow
def test_each_figure_is_drawn_in_the_notebooks_theme_and_answers_the_pointer(notebook):
    theme = notebook.evaluate("getComputedStyle(document.documentElement).colorScheme")
    linked, overview, heatmap, strip = frames(notebook)
    for frame in (linked, overview, heatmap, strip):
        root = frame.locator("html")
        expect(root).to_have_attribute("data-ready", "true")
        expect(root).to_have_attribute("data-theme", theme)
        expect(frame.locator("body")).to_have_css("background-color", PAGES[theme])
    for frame in (overview, heatmap, strip):  # shown whole
        assert frame.locator("html").evaluate("root => root.scrollHeight <= innerHeight")

    canvas, query = linked.locator("#chart canvas"), linked.locator(".tokens [aria-pressed=true]")
    label = query.get_attribute("aria-label")
    canvas.hover(position={"x": 150, "y": 50})
    expect(query).not_to_have_attribute(
        "aria-label", label or ""
    )  # which says its weight in the head that is pointed at
    canvas.click(position={"x": 150, "y": 50})
    linked.locator("#chart").focus()
    notebook.keyboard.press("ArrowDown")
    expect(linked.locator(".announced")).to_contain_text("L1 H")

    overview.locator("canvas").hover(position={"x": 60, "y": 60})
    expect(overview.locator("#vg-tooltip-element")).to_contain_text("L0 H0")
    heatmap.locator(".nsewdrag").hover()
    expect(heatmap.locator(".hoverlayer")).to_contain_text("query")
    strip.locator("canvas").hover(position={"x": 20, "y": 20})
    expect(strip.locator("#vg-tooltip-element")).to_contain_text("[CLS]")
