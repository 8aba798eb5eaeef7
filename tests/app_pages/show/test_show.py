import io
import json
import re
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st
from PIL import Image, ImageColor
from streamlit.testing.v1 import AppTest

from app_pages.show.show import clickable
from tests.viz.records import heads_record
from viz.attention.head_overview import head_overview
from viz.attention.token_heatmaps import weight_heatmap
from viz.builders.figure import Figure, VegaFigure
from viz.builders.heatmap_figure import Heatmap
from viz.builders.palette import WEIGHTS
from viz.export.export_style import ExportStyle
from viz.export.save import figure_bytes
from viz.masks.cell_board import cell_board
from viz.positions.matrix_equations import sum_of_maps

FIGURE = VegaFigure({}, {})
TOKENS = ("[CLS]", "great", "film", "[SEP]")
PATTERN = np.random.default_rng(0).dirichlet(np.ones(4), 4).astype(np.float32)
MASK = np.tri(4, dtype=bool)
KINDS: dict[str, Callable[[], Figure]] = {
    "weights": lambda: weight_heatmap(PATTERN, TOKENS, mask=MASK, query=1),
    "sum": lambda: sum_of_maps({"a": PATTERN, "b": PATTERN}, TOKENS),
    "overview": lambda: head_overview(heads_record(PATTERN[None, None]), selected=(0, 0)),
    "board": lambda: cell_board(PATTERN, TOKENS, mask=MASK, query=0),
}


class Page:
    """A chart on a page that is run again and again; `chosen` is what its clicks choose."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.chosen = 0
        self.session_state: dict = {}
        self.chart: dict = {}
        monkeypatch.setattr(st, "session_state", self.session_state)
        monkeypatch.setattr(st, "vega_lite_chart", lambda _, **options: setattr(self, "chart", options))

    def run(self) -> str:
        """The key under which the chart was put up."""
        clickable(FIGURE, key="strip", chosen=self.chosen, selection="token", take=self.take)
        return self.chart["key"]

    def take(self, point: dict) -> None:
        self.chosen = point["position"]

    def click(self, points: list[dict]) -> None:
        self.session_state[self.chart["key"]] = SimpleNamespace(selection={"token": points})
        self.chart["on_select"]()


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return Page(monkeypatch)


@pytest.mark.parametrize(("points", "chosen"), [([{"position": 3}], 3), ([], 0)])
def test_a_click_hands_over_the_fields_of_the_mark_and_beside_the_marks_nothing(page, points, chosen):
    page.run()
    page.click(points)
    assert page.chosen == chosen


def test_the_chart_stays_after_its_own_click(page):
    first = page.run()
    page.click([{"position": 3}])
    assert page.run() == first
    assert page.run() == first


def test_the_chart_is_new_after_a_choice_made_elsewhere(page):
    first = page.run()
    page.click([{"position": 3}])
    page.run()
    page.chosen = 5
    second = page.run()
    assert second != first
    page.chosen = 3
    assert page.run() not in (first, second)


def put_up(figure: object) -> None:
    from app_pages.show.show import show

    show(figure, key="shown", height="stretch")


def draw_twice(first: object, second: object) -> None:
    import streamlit as st

    from app_pages.show.show import Redrawn

    drawn = Redrawn("growing")
    st.text("below")
    drawn.draw(first, done=False)
    drawn.draw(second, done=True)


def test_a_figure_that_is_drawn_again_takes_the_place_of_the_first_and_can_then_be_downloaded():
    one, other = KINDS["overview"](), KINDS["board"]()
    app = AppTest.from_function(draw_twice, args=(one, other)).run()
    assert not app.exception
    (chart,) = app.get("vega_lite_chart")
    assert isinstance(other, VegaFigure)
    assert json.loads(chart.proto.spec)["description"] == other.description
    assert len(app.get("popover")) == 1


def as_svg(figure: Figure) -> str:
    """Vega numbers gradients and clips on from one file to the next."""
    return re.sub(r"(gradient_|clip)\d+", r"\1", figure_bytes(figure, "svg").decode())


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_that_was_shown_becomes_the_same_file_as_one_that_was_not(kind):
    """The browser's colours stand in what is sent to it, and never in the figure."""
    figure = KINDS[kind]()
    app = AppTest.from_function(put_up, args=(figure,)).run()
    assert not app.exception
    assert as_svg(figure) == as_svg(KINDS[kind]())


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("theme", "page"), [("light", 255), ("dark", 14)])
def test_weights_are_drawn_in_their_colours_after_they_were_shown(theme, page):
    figure = weight_heatmap(np.eye(4, dtype=np.float32), TOKENS)
    assert not AppTest.from_function(put_up, args=(figure,)).run().exception
    picture = Image.open(io.BytesIO(figure_bytes(figure, "png", ExportStyle(theme=theme)))).convert("RGB")
    seen = [colour for _, colour in sorted(picture.getcolors(1 << 24), reverse=True)]
    ends = [ImageColor.getrgb(WEIGHTS[end]) for end in ((0, -1) if theme == "light" else (-1, 0))]
    assert abs(seen[0][0] - page) < 12  # the page, and weights of 0
    assert all(min(np.abs(np.subtract(colour, end)).max() for colour in seen[:3]) < 12 for end in ends)


def test_nobody_can_change_a_figure_that_is_handed_out():
    figure = KINDS["weights"]()
    assert isinstance(figure, Heatmap)
    figure.specification.data[0].colorscale = ["red", "blue"]
    figure.specification.update_layout(height=11)
    frame = figure.frame
    frame.iloc[0, 0] = 7
    assert [colour for _, colour in figure.specification.data[0].colorscale] == list(WEIGHTS)
    assert figure.specification.layout.height != 11
    assert figure.frame.iloc[0, 0] == PATTERN[0, 0]

    overview = KINDS["overview"]()
    assert isinstance(overview, VegaFigure)
    overview.specification["layer"].clear()
    frame = overview.frame
    frame["layer"] = 7
    overview.frames.clear()
    assert overview.specification["layer"]
    assert not overview.frame["layer"].any()
