"""The way to a digit on which two encoders disagree."""

import streamlit as st

from app_pages.controls.input_controls import DIGIT, DISAGREE
from app_pages.inputs.digit_input import ordered, take_digit
from app_pages.subject import encoders, shipped_inputs


def next_disagreement(one: str, other: str) -> None:
    """A button that goes through the test digits on which their predictions differ; none where that is not known."""
    made = [encoders.predictions(name) for name in (one, other)]
    if any(predictions is None for predictions in made):
        return
    ids = ordered(shipped_inputs.test_digits()[1], "all", DISAGREE, made)[0].tolist()
    if not ids:
        st.caption("Both predict the same for every test digit.")
        return
    current = DIGIT.held()
    following = ids[(ids.index(current) + 1) % len(ids)] if current in ids else ids[0]
    st.button(
        "Next disagreement",
        key="next_disagreement",
        icon=":material/arrow_forward:",
        on_click=take_digit,
        args=({"id": following},),
        help=f"{len(ids):,} test digits get different predictions from the two encoders.",
    )
