"""The row above the maps: the input's tokens, in the colours of what the head looks at or of what the answer hangs on, and the
sign that says whether the two agree.
"""

from collections.abc import Callable

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.attention.attributed_answer import attribute, colouring_of
from app_pages.attention.attribution_target import can_attribute, choose_attribution
from app_pages.attention.shown_head import ShownHead
from app_pages.controls.attention_controls import (
    ATTRIBUTION,
    BY_ANSWER,
    BY_ATTENTION,
    COLOURED_BY,
    COLOURINGS,
    KNOCKED_OUT,
)
from app_pages.controls.head_choice import take_head, take_layer, take_query
from app_pages.show.faithfulness.checked import Checked
from app_pages.show.faithfulness.line import faithfulness
from app_pages.show.linked_view import NOT_MEASURED, Choice, Hiding
from model.record import AttentionRecord


def draw_row(record: AttentionRecord) -> tuple[DeltaGenerator, DeltaGenerator]:
    """The containers of the tokens of `record`, and of the sign."""
    with st.container(horizontal=True, gap="small", key=f"linked_top_{record.unit}"):
        return st.container(key="linked_words"), st.container(width="content", gap=None, key="linked_verdict")


def colouring() -> str:
    """What colours the tokens. The address always says it: who has chosen a method by which to see what the answer hangs on
    sees that, even in a link that does not say so.
    """
    if (colouring := COLOURED_BY.read()) not in COLOURINGS:
        method = ATTRIBUTION.held(st.query_params.get(ATTRIBUTION.key, KNOCKED_OUT))
        colouring = BY_ATTENTION if method == KNOCKED_OUT else BY_ANSWER
        COLOURED_BY.begin(colouring)
    return colouring


def take_choice(shown: ShownHead, *, has_heads: bool) -> Callable[[Choice], None]:
    """What takes a choice among the tokens and maps; without heads it chooses the layer alone."""

    def take(choice: Choice) -> None:
        (take_head if has_heads else take_layer)(choice.layer, choice.head)
        take_query(shown.view.record.number(choice.query))
        if choice.coloured_by != COLOURED_BY.held():
            COLOURED_BY.take(choice.coloured_by)

    return take


def draw_verdict(shown: ShownHead, pattern: np.ndarray, head: tuple[int, int] | None) -> Hiding | None:
    """Draws the sign of the map `pattern` [query, key] over the whole input, of this `head` or of several if it is None.

    Returns the second colouring of the tokens: how the answer changes when each is hidden, or what a method by gradients
    attributes to it. None where the tokens shown are not those of the input, or nothing can be measured.
    """
    subject, answer, record = shown.subject, shown.answer, shown.view.record
    checked, controls = faithfulness(
        subject,
        pattern,
        shown.kind,
        answer,
        lens=shown.lens.name,
        head=head,
        query=record.number(shown.query),
        why_unchecked=shown.why_unchecked,
        is_wanted=COLOURED_BY.held() == BY_ANSWER and ATTRIBUTION.held(KNOCKED_OUT) == KNOCKED_OUT,
    )
    if not can_attribute(subject, record):
        return None
    with controls:
        choose_attribution(subject, answer)
        attributed = attribute(shown, checked)
    if attributed is not None:
        return colouring_of(subject, attributed)
    return NOT_MEASURED if checked is None else _hiding(checked, record)


def _hiding(checked: Checked, record: AttentionRecord) -> Hiding:
    """The changes of the answer when each token or patch is hidden."""
    effects: list[float | None] = [None] * len(record)
    for position, effect in zip(checked.positions, checked.effects.tolist(), strict=True):
        effects[position] = effect
    answer = checked.answer
    return Hiding(changes=effects, unit=answer.unit, note=answer.hidden.replace("{unit}", record.unit))
