"""What the comparison of versions measures: its cases fit the present pages, and one that fails does not end it."""

from pathlib import Path

import pytest

from app_pages.controls.pages import read_link
from benchmarks.rerun import CASES, MOST_ROUNDS, NotComparableError, Order, compare


@pytest.mark.parametrize("name", CASES)
def test_the_pages_have_the_controls_of_each_case(name):
    page, query, changes = CASES[name]
    assert len(changes) == MOST_ROUNDS
    read_link(page, query)
    for change in changes:
        read_link(page, {key: str(value) for key, value in change.items()})


def test_the_median_of_each_version_and_their_ratio():
    def answering(*seconds: float) -> Order:
        times = iter(seconds)
        return lambda _: next(times)

    versions = {Path("new"): answering(9, 0.1, 0.3, 0.2), Path("old"): answering(9, 0.4, 0.4, 0.4)}
    assert compare(versions, "Attention", 3).split() == ["200", "ms", "400", "ms", "0.50"]


def test_a_version_that_cannot_take_a_change_is_not_comparable():
    def refuse(order: dict) -> float:
        if "set" in order:
            raise NotComparableError("there is no layer 1")
        return 1.0

    versions = {Path("new"): lambda _: 1.0, Path("old"): refuse}
    assert compare(versions, "Attention", 3).strip() == "not comparable, old: there is no layer 1"
