"""The tokens of a text, which are hidden by dragging the pointer across them; the browser updates the query's weights at once.

A masked softmax needs only the scores of the row. In layer 0 they do not depend on the mask, so the browser's row equals the
encoder's; in later layers they do, and the browser's row is an approximation until the server has recomputed it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from app_pages.controls.address import Code
from app_pages.controls.head_choice import HeadChoice, take_query
from app_pages.controls.masks_controls import (
    BLOCKED_CELLS,
    BLOCKED_KEYS,
    Blocked,
    block_in_row,
    blocked_in_row,
)
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.callbacks import callback
from app_pages.toolkit.gestures import MASKED_ROW
from model.capture.intervention import MaskChoice
from viz.builders.number_format import head_name
from viz.builders.palette import WEIGHTS, WeightScale, with_token_colours
from viz.builders.token_label import visible

_ANSWERED = "masks_strokes_answered"  # in the session: how many strokes of the browser were taken
_KEY = "masks_words"
_HTML = """
<div class="stroke">
  <div class="words" role="group" aria-label="Tokens"></div>
  <p class="status" aria-live="polite"></p>
</div>"""
SCRIPT = MASKED_ROW + with_token_colours(Path(__file__).with_suffix(".js"))

_words = st.components.v2.component(
    "word_stroke",
    html=_HTML,
    css=Path(__file__).with_suffix(".css").read_text(encoding="utf-8"),
    js=SCRIPT,
)


@dataclass(frozen=True)
class MaskedInput:
    """The input with and without the mask, and the head and query whose weights are shown."""

    subject: LiveSubject  # without the mask
    chosen: HeadChoice
    unmasked: Side  # of the same positions as `after`
    after: Side  # under the mask
    choice: MaskChoice
    query: int

    @property
    def n(self) -> int:
        """Number of positions without the padding that the mask may append."""
        return len(self.subject.record)

    @property
    def head(self) -> tuple[int, int]:
        """Layer and head."""
        return self.chosen.layer, self.chosen.head

    @property
    def scale(self) -> WeightScale:
        """Colour scale of the head's weights with and without the mask."""
        return self.chosen.of_head(self.unmasked.record, self.after.record)

    @property
    def changes_nothing(self) -> bool:
        """Whether the mask forbids no key that the encoder allows."""
        return bool((self.after.record.mask == self.unmasked.record.mask).all())

    @property
    def hides(self) -> bool:
        """Whether the mask blocks single tokens, or single pairs of the query with a key."""
        return self.choice.kind in ("keys", "cells")

    @property
    def _row(self) -> tuple[Code, Blocked]:
        """Where blocked keys stand in the address, and the row in which they are blocked, as in `blocked_in_row`."""
        return (BLOCKED_CELLS, (self.query,)) if self.choice.kind == "cells" else (BLOCKED_KEYS, ())

    def blocked_keys(self) -> list[int]:
        """The keys that are blocked, for the query alone if the mask blocks cells."""
        return blocked_in_row(*self._row, self.n)

    def block_keys(self, keys: Collection[int]) -> None:
        """Callback: blocks exactly these keys, for the query alone if the mask blocks cells."""
        block_in_row(*self._row, self.n, keys)


def draw_word_stroke(view: MaskedInput) -> None:
    """Draws the tokens coloured by the query's weights. If the mask blocks single tokens or cells, dragging across tokens blocks
    them, for all queries or for this one; under other masks a click chooses the query.
    """
    after, row = view.after.record, (*view.head, view.query)
    stamp = f"{view.subject.checkpoint} {view.choice.kind} {' '.join(after.tokens)}"

    def taken() -> None:
        message = st.session_state[_KEY].taken
        if (positions := _read(message, len(after))) is None or message["stamp"] != stamp:
            return
        st.session_state[_ANSWERED] = message["number"]
        if view.hides:
            view.block_keys(positions)
        elif positions:
            take_query(min(positions[0], view.n - 1))

    _words(
        key=_KEY,
        data={
            "stamp": stamp,
            "tokens": [visible(token) for token in after.tokens],
            "labels": list(after.labels),
            "scores": after.scores[row].tolist(),
            "allowed": (view.unmasked.record if view.hides else after).mask[row].tolist(),
            "hidden": view.blocked_keys() if view.hides else np.flatnonzero(~after.mask[row]).tolist(),
            "hides": view.hides,
            "masks": view.choice.applies_to(*view.head),
            "exact": view.chosen.layer == 0,
            "query": view.query,
            "head": head_name(*view.head),
            "largest": view.scale.largest,
            "colours": list(WEIGHTS),
            "answered": st.session_state.get(_ANSWERED, 0),
        },
        on_taken_change=callback(_KEY, taken),
    )


def _read(message: Any, n: int) -> list[int] | None:
    """The positions in the browser's `message`; None if the message is malformed or a position is not below `n`."""
    if not isinstance(message, Mapping) or not {"stamp", "number", "positions"} <= message.keys():
        return None
    positions, number = message["positions"], message["number"]
    if not isinstance(positions, list) or not all(type(value) is int for value in (*positions, number)):
        return None
    return positions if all(position in range(n) for position in positions) else None
