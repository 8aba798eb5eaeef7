"""What the encoder would write in place of each token that hides another, such as [MASK]."""

import streamlit as st

from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.markdown import as_code, plain
from model.experiments.masked_tokens import guesses
from viz.builders.number_format import percent

_MOST = 5  # lines above the page


def masked_tokens(subject: LiveSubject) -> None:
    """A line for each hidden token; nothing where there is none."""
    record = subject.record
    if not (hidden := record.at("mask")):
        return
    name = record.tokens[hidden[0]]
    if not record.config.masked_token_output:
        st.caption(f"This encoder was not trained to fill in {as_code(name)}.")
        return
    found = subject.compute(guesses)
    for number, position in enumerate(hidden[:_MOST], 1):
        words = ", ".join(f"{as_code(guess.token)} {percent(guess.probability)}" for guess in found[position])
        which = f" number {number}" if len(hidden) > 1 else ""
        st.markdown(f"In place of **{plain(name)}**{which}: {words}")
    if len(hidden) > _MOST:
        st.caption(f"The other {len(hidden) - _MOST:,} masked tokens are not listed.")
