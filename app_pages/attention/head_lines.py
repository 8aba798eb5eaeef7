"""The weights of the chosen head as lines between queries and keys, and in colours those of other heads of its layer."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.attention.shown_head import ShownHead
from app_pages.controls.attention_controls import ALSO_HEADS
from app_pages.controls.head_choice import HeadChoice, step, take_query
from app_pages.controls.map_controls import ALL_QUERIES
from app_pages.show.show import clickable
from app_pages.toolkit.gestures import arrow_keys
from model.record import AttentionRecord
from viz.attention.head_view import MOST_HEADS, weight_lines
from viz.builders.number_format import head_name, percent


def draw_head_lines(
    shown: ShownHead, pattern: np.ndarray, name: str, *, of_head: bool, menu: DeltaGenerator
) -> None:
    """Draws `pattern` [query, key], called `name`, as lines of one query or of all; `of_head` says that it is one head's.

    Then other heads of its layer can be drawn with it, each in a colour of its own. What is drawn is chosen in the `menu`.
    """
    chosen, query, record = shown.chosen, shown.query, shown.view.record
    with menu:
        is_alone = not ALL_QUERIES.choose()
        heads = _choose_heads(record, chosen) if of_head else ()
    patterns = {head_name(chosen.layer, head): record.pattern[chosen.layer, head] for head in heads}
    if len(patterns) < 2:
        patterns = {name: pattern}
    maximum = "this map's own maximum" if len(patterns) == 1 else "the largest weight of these heads"
    drawn = weight_lines(
        record,
        patterns,
        query=query if is_alone else None,
        scale=chosen.weights_to(maximum, *patterns.values()),
        notes=shown.view.notes_on(np.stack(list(patterns.values()))),
    )
    if drawn.n_lines < drawn.n_all:
        st.caption(
            f"The strongest {drawn.n_lines:,} of {drawn.n_all:,} lines; "
            f"they hold {percent(drawn.share, 0)} of the weight in this figure."
        )
    clickable(
        drawn.chart,
        key="lines",
        chosen=query,
        selection="token",
        take=lambda token: take_query(token["position"]),
    )
    arrow_keys("lines", step, name="The weights of the chosen head as lines")


def _choose_heads(record: AttentionRecord, chosen: HeadChoice) -> Sequence[int]:
    """Draws the list of heads that are drawn with the chosen one, and says which are too many; returns all that are drawn, in order."""
    n_heads = record.pattern.shape[1]
    if n_heads < 2:
        return ()
    others = [head for head in ALSO_HEADS.choose(range(n_heads)) if head != chosen.head]
    if left_out := others[MOST_HEADS - 1 :]:
        names = ", ".join(head_name(chosen.layer, head) for head in left_out)
        st.caption(
            f"{MOST_HEADS} heads at once, since more colours could not be told apart. Left out: {names}."
        )
    return sorted((chosen.head, *others[: MOST_HEADS - 1]))
