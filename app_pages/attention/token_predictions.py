"""Predictions for single tokens: the words behind [MASK], or a class for each token."""

from collections.abc import Sequence
from html import escape

import numpy as np
import streamlit as st

from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.markdown import as_code, counted, plain
from model.experiments.masked_word import guesses, masked_word, masked_word_by_layer
from model.record import ForwardRecord
from viz.builders.number_format import format_number, percent
from viz.builders.token_label import visible

_MOST_MASKED = 5  # lines above the page
_MOST_TOKENS = 512


def draw_masked_token_guesses(subject: LiveSubject) -> None:
    """Draws a line for each masked token, such as [MASK], with the most probable tokens in its place."""
    record = subject.record
    if not (positions := record.positions_with_role("mask")):
        return
    name = record.tokens[positions[0]]
    if not record.config.masked_token_output:
        st.caption(f"This encoder was not trained to fill in {as_code(name)}.")
        return
    by_position = subject.compute(guesses)
    with st.container(key="masked_token_guesses", gap=None):
        for mask_number, position in enumerate(positions[:_MOST_MASKED], 1):
            words = ", ".join(
                f"{as_code(guess.token)} {percent(guess.probability, brief=True)}"
                for guess in by_position[position]
            )
            number_text = f" number {mask_number}" if len(positions) > 1 else ""
            st.markdown(f"In place of **{plain(name)}**{number_text}: {words}")
        if len(positions) > _MOST_MASKED:
            n_more = len(positions) - _MOST_MASKED
            st.caption(f"{counted(n_more, 'more masked token')} {'is' if n_more == 1 else 'are'} not listed.")


def draw_guesses_by_layer(subject: LiveSubject) -> None:
    """Draws, folded, a table for each masked token: what the masked-token output makes of its state after each layer."""
    record = subject.record
    masked = record.positions_with_role("mask")
    if not masked or not record.config.masked_token_output:
        return
    by_position = subject.compute(guesses)
    with st.expander(f"What would stand in place of {plain(record.tokens[masked[0]])} after each layer"):
        _draw_tables_by_layer(subject, [position for position in masked if by_position[position]])


def _draw_tables_by_layer(subject: LiveSubject, positions: Sequence[int]) -> None:
    for number, position in enumerate(positions[:_MOST_MASKED], 1):
        answer = subject.compute(masked_word, None, position)
        stages = subject.compute(masked_word_by_layer, answer)
        first = _in_table(subject.compute(guesses)[position][0].token)
        title = f"number {number}, " if len(positions) > 1 else ""
        lines = [f"| {title}after | most probable | log P of {first}, nats | its rank |", "|:--|:--|--:|--:|"]
        for stage in stages:
            words = ", ".join(
                f"{_in_table(guess.token)} {percent(guess.probability, brief=True)}"
                for guess in stage.guesses
            )
            after = "embedding" if stage.stage == "embed" else stage.stage.removesuffix(" post")
            log_p = format_number(stage.log_probability, "+.2f")
            lines.append(f"| {after} | {words} | {log_p} | {stage.rank:,} |")
        st.markdown("\n".join(lines))
    st.caption(
        "Logit lens: the residual stream after each layer goes through the final norm, where there is one, and the output for "
        "masked tokens. The last row is the encoder's prediction. The output was trained on the last layer alone: earlier rows "
        "say what it makes of a state, not all that the state holds."
    )


def _in_table(token: str) -> str:
    """A token as code, in a cell of a Markdown table."""
    return as_code(token).replace("|", "\\|")


def draw_token_classes(record: ForwardRecord) -> None:
    """Draws the tokens with their most probable classes, if the encoder classifies tokens.

    With a single class its probability is shown. The most frequent class, such as O for "no name", is paler.
    """
    values, names = record.token_probabilities, record.token_class_names
    if values is None:
        return
    classes = values.argmax(axis=-1)
    most_frequent = np.bincount(classes).argmax() if len(names) > 1 else None
    cells = []
    for token, index, row in zip(record.tokens[:_MOST_TOKENS], classes.tolist(), values, strict=False):
        is_pale = row[index] < 0.5 if most_frequent is None else index == most_frequent
        answer = f"{escape(names[index])} {percent(float(row[index]), brief=True)}"
        css = ' class="back"' if is_pale else ""
        cells.append(f"<span{css}><code>{escape(visible(token))}</code><small>{answer}</small></span>")
    st.html(f'<div class="token-answers">{"".join(cells)}</div>')
    st.caption(
        "Below each token: its most probable class, and that probability."
        if len(names) > 1
        else f"Below each token: the probability of “{names[0]}”."
    )
