import pytest
import streamlit as st

from app_pages.controls.masks_controls import BLOCKED_CELLS, BLOCKED_KEYS, block, blocked


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> dict:
    """The address, with an empty session beside it."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", {})
    return st.query_params


@pytest.mark.parametrize(
    ("code", "held", "result"),
    [
        (BLOCKED_KEYS, "1.4", ((1,), (4,))),
        (BLOCKED_KEYS, "4.1.4", ((1,), (4,))),
        (BLOCKED_CELLS, "0-3.2-1", ((0, 3), (2, 1))),
        (BLOCKED_KEYS, "", ()),
        (BLOCKED_KEYS, "7.10.-1.x.1-2.3", ((3,), (7,))),  # among 10 positions
        (BLOCKED_CELLS, "1.1-2.1-2-3.9-10", ((1, 2),)),
        (BLOCKED_CELLS, "..%00;drop", ()),
        (BLOCKED_KEYS, "9" * 10_000, ()),
        (BLOCKED_KEYS, "٣", ()),  # a digit, but not one of ours
    ],
)
def test_what_cannot_be_read_is_passed_over(address, code, held, result):
    address[code.key] = held
    assert blocked(code, 10) == result


def test_what_is_blocked_is_read_again(address):
    block(BLOCKED_CELLS, [(2, 1), (0, 3)])
    assert address == {BLOCKED_CELLS.key: "0-3.2-1"}
    assert blocked(BLOCKED_CELLS, 4) == ((0, 3), (2, 1))
