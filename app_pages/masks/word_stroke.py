"""The tokens of a text, hidden by a stroke over them; the row of the chosen query follows in the browser at once.

A masked softmax needs only the scores of the row. In layer 0 they do not depend on the mask, so the browser's row is that
of the encoder; above it they do, and the browser's row is a first guess until the server has computed them anew.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from app_pages.controls.head_choice import HeadChoice, take_query
from app_pages.controls.masks_controls import BLOCKED_CELLS, BLOCKED_KEYS, block, blocked
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.callbacks import callback
from app_pages.toolkit.gestures import MASKED_ROW
from model.capture.intervention import MaskChoice
from model.record import ForwardRecord
from viz.builders.number_format import head_name
from viz.builders.palette import WEIGHTS
from viz.builders.token_colours import with_token_colours
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


def draw_word_stroke(
    subject: LiveSubject,
    chosen: HeadChoice,
    unmasked: ForwardRecord,
    after: ForwardRecord,
    choice: MaskChoice,
    query: int,
    n: int,
) -> None:
    """Draws the tokens with the weights of the `query`. Where tokens or pairs are blocked one by one, a stroke over them
    blocks them for all queries or for this one; under other masks a click chooses the query.

    `after` is the record under the mask `choice`, `unmasked` the one without; `n` is the number of their positions without
    padding that the mask appends.
    """
    row = chosen.layer, chosen.head, query
    stamp = f"{subject.checkpoint} {choice.kind} {' '.join(after.tokens)}"
    # Of pairs a stroke takes those of the query.
    code, of_query = (BLOCKED_CELLS, (query,)) if choice.kind == "cells" else (BLOCKED_KEYS, ())
    hides = choice.kind in ("keys", "cells")
    all_blocked = blocked(code, n) if hides else ()
    hidden = [key for *owner, key in all_blocked if tuple(owner) == of_query]

    def taken() -> None:
        message = st.session_state[_KEY].taken
        if (positions := _read(message, len(after))) is None or message["stamp"] != stamp:
            return
        st.session_state[_ANSWERED] = message["number"]
        if hides:
            others = (position for position in all_blocked if position[:-1] != of_query)
            block(code, (*others, *((*of_query, key) for key in positions)))
        elif positions:
            take_query(min(positions[0], n - 1))

    _words(
        key=_KEY,
        data={
            "stamp": stamp,
            "tokens": [visible(token) for token in after.tokens],
            "labels": list(after.labels),
            "scores": after.scores[row].tolist(),
            "allowed": (unmasked if hides else after).mask[row].tolist(),
            "hidden": hidden if hides else np.flatnonzero(~after.mask[row]).tolist(),
            "hides": hides,
            "masks": choice.holds_in(chosen.layer, chosen.head),
            "exact": chosen.layer == 0,
            "query": query,
            "head": head_name(chosen.layer, chosen.head),
            "largest": chosen.of_head(unmasked, after).largest,
            "colours": list(WEIGHTS),
            "answered": st.session_state.get(_ANSWERED, 0),
        },
        on_taken_change=callback(_KEY, taken),
    )


def _read(message: Any, n: int) -> list[int] | None:
    """The positions in a message of the browser; None if it is no such message or names others than `n` positions."""
    if not isinstance(message, Mapping) or not {"stamp", "number", "positions"} <= message.keys():
        return None
    positions, number = message["positions"], message["number"]
    if not isinstance(positions, list) or not all(type(value) is int for value in (*positions, number)):
        return None
    return positions if all(position in range(n) for position in positions) else None
