"""Choice of a mask: its kind, the options of that kind, and the layers and heads to which it applies."""

from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls import masks_controls as controls
from app_pages.controls.address import Code
from app_pages.controls.chosen_word import first_query
from app_pages.controls.head_choice import take_head
from app_pages.controls.input_controls import TEXT
from app_pages.controls.map_controls import HEAD, LAYER, QUERY
from app_pages.controls.masks_controls import (
    BLOCKED_KEYS,
    EXAMPLE,
    Blocked,
    block,
    block_in,
    block_in_row,
    blocked,
    blocked_in_row,
    is_first_of_kind,
    unblock_in_other_text,
)
from app_pages.subject.answer import most_influential_position
from app_pages.subject.subject import LiveSubject
from model.capture.intervention import MaskChoice, MaskKind, without_keys
from model.measures.changes import total_variation
from model.measures.head_statistics import clearest_head
from model.record import ForwardRecord

SEEN = 0.2  # total variation of a row from which its change is clearly seen
MOST_PADDING = 32  # tokens
WIDEST = 16  # radius of a window, in tokens
# A link that sets one of these shows a state of the page, in which nothing else is hidden.
_OF_STATE = {
    control.key for control in (TEXT, LAYER, HEAD, QUERY, controls.MASK, BLOCKED_KEYS, controls.BLOCKED_CELLS)
}


def choose_kind(record: ForwardRecord) -> MaskKind:
    """Draws the kinds of mask and returns the chosen one; of a picture they block patches, not tokens."""
    # Streamlit keeps the function: it must not refer to the record.
    labels = {kind: kind.replace("tokens", record.units) for kind in controls.KINDS}
    chosen = controls.MASK.choose(
        format_func=labels.__getitem__, on_change=_choose_middle_query, args=(len(record),)
    )
    return controls.KINDS[chosen]


def _choose_middle_query(n: int) -> None:
    """Callback: chooses a query in the middle, since a causal mask leaves the first one only itself."""
    if controls.MASK.held() == "Causal" and not QUERY.held():
        QUERY.take(n // 2)


def block_at_first(subject: LiveSubject, record: ForwardRecord) -> None:
    """Blocks, as an example, the position on which the answer depends most, when the page shows a text or a picture for the first
    time, unless the session began with a link to a state of this page.

    In a session that begins on this page, also chooses a query, and if needed a head, whose weights clearly change.
    """
    unblock_in_other_text(record)
    began_elsewhere = "opened" in st.session_state
    if (
        not is_first_of_kind(record)
        or BLOCKED_KEYS.read()
        or not (began_elsewhere or _OF_STATE.isdisjoint(st.query_params))
    ):
        return
    if (influential := most_influential_position(subject)) is not None:
        key = influential.position
    elif patches := record.positions_with_role("patch"):  # too many to try
        layer, head = clearest_head(record)
        key = max(patches, key=record.pattern[layer, head, first_query(record)].__getitem__)
    else:
        return
    block_in(record, key)
    st.session_state[EXAMPLE] = BLOCKED_KEYS.read()
    if not began_elsewhere:
        after = subject.under(without_keys(key)).record
        _choose_changed(record, total_variation(record.pattern, after.pattern))


def is_example(choice: MaskChoice) -> bool:
    """Whether the mask is the one that `block_at_first` chose."""
    return choice.kind == "keys" and BLOCKED_KEYS.read() == st.session_state.get(EXAMPLE)


def _choose_changed(record: ForwardRecord, changes: np.ndarray) -> None:
    """Chooses the query whose weights change most, by `changes` [layer, head, query] from 0 to 1, and another head if the chosen
    one hardly changes.
    """
    head = clearest_head(record)
    if changes[head].max() < SEEN:
        layer, index, _ = np.unravel_index(changes.argmax(), changes.shape)
        head = int(layer), int(index)
    st.session_state["opened"] = True
    take_head(*head)
    QUERY.take(int(changes[head].argmax()))


def choose_mask(
    kind: MaskKind, record: ForwardRecord, query: int, *, controls_in: DeltaGenerator, more_in: DeltaGenerator
) -> MaskChoice:
    """Draws the controls of this kind of mask into `controls_in`, rarely used ones into `more_in`; returns the mask.

    `record` is that of the input without a mask; single cells are blocked in the row of `query`.
    """
    options: dict[str, Any] = {}
    # Both are read in every kind of mask: what is not read is lost from the address with a change of page.
    all_blocked = {code: blocked(code, len(record)) for code in (BLOCKED_KEYS, controls.BLOCKED_CELLS)}
    with controls_in:
        if kind == "window":
            widest = WIDEST if record.patch_grid is None else max(*record.patch_grid, 2) - 1
            options["radius"] = controls.RADIUS.choose(most=widest)
        elif kind == "padding":
            options["n_padding"] = _choose_padding(record)
        else:
            code = controls.BLOCKED_CELLS if kind == "cells" else BLOCKED_KEYS
            if kind == "keys":
                options["keys"] = tuple(key for (key,) in all_blocked[code])
            elif kind == "cells":
                options["cells"] = all_blocked[code]
            st.button(
                "Unblock all",
                key="masks_free",
                on_click=block,
                args=(code, ()),
                disabled=kind == "none" or not all_blocked[code],
            )
    with more_in:
        if kind == "keys":
            _choose_positions("Blocked keys", BLOCKED_KEYS, record, ())
        elif kind == "cells":
            _choose_positions(f"Keys blocked for query {query}", controls.BLOCKED_CELLS, record, (query,))
        if kind != "none" and not (kind == "padding" and record.unit == "token"):
            # where nothing is chosen, the mask holds in all of them
            options["layers"] = tuple(sorted(controls.LAYERS.choose(range(record.config.n_layers)))) or None
            options["heads"] = tuple(sorted(controls.HEADS.choose(range(record.config.n_heads)))) or None
    return MaskChoice(kind=kind, **options)


def _choose_positions(label: str, code: Code, record: ForwardRecord, row: Blocked) -> None:
    """Draws a list of the record's positions that shows which keys are blocked in `row`, also by clicks, and changes them; `row` is
    as in `blocked_in_row`.
    """
    n, key = len(record), "masks_positions"
    st.session_state[key] = blocked_in_row(code, row, n)
    st.multiselect(
        label,
        range(n),
        format_func=record.labels.__getitem__,
        key=key,
        placeholder="click in the input, or choose here",
        select_all=False,
        wrap=True,
        on_change=lambda: block_in_row(code, row, n, st.session_state[key]),
    )


def _choose_padding(record: ForwardRecord) -> int:
    """Number of padding positions; 0, after a message, if the text fills all positions."""
    config, n = record.config, len(record)
    if record.patch_grid is not None:
        return controls.PADDING.choose(most=config.n_patches, default=max(record.patch_grid), label="Patches")
    largest = min(config.n_positions - n, MOST_PADDING)
    if config.padding_id is None or largest < 1:
        reason = "has no padding token" if config.padding_id is None else f"reads {config.n_positions} tokens"
        st.info(f"No room for padding: the encoder {reason}, and this text has {n}.")
        return 0
    return controls.PADDING.choose(most=largest, default=min(8, largest), label="[PAD]")
