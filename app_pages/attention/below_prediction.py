"""What stands below the prediction: the controls, the maps of all heads or of the chosen one, and sentences about them."""

from collections.abc import Sequence
from html import escape

import numpy as np
import streamlit as st

from app_pages.attention.all_heads_view import draw_all_heads, link_to_patches, link_to_steps
from app_pages.attention.detail import download_tokens, draw_one_map
from app_pages.attention.save_buttons import save_buttons
from app_pages.attention.sentence_links import choose_outlines
from app_pages.attention.shown_head import ShownHead, choose_view
from app_pages.attention.try_links import try_links
from app_pages.controls.answer_choice import choose_answer
from app_pages.controls.attention_controls import (
    BY_LAYER,
    COLOURED_BY,
    HEAD,
    MATRIX,
    OVER_HEADS,
    SMALL_MAPS,
    VIEW,
)
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import choose_head, choose_query, draw_head_name
from app_pages.controls.knock_out_choice import choose_kind
from app_pages.controls.lens import choose_lens, draw_lens_description
from app_pages.show.measures_note import measures_note
from app_pages.subject.answer import Answer, whole_answer
from app_pages.subject.subject import LiveSubject, Subject
from app_pages.toolkit.markdown import as_code, counted, plain
from model.experiments.masked_word import Guess, guesses, masked_word, masked_word_by_layer
from model.lenses import ATTENTION
from model.record import ForwardRecord
from viz.builders.number_format import format_number, percent
from viz.builders.token_label import visible

_MOST_MASKED = 5  # lines above the page
_MOST_TOKENS = 512


def draw_below_prediction(subject: Subject, slots: Slots) -> None:
    """Draws the page's controls into `slots`, and below them the attention maps of `subject`."""
    through = choose_lens(subject, slots)
    chosen = choose_head(subject, slots, with_roles=False, lens=through.lens)
    part, kind = HEAD, None
    with slots.view:
        if through.lens.has_heads:
            part = OVER_HEADS.choose()
        if isinstance(subject, LiveSubject):
            kind = choose_kind(subject)
        if subject.record.unit == "patch":
            SMALL_MAPS.choose()
    view = choose_view(subject, slots, through)
    with slots.controls:
        query = choose_query(view.record)
        form = VIEW.choose(VIEW.options if view.record.unit == "token" else (MATRIX, BY_LAYER))
    answer: Answer = whole_answer(subject.record)
    if isinstance(subject, LiveSubject):
        with slots.view:
            answer = choose_answer(subject)
        try_links(subject)
        draw_masked_token_guesses(subject)
        draw_token_classes(subject.record)
    is_attention = through.lens.name == ATTENTION
    if not is_attention:
        draw_lens_description(subject, through.lens)
    shown = ShownHead(
        subject=subject,
        chosen=chosen,
        through=through,
        view=view,
        part=part,
        query=query,
        kind=kind,
        answer=answer,
    )
    outlined = None
    COLOURED_BY.read()  # other figures keep it in the address
    shows_all_heads = part == HEAD and form == MATRIX
    if shows_all_heads:
        if is_attention:
            outlined = choose_outlines(subject, chosen, view.record)
        draw_all_heads(shown, outlined)
    else:
        draw_one_map(shown, form, slots.view)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="below"):
        if shows_all_heads:
            if isinstance(subject, LiveSubject):
                link_to_steps(shown)
                if subject.record.unit == "patch":
                    link_to_patches()
            if is_attention:
                draw_head_name(subject, chosen.layer, chosen.head)
        elif part == HEAD:
            download_tokens(shown)
        save_buttons(shown, outlined)
    if isinstance(subject, LiveSubject):
        draw_guesses_by_layer(subject)
    if is_attention:
        draw_lens_description(subject, through.lens)
    measures_note(view.record.units, view.measures, through.lens)


def draw_masked_token_guesses(subject: LiveSubject) -> None:
    """Draws a line for each masked token, such as [MASK], with the tokens that the encoder finds most probable there."""
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
            number_text = f" number {mask_number}" if len(positions) > 1 else ""
            st.markdown(f"In place of **{plain(name)}**{number_text}: {_guesses_text(by_position[position])}")
        if len(positions) > _MOST_MASKED:
            n_more = len(positions) - _MOST_MASKED
            st.caption(f"{counted(n_more, 'more masked token')} {'is' if n_more == 1 else 'are'} not listed.")


def _guesses_text(most_probable: Sequence[Guess]) -> str:
    """Tokens with their probabilities, as Markdown: "`good` 12.0 %, `bad` 3.1 %"."""
    return ", ".join(
        f"{as_code(guess.token)} {percent(guess.probability, brief=True)}" for guess in most_probable
    )


def draw_guesses_by_layer(subject: LiveSubject) -> None:
    """Draws, folded, a table for each masked token: the guesses that the masked-token output gives when it is applied to the
    token's state after each layer.
    """
    record = subject.record
    masked = record.positions_with_role("mask")
    if not masked or not record.config.masked_token_output:
        return
    by_position = subject.compute(guesses)
    positions = [position for position in masked if by_position[position]]
    with st.expander(f"What would stand in place of {plain(record.tokens[masked[0]])} after each layer"):
        for number, position in enumerate(positions[:_MOST_MASKED], 1):
            answer = subject.compute(masked_word, None, position)
            first = _in_table(as_code(by_position[position][0].token))
            title = f"number {number}, " if len(positions) > 1 else ""
            lines = [
                f"| {title}after | most probable | log P of {first}, nats | its rank |",
                "|:--|:--|--:|--:|",
            ]
            for stage in subject.compute(masked_word_by_layer, answer):
                after = "embedding" if stage.stage == "embed" else stage.stage.removesuffix(" post")
                log_p = format_number(stage.log_probability, "+.2f")
                words = _in_table(_guesses_text(stage.guesses))
                lines.append(f"| {after} | {words} | {log_p} | {stage.rank:,} |")
            st.markdown("\n".join(lines))
        st.caption(
            "Logit lens: the residual stream after each layer goes through the final norm, where there is one, and the output for "
            "masked tokens. The last row is the encoder's prediction. The output was trained on the last layer alone: earlier rows "
            "say what it makes of a state, not all that the state holds."
        )


def _in_table(markdown: str) -> str:
    """Markdown that is safe in a table cell, which a bar would end."""
    return markdown.replace("|", "\\|")


def draw_token_classes(record: ForwardRecord) -> None:
    """Draws each token with its most probable class, if the encoder classifies tokens.

    If there is a single class, its probability is shown. The most frequent class, such as O for "no name", is paler.
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
