from types import SimpleNamespace

import pytest
import streamlit as st

from app_pages.widgets.show import clickable
from viz.figure import VegaFigure

FIGURE = VegaFigure({}, {})


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


def test_a_click_hands_over_the_fields_of_the_mark(page: Page) -> None:
    page.run()
    page.click([{"position": 3}])
    assert page.chosen == 3


def test_a_click_beside_the_marks_changes_nothing(page: Page) -> None:
    page.run()
    page.click([])
    assert page.chosen == 0


def test_the_chart_stays_after_its_own_click(page: Page) -> None:
    first = page.run()
    page.click([{"position": 3}])
    assert page.run() == first
    assert page.run() == first


def test_the_chart_is_new_after_a_choice_made_elsewhere(page: Page) -> None:
    first = page.run()
    page.click([{"position": 3}])
    page.run()
    page.chosen = 5
    second = page.run()
    assert second != first
    page.chosen = 3
    assert page.run() not in (first, second)
