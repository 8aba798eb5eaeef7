"""The two sides of a comparison: two checkpoints on one input, or one checkpoint on two inputs."""

from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages import state
from app_pages.compare.disagreement import next_disagreement
from app_pages.inputs.text_input import AT_MOST, LONGEST
from app_pages.widgets.choice import choice
from app_pages.widgets.head_choice import take_query
from model.inputs import Picture, Text
from model.record import ForwardRecord
from viz.image_gallery import image_gallery

CHECKPOINTS, INPUTS = "two checkpoints", "two inputs"
SECOND_TEXT = "The film is not bad at all."
SECOND_DIGIT = 1
TITLES = {state.TEXT: ("first text", "second text"), state.DIGIT: ("first digit", "second digit")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side: what went through which checkpoint, and what figures call it."""

    title: str
    checkpoint: str
    given: state.Input
    label: int | None
    record: ForwardRecord

    @property
    def is_text(self) -> bool:
        return self.record.patch_grid is None

    @property
    def said(self) -> str:
        """The most probable class."""
        return self.record.class_names[self.record.logits.argmax()]


def beside(row: str) -> list[DeltaGenerator]:
    """A place for either side; where the window is narrow, the second is below the first."""
    with st.container(horizontal=True, gap="medium"):
        return [st.container(key=f"side_{row}_{number}") for number in ("first", "second")]


def same_position(first: Side, second: Side, query: int) -> int | None:
    """The query of the second side; None where a position of the first means nothing there.

    Two texts on one checkpoint are compared position by position; one text that two tokenizers cut differently
    has no such order in common.
    """
    cut_otherwise = first.checkpoint != second.checkpoint and first.record.tokens != second.record.tokens
    if cut_otherwise or first.record.patch_grid != second.record.patch_grid:
        both = first.record.has_class_token and second.record.has_class_token
        return 0 if query == 0 and both else None
    return query if query < len(second.record.tokens) else None


def take_from_second(first: Side, second: Side, position: int) -> None:
    """For callbacks on the second side: the same position of the first becomes the query, where it has one."""
    if position < len(first.record.tokens) and same_position(first, second, position) is not None:
        take_query(position)


def choose_sides(chosen: state.Selection) -> tuple[Side, Side] | str:
    """The sides, the first as the sidebar has it; or why there are none, in one sentence."""
    kind = state.TEXT if isinstance(chosen.given, Text) else state.DIGIT
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if choice("Compare", (CHECKPOINTS, INPUTS), key="compare_what") == CHECKPOINTS:
            titles = chosen.checkpoint, _other_checkpoint(chosen.checkpoint, kind)
            second = titles[1], chosen.given, chosen.label
            if titles[1] is not None and chosen.label is not None:
                next_disagreement(*titles)
        else:
            titles = TITLES[kind]
            second = chosen.checkpoint, *(_second_text() if kind == state.TEXT else _second_digit())
    if titles[1] is None:
        return (
            f"No other checkpoint takes a {kind.lower()}; two inputs can be compared on {chosen.checkpoint}."
        )
    if second[1] is None:
        return "Type a second text above, and it is compared with the one in the sidebar."
    first = chosen.checkpoint, chosen.given, chosen.label
    try:
        left, right = map(_side, titles, (first, second))
    except (ValueError, OSError) as error:
        return f"{titles[0]} and {titles[1]} cannot be compared: {error}."
    return left, right


def _side(title: str, what: tuple[str, state.Input, int | None]) -> Side:
    checkpoint, given, label = what
    record = state.record(checkpoint, given)
    if not record.class_names:
        raise ValueError(f"{checkpoint} has no classes")
    return Side(title=title, checkpoint=checkpoint, given=given, label=label, record=record)


def _other_checkpoint(name: str, kind: str) -> str | None:
    """Any other that takes this input; to begin with the one of other norm placement, if there is a pair."""
    others = [other for other in state.checkpoints(kind) if other != name]
    others.sort(key=lambda other: other not in (state.pair(name) or ()))
    if "compare_with" in st.session_state:
        # Written back in any case: what was the first of the others, and so not in the address, may be no more.
        held = st.session_state["compare_with"]
        st.session_state["compare_with"] = held if held in others else next(iter(others), None)
    return st.selectbox(
        "with", others, key="compare_with", bind="query-params", persist_state="session", width=220
    )


def _second_text() -> tuple[Text | None, None]:
    text = st.text_area(
        "Second text",
        SECOND_TEXT,
        key="compare_text",
        bind="query-params",
        persist_state="session",
        max_chars=LONGEST,
        height=80,
        width=520,
        help="Ctrl+Enter, or a click elsewhere, sends it. Change one word of the first, and the two line up. "
        + AT_MOST,
    )
    return (Text(text) if text and text.strip() else None), None


def _second_digit() -> tuple[Picture, int]:
    images, labels = state.test_digits()
    bound = partial(st.number_input, bind="query-params", persist_state="session", width=200)
    number = bound("Second digit, test digit number", 0, len(images) - 1, SECOND_DIGIT, key="compare_digit")
    thumbnail = image_gallery(
        images[[number]], [number], [str(labels[number])], selected=None, columns=1, clickable=False
    )
    st.altair_chart(thumbnail, key="compare_thumbnail", width="content")
    return Picture.of(images[number]), int(labels[number])
