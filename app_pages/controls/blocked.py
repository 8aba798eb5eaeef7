"""Blocked keys and cells as codes in the address: `masks_keys=1.4`, `masks_cells=0-3.2-1`.

They belong to no single widget, since clicks and boxes both change them.
"""

import re
from collections.abc import Iterable

import streamlit as st

from app_pages.controls.address import INDEX, Code
from app_pages.controls.masks_controls import BLOCKED_CELLS, BLOCKED_KEYS
from model.record import ForwardRecord

OPENED = "masks_opened"  # in the session: something was blocked, or the page was drawn
Blocked = tuple[int, ...]  # (key,), or (query, key) of a cell


def blocked(code: Code, n: int) -> tuple[Blocked, ...]:
    """Blocked keys or cells in the address, sorted; ignores what cannot be parsed or exceeds `n` positions."""
    pattern = re.compile(f"({INDEX})" if code is BLOCKED_KEYS else f"({INDEX})-({INDEX})")
    matches = map(pattern.fullmatch, code.read().split("."))
    positions = {tuple(map(int, match.groups())) for match in matches if match}
    return tuple(sorted(position for position in positions if max(position) < n))


def block(code: Code, positions: Iterable[Blocked]) -> None:
    """Callback: blocks exactly these `positions`, which are keys or cells."""
    code.take(".".join("-".join(map(str, position)) for position in sorted(positions)))


def block_in(record: ForwardRecord, key: int) -> None:
    """Callback: blocks one key of this input, and no others; in another text it is free again."""
    BLOCKED_KEYS.is_of_other_text(record.tokens)
    st.session_state[OPENED] = True
    block(BLOCKED_KEYS, [(key,)])


def unblock_in_other_text(record: ForwardRecord) -> None:
    """Frees positions that were blocked in another text."""
    for code in (BLOCKED_KEYS, BLOCKED_CELLS):
        if code.is_of_other_text(record.tokens):
            block(code, ())
