"""Choosing a mask: its kind, what belongs to that kind, and the heads in which it holds."""

import streamlit as st

from app_pages.controls import address
from app_pages.masks.blocked import CELLS, KEYS, block, blocked
from app_pages.show.most_influential_position import telling_position
from app_pages.subject.state import HeadSelection, Selection
from model.capture.intervention import Kind, MaskChoice
from model.config import ModelConfig
from model.record import ForwardRecord

KINDS: dict[str, Kind] = {
    "Block tokens": "keys",
    "Block pairs": "cells",
    "Causal": "causal",
    "Local window": "window",
    "Padding": "padding",
    "None": "none",
}
MOST_PADDING = 32  # tokens
WIDEST = 16  # radius of a window, in tokens
BOX, SLIDER = 260, 250  # pixels


def choose_kind(record: ForwardRecord) -> Kind:
    look = {"label_visibility": "collapsed", "on_change": _to_the_middle, "args": (len(record),)}
    return KINDS[address.row("Mask", KINDS, key="masks_kind", **look)]


def _to_the_middle(n: int) -> None:
    """A causal mask leaves the first query itself alone: one in the middle shows what it does."""
    if address.held("masks_kind") == "Causal" and not address.held("query"):
        address.take("query", n // 2)


def open_masked(chosen: Selection, record: ForwardRecord) -> None:
    """Where nothing was chosen when the app was opened: blocks the position on which the answer hangs most."""
    untouched = address.opened_bare() and not st.session_state.get("masks_opened") and not address.code(KEYS)
    if untouched and (telling := telling_position(chosen.checkpoint, chosen.given)):
        block_in(record, telling.position)
    st.session_state["masks_opened"] = True


def block_in(record: ForwardRecord, key: int) -> None:
    """Blocks one key of this input, and so of no other."""
    st.session_state["masks_tokens"] = record.tokens
    st.session_state["masks_opened"] = True
    block(KEYS, [(key,)])


def choose_mask(kind: Kind, chosen: HeadSelection, record: ForwardRecord, query: int) -> MaskChoice:
    """What belongs to the kind. `record` is of the input as it is; single cells are blocked in the row of `query`."""
    _forget_positions(record)
    details: dict[str, object] = {}
    with chosen.controls:
        match kind:
            case "window":
                widest = WIDEST if record.patch_grid is None else max(*record.patch_grid, 2) - 1
                look = {"key": "masks_radius", "width": SLIDER}
                details["radius"] = address.slider(f"Radius, in {record.units}", 0, widest, 1, **look)
            case "padding":
                details["n_padding"] = _choose_padding(record)
            case "keys" | "cells":
                code = KEYS if kind == "keys" else CELLS
                every = blocked(code, len(record))
                details[kind] = every if kind == "cells" else tuple(key for (key,) in every)
                st.button(
                    "Unblock all", key="masks_free", on_click=block, args=(code, ()), disabled=not every
                )
    with chosen.view:
        if kind == "keys":
            _choose_positions("Blocked keys", KEYS, record, ())
        elif kind == "cells":
            _choose_positions(f"Keys blocked for query {query}", CELLS, record, (query,))
        everywhere = kind == "none" or (kind == "padding" and record.unit == "token")
        return MaskChoice(kind=kind, **details, **({} if everywhere else _choose_heads(record.config)))


def _forget_positions(record: ForwardRecord) -> None:
    """In another text the same positions are other tokens; patches stay where they are from digit to digit."""
    if st.session_state.setdefault("masks_tokens", record.tokens) != record.tokens:
        st.session_state["masks_tokens"] = record.tokens
        block(KEYS, ())
        block(CELLS, ())


def _choose_positions(label: str, code: str, record: ForwardRecord, row: tuple[int, ...]) -> None:
    """A box for what can be blocked with a click as well: it shows the one choice that there is, and changes it.

    It holds the keys blocked in the cells of `row`; without a row, for every query.
    """
    every = blocked(code, len(record))
    st.session_state["masks_positions"] = [key for *at, key in every if tuple(at) == row]

    def take() -> None:
        others = (each for each in every if each[:-1] != row)
        block(code, (*others, *((*row, key) for key in st.session_state["masks_positions"])))

    st.multiselect(
        label,
        range(len(record)),
        format_func=record.labels.__getitem__,
        key="masks_positions",
        placeholder="click in the input, or choose here",
        select_all=False,
        wrap=True,
        on_change=take,
    )


def _choose_padding(record: ForwardRecord) -> int:
    """How many positions are padding; 0, and a sentence, where a text leaves no room for any."""
    config, n = record.config, len(record)
    if record.patch_grid is not None:
        label, most, first = "Last patches treated as padding", config.n_patches, max(record.patch_grid)
    else:
        label, most, first = "[PAD] tokens appended", min(config.n_positions - n, MOST_PADDING), 8
        if config.padding_id is None or most < 1:
            why = (
                "has no padding token" if config.padding_id is None else f"reads {config.n_positions} tokens"
            )
            st.info(f"No room for padding: the encoder {why}, and this text has {n}.")
            return 0
    return address.slider(label, 0, most, min(first, most), key="masks_padding", width=SLIDER)


def _choose_heads(config: ModelConfig) -> dict[str, tuple[int, ...] | None]:
    """`layers` and `heads` of a mask. None, where nothing is chosen, is all, and the same mask as all of them."""
    chosen = {}
    for axis, count in {"layers": config.n_layers, "heads": config.n_heads}.items():
        some = address.boxes(
            f"In {axis}",
            range(count),
            format_func=(axis[0].upper() + "{}").format,
            key=f"masks_{axis}",
            gone=address.nearest,  # left empty it would mean all
            placeholder="all",
            width=BOX,
        )
        chosen[axis] = tuple(sorted(some)) or None
    return chosen
