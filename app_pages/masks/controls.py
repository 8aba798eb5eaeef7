"""Choosing a mask: its kind, what belongs to that kind, and the heads in which it holds."""

from collections.abc import Callable, Iterable

import streamlit as st

from app_pages import address
from app_pages.masks.places import block, blocked
from model.config import ModelConfig
from model.intervention import Kind, MaskChoice
from model.record import ForwardRecord

KINDS: dict[str, Kind] = {
    "Block keys": "keys",
    "Block cells": "cells",
    "Causal": "causal",
    "Local window": "window",
    "Key padding": "padding",
    "None": "none",
}
KEYS, CELLS = "masks_keys", "masks_cells"
MOST_PADDING = 32  # tokens
WIDEST = 16  # radius of a window, in tokens
BOX, SLIDER = 190, 260  # pixels


def choose_kind() -> Kind:
    return KINDS[address.row("Mask", KINDS, key="masks_kind")]


def choose_mask(kind: Kind, record: ForwardRecord, query: int) -> MaskChoice:
    """What belongs to the kind. `record` is of the input as it is; single cells are blocked in the row of `query`."""
    _forget_positions(record)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        match kind:
            case "keys":
                details = {"keys": _choose_keys(record)}
            case "cells":
                details = {"cells": _choose_cells(record, query)}
            case "window":
                details = {"radius": _choose_radius(record.config)}
            case "padding":
                details = {"n_padding": _choose_padding(record)}
            case _:
                details = {}
        everywhere = kind == "none" or (kind == "padding" and record.config.is_text)
        return MaskChoice(kind=kind, **details, **({} if everywhere else _choose_heads(record.config)))


def _forget_positions(record: ForwardRecord) -> None:
    """In another text the same positions are other tokens; patches stay where they are from digit to digit."""
    if st.session_state.setdefault("masks_tokens", record.tokens) != record.tokens:
        st.session_state["masks_tokens"] = record.tokens
        block(KEYS, ())
        block(CELLS, ())


def _choose_keys(record: ForwardRecord) -> tuple[int, ...]:
    keys = tuple(key for (key,) in blocked(KEYS, len(record.tokens), axes=1))
    _choose_positions("Blocked keys", record, keys, lambda now: block(KEYS, ((key,) for key in now)))
    _free_all(KEYS, disabled=not keys)
    return keys


def _choose_cells(record: ForwardRecord, query: int) -> tuple[tuple[int, int], ...]:
    cells = blocked(CELLS, len(record.tokens), axes=2)
    of_others = [cell for cell in cells if cell[0] != query]
    _choose_positions(
        f"Keys blocked for query {query}",
        record,
        [key for at, key in cells if at == query],
        lambda now: block(CELLS, (*of_others, *((query, key) for key in now))),
    )
    _free_all(CELLS, disabled=not cells)
    return cells


def _choose_positions(
    label: str, record: ForwardRecord, chosen: Iterable[int], take: Callable[[list[int]], None]
) -> None:
    """A box for what can be blocked with a click as well: it shows the one choice that there is, and changes it."""
    st.session_state["masks_positions"] = list(chosen)
    st.multiselect(
        label,
        range(len(record.tokens)),
        format_func=lambda at: f"{at} {record.tokens[at]}" if record.config.is_text else record.tokens[at],
        key="masks_positions",
        placeholder="click below, or choose here",
        select_all=False,
        wrap=True,
        on_change=lambda: take(st.session_state["masks_positions"]),
    )


def _free_all(name: str, *, disabled: bool) -> None:
    st.button("Free all", key="masks_free", on_click=block, args=(name, ()), disabled=disabled)


def _choose_radius(config: ModelConfig) -> int:
    unit, widest = ("tokens", WIDEST) if config.is_text else ("patches", max(config.patch_grid) - 1)
    return address.slider(f"Radius, in {unit}", 0, max(widest, 1), 1, key="masks_radius", width=SLIDER)


def _choose_padding(record: ForwardRecord) -> int:
    """How many positions are padding; 0, and a sentence, where a text leaves no room for any."""
    config = record.config
    if config.is_text:
        label, most, first = "[PAD] tokens appended", config.n_positions - len(record.tokens), 8
        if config.padding_id is None or most < 1:
            why = "knows no padding" if config.padding_id is None else f"reads {config.n_positions} tokens"
            st.info(f"No room for padding: the encoder {why}, and this text has {len(record.tokens)}.")
            return 0
        most = min(most, MOST_PADDING)
    else:
        label, most, first = "Last patches taken as padding", config.n_patches, max(config.patch_grid)
    return address.slider(label, 0, most, min(first, most), key="masks_padding", width=SLIDER)


def _choose_heads(config: ModelConfig) -> dict[str, tuple[int, ...] | None]:
    """`layers` and `heads` of a mask; what is left empty means all."""
    counts = {"layers": config.n_layers, "heads": config.n_heads}
    return {
        axis: tuple(sorted(_choose_some(axis, count)))
        or None  # None is all, and the same mask as all of them
        for axis, count in counts.items()
    }


def _choose_some(axis: str, count: int) -> list[int]:
    letter = axis[0].upper()
    return address.boxes(
        f"In {axis}",
        range(count),
        format_func=lambda number: f"{letter}{number}",
        key=f"masks_{axis}",
        gone=address.nearest,  # left empty it would mean all
        placeholder="all",
        width=BOX,
    )
