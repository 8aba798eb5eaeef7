import pytest
import streamlit as st

from app_pages.masks.places import block, blocked, read, toggle, write


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> dict:
    """The address, with an empty session beside it."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", {})
    return st.query_params


@pytest.mark.parametrize(
    ("code", "axes", "found"),
    [
        ("1.4", 1, ((1,), (4,))),
        ("4.1.4", 1, ((1,), (4,))),
        ("0-3.2-1", 2, ((0, 3), (2, 1))),
        ("", 1, ()),
        ("7.10.-1.x.1-2.3", 1, ((3,), (7,))),  # among 10 positions
        ("1.1-2.1-2-3.9-10", 2, ((1, 2),)),
        ("..%00;drop", 2, ()),
        ("9" * 10_000, 1, ()),
        ("٣", 1, ()),  # a digit, but not one of ours
    ],
)
def test_what_cannot_be_read_is_passed_over(code: str, axes: int, found: tuple) -> None:
    assert read(code, 10, axes) == found


def test_what_is_written_is_read_again() -> None:
    places = ((0, 3), (2, 1))
    assert write(reversed(places)) == "0-3.2-1"
    assert read(write(places), 4, axes=2) == places


def test_a_second_toggle_frees(address: dict) -> None:
    toggle("masks_keys", (4,), 10)
    toggle("masks_keys", (1,), 10)
    assert address == {"masks_keys": "1.4"}
    toggle("masks_keys", (4,), 10)
    toggle("masks_keys", (1,), 10)
    assert address == {}
    assert blocked("masks_keys", 10, axes=1) == ()


def test_what_a_change_of_the_page_dropped_is_put_back(address: dict) -> None:
    block("masks_cells", [(2, 1)])
    address.clear()
    assert blocked("masks_cells", 10, axes=2) == ((2, 1),)
    assert address == {"masks_cells": "2-1"}
