import numpy as np
import pytest
import streamlit as st

from app_pages.attention.window import LARGE, SIDE, window


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What stands in the page's address."""
    query: dict[str, str] = {}
    monkeypatch.setattr(st, "query_params", query)
    monkeypatch.setattr(st, "session_state", {})
    return query


def pattern(n: int, strongest: int) -> np.ndarray:
    weights = np.full((n, n), 0.001)
    weights[:, strongest] = 0.5
    return weights


def test_what_is_not_large_is_shown_as_a_whole(address):  # noqa: ARG001
    assert window(pattern(LARGE, 1), 0) is None


def test_the_part_is_around_the_query_and_the_key_that_it_looks_at_most(address):  # noqa: ARG001
    queries, keys = window(pattern(300, 200), 100)
    assert (queries, keys) == (range(80, 80 + SIDE), range(180, 180 + SIDE))


def test_at_the_ends_the_part_keeps_its_size(address):  # noqa: ARG001
    assert window(pattern(300, 299), 0) == (range(SIDE), range(300 - SIDE, 300))


@pytest.mark.parametrize(("code", "start"), [("64-128", (64, 128)), ("0-99999", (0, 300 - SIDE))])
def test_the_address_names_another_part(address, code, start):
    address["window"] = code
    assert tuple(part.start for part in window(pattern(300, 200), 100)) == start


@pytest.mark.parametrize("nonsense", ["", "64", "a-b", "-1-5", "64-128-1"])
def test_nonsense_in_the_address_is_as_if_it_were_not_there(address, nonsense):
    address["window"] = nonsense
    assert window(pattern(300, 200), 100) == (range(80, 80 + SIDE), range(180, 180 + SIDE))


def test_a_pattern_need_not_be_square(address):  # noqa: ARG001
    weights = np.full((20, 300), 0.001)
    weights[:, 200] = 0.5
    assert window(weights, 3) == (range(20), range(180, 180 + SIDE))
