"""The two sides of a comparison: two checkpoints on one input, or one checkpoint on two inputs."""

from dataclasses import replace

import streamlit as st

from app_pages import address, state
from app_pages.compare.disagreement import next_disagreement
from app_pages.inputs.text_input import AT_MOST, LONGEST
from app_pages.widgets.contrast import Side, side_of
from app_pages.widgets.show import show
from model.inputs import Picture, Text
from viz.image_gallery import image_gallery

CHECKPOINTS, INPUTS = "two checkpoints", "two inputs"
SECOND_TEXT = "The film is not bad at all."
SECOND_DIGIT = 1
TITLES = {state.TEXT: ("first text", "second text"), state.DIGIT: ("first digit", "second digit")}


def choose_sides(chosen: state.Selection) -> tuple[Side, Side] | str:
    """The sides, the first as the sidebar has it; or why there are none, in one sentence."""
    kind = state.TEXT if isinstance(chosen.given, Text) else state.DIGIT
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if address.row("Compare", (CHECKPOINTS, INPUTS), key="compare_what") == CHECKPOINTS:
            titles = chosen.checkpoint, _other_checkpoint(chosen.checkpoint, kind)
            second = replace(chosen, checkpoint=titles[1])
            if titles[1] is not None and chosen.label is not None:
                next_disagreement(*titles)
        else:
            titles = TITLES[kind]
            given, label = _second_text() if kind == state.TEXT else _second_digit()
            second = replace(chosen, given=given, label=label)
    if titles[1] is None:
        return (
            f"No other checkpoint takes a {kind.lower()}; two inputs can be compared on {chosen.checkpoint}."
        )
    if second.given is None:
        return "Type a second text above, and it is compared with the one in the sidebar."
    try:
        return side_of(chosen, titles[0]), side_of(second, titles[1])
    except (ValueError, OSError) as error:
        return f"{titles[0]} and {titles[1]} cannot be compared: {error}."


def _other_checkpoint(name: str, kind: str) -> str | None:
    """Any other that takes this input; to begin with the one of other norm placement, if there is a pair."""
    others = [other for other in state.checkpoints(kind) if other != name]
    others.sort(key=lambda other: other not in (state.pair(name) or ()))
    return address.box("with", others, key="compare_with", width=220)


def _second_text() -> tuple[Text | None, None]:
    text = address.text(
        "Second text",
        SECOND_TEXT,
        key="compare_text",
        max_chars=LONGEST,
        height=80,
        width=520,
        help="Ctrl+Enter, or a click elsewhere, sends it. Change one word of the first, and the two line up. "
        + AT_MOST,
    )
    return (Text(text) if text.strip() else None), None


def _second_digit() -> tuple[Picture, int]:
    images, labels = state.test_digits()
    number = address.number(
        "Second digit, test digit number", 0, len(images) - 1, SECOND_DIGIT, key="compare_digit", width=200
    )
    thumbnail = image_gallery(
        images[[number]], [number], [str(labels[number])], selected=None, columns=1, clickable=False
    )
    show(thumbnail, key="compare_thumbnail", width="content")
    return Picture.of(images[number]), int(labels[number])
