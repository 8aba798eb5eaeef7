"""Controls of the page Masks."""

import re
from collections.abc import Iterable

import streamlit as st

from app_pages.controls.address import INDEX, Code, MultiSelect, Row, SelectBox, Slider, Tabs, nearest
from model.capture.intervention import MaskKind
from model.record import ForwardRecord

_SHOWN = "masks_shown_units"  # in the session: of which kinds of input something was blocked or shown
EXAMPLE = "masks_example"  # in the session: what the page blocked by itself, as the address holds it
Blocked = tuple[int, ...]  # (key,), or (query, key) of a cell


STEP_BY_STEP, WHAT_FOLLOWS, WAYS = "Step by step", "What follows", "Ways of masking"
KINDS: dict[str, MaskKind] = {
    "Block tokens": "keys",
    "Block pairs": "cells",
    "Causal": "causal",
    "Local window": "window",
    "Padding": "padding",
    "None": "none",
}
NUMBERS = {"−1e9": -1e9, "−1e4": -1e4, "−10": -10.0}
HEAD, MEAN = "this head", "mean of the layer"

PART = Tabs("masks_part", (STEP_BY_STEP, WHAT_FOLLOWS, WAYS))
MASK = SelectBox[str]("masks_kind", "Mask", KINDS, width=200)
# See `app_pages.masks.blocked`.
BLOCKED_KEYS = Code("masks_keys", pattern=rf"{INDEX}(\.{INDEX})*")
BLOCKED_CELLS = Code("masks_cells", pattern=rf"{INDEX}-{INDEX}(\.{INDEX}-{INDEX})*")
RADIUS = Slider("masks_radius", "Radius", default=1, width=164)
PADDING = Slider[int]("masks_padding", "Padding", width=164)
# Left empty they mean all: a layer that is not there gives way to the nearest.
LAYERS = MultiSelect[int](
    "masks_layers",
    "In layers",
    pattern=f"L{INDEX}",
    gone=nearest,
    format_func="L{}".format,
    placeholder="all",
    width=260,
)
HEADS = MultiSelect[int](
    "masks_heads",
    "In heads",
    pattern=f"H{INDEX}",
    gone=nearest,
    format_func="H{}".format,
    placeholder="all",
    width=260,
)
SHOWN = Slider[tuple[int, int]]("masks_shown", "Positions in the maps")
LOST_BY = Row("masks_lost", "In", (HEAD, MEAN), label_visibility="collapsed")
NUMBER = Row(
    "masks_number",
    "c, a number in place of −∞",
    NUMBERS,
    help="In half precision, which ends at −65,504, −1e9 itself becomes −∞.",
)


def blocked(code: Code, n: int) -> tuple[Blocked, ...]:
    """Blocked keys, or cells (query, key), in the address, sorted; ignores what cannot be parsed or lies beyond `n` positions."""
    pattern = re.compile(f"({INDEX})" if code is BLOCKED_KEYS else f"({INDEX})-({INDEX})")
    matches = map(pattern.fullmatch, code.read().split("."))
    positions = {tuple(map(int, match.groups())) for match in matches if match}
    return tuple(sorted(position for position in positions if max(position) < n))


def block(code: Code, positions: Iterable[Blocked]) -> None:
    """Callback: blocks exactly these `positions`, which are keys or cells (query, key)."""
    code.take(".".join("-".join(map(str, position)) for position in sorted(positions)))


def blocked_in_row(code: Code, row: Blocked, n: int) -> list[int]:
    """The blocked keys among `n` positions: those of the cells in `row`, which is (query,), or with the row () those blocked for
    every query.
    """
    return [key for *own_row, key in blocked(code, n) if tuple(own_row) == row]


def block_in_row(code: Code, row: Blocked, n: int, keys: Iterable[int]) -> None:
    """Callback: blocks exactly these `keys` in `row`, as in `blocked_in_row`; cells of other rows stay as they are."""
    others = (position for position in blocked(code, n) if position[:-1] != row)
    block(code, (*others, *((*row, key) for key in keys)))


def block_in(record: ForwardRecord, key: int) -> None:
    """Callback: blocks one `key` of this `record`'s input and no others; another text starts with nothing blocked."""
    BLOCKED_KEYS.is_of_other_text(record.tokens)
    is_first_of_kind(record)
    block(BLOCKED_KEYS, [(key,)])


def is_first_of_kind(record: ForwardRecord) -> bool:
    """Whether this is the first call in this session for an input of this kind, a text or a picture."""
    units: set[str] = st.session_state.setdefault(_SHOWN, set())
    is_new = record.unit not in units
    units.add(record.unit)
    return is_new


def unblock_in_other_text(record: ForwardRecord) -> None:
    """Unblocks positions that were blocked in another text than that of `record`."""
    for code in (BLOCKED_KEYS, BLOCKED_CELLS):
        if code.is_of_other_text(record.tokens):
            block(code, ())
