import numpy as np
import pytest

from app_pages.controls.heads_controls import ANY, NONE
from app_pages.heads.columns import COLUMNS
from app_pages.heads.numbers import Head
from app_pages.heads.table import matching_heads, next_sort, sorted_heads
from model.measures.head_roles import possible_roles
from model.measures.head_statistics import STATISTICS
from model.record.from_arrays import from_arrays

ROLES = {role.name: role for role in possible_roles(from_arrays(np.ones((1, 1, 1, 1)), ("a",)))}
NEXT, SINK = ROLES["next-token head"], ROLES["sink head"]
HEADS = [Head(0, 0, ()), Head(0, 1, (NEXT,)), Head(1, 0, (SINK,)), Head(1, 1, (NEXT, SINK)), Head(10, 1, ())]


def names(heads: list[Head]) -> list[str]:
    return [head.name for head in heads]


@pytest.mark.parametrize(
    ("searched", "expected"),
    [
        ("", ["L0 H0", "L0 H1", "L1 H0", "L1 H1", "L10 H1"]),
        ("L1", ["L1 H0", "L1 H1"]),
        ("l1 h1", ["L1 H1"]),
        ("L1H0", ["L1 H0"]),
        ("h1", ["L0 H1", "L1 H1", "L10 H1"]),
        ("next", ["L0 H1", "L1 H1"]),
        ("next-token head", ["L0 H1", "L1 H1"]),
        ("sink h0", ["L1 H0"]),
        ("L7", []),
        ("nothing of the kind", []),
        ("(", []),
    ],
)
def test_a_search_finds_places_and_roles(searched, expected):
    assert names(matching_heads(HEADS, searched, [], ANY)) == expected


def test_filters_narrow_down_together():
    assert names(matching_heads(HEADS, "", [0, 10], ANY)) == ["L0 H0", "L0 H1", "L10 H1"]
    assert names(matching_heads(HEADS, "", [], NONE)) == ["L0 H0", "L10 H1"]
    assert names(matching_heads(HEADS, "h1", [1], SINK.name)) == ["L1 H1"]


def test_a_column_sorts_both_ways_and_what_has_no_number_stands_last():
    heads = HEADS[:4]
    values = {"entropy": np.array([[0.3, np.nan], [0.1, 0.7]])}
    assert names(sorted_heads(heads, values, "-entropy")) == ["L1 H1", "L0 H0", "L1 H0", "L0 H1"]
    assert names(sorted_heads(heads, values, "entropy")) == ["L1 H0", "L0 H0", "L1 H1", "L0 H1"]
    assert names(sorted_heads(heads, values, "-head")) == ["L1 H1", "L1 H0", "L0 H1", "L0 H0"]
    for none in ("", "head ", "-unknown", "DROP"):
        assert names(sorted_heads(heads, values, none)) == names(heads)


def test_clicks_on_a_heading_go_round():
    seen = [""]
    for _ in range(3):
        seen.append(next_sort(seen[-1], "entropy"))
    assert seen == ["", "-entropy", "entropy", ""]
    assert next_sort("-entropy", "next") == "-next"
    assert next_sort(next_sort("", "head"), "head") == ""


def test_every_statistic_has_a_column():
    assert tuple(COLUMNS)[: len(STATISTICS)] == STATISTICS
