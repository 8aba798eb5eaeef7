"""Several texts ranked by their similarity to a query, the first text, and which words of the query make it nearer to one text
than to another.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from app_pages.compare.similar_pairs import OTHERS, parts_expression
from app_pages.controls import compare_controls as controls
from app_pages.controls.control_bar import Slots
from app_pages.inputs.enter_list import draw_list_entry, round_number
from app_pages.inputs.input_list import Item, entered
from app_pages.inputs.read_list import in_list_order, readable_inputs, too_long
from app_pages.show.show import clickable, show
from app_pages.subject import as_python, encoders, shipped_inputs
from app_pages.subject.subject import encoded_text
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import counted, plain, sentence
from app_pages.toolkit.stoppable import in_steps
from model.inputs import Text
from model.similarity.pooled_state import pooled_states
from model.similarity.ranked_texts import (
    MOST_TEXTS,
    RankedTexts,
    SimilarityDifference,
    rank_texts,
    ranking_from_states,
    similarity_difference,
)
from model.similarity.similarity_parts import similarity_parts
from viz.attention.token_strip import signed_strip
from viz.builders.number_format import digits_that_add_up, format_number
from viz.builders.palette import ROUNDING, largest_absolute
from viz.builders.token_label import shortened
from viz.similarity.text_ranking import text_ranking

_IN_BOX = 34  # letters of a text in a list of choices
_QUERY = -1  # its number beside those of the texts


def draw_several_texts(slots: Slots, first: Side, second: Side) -> None:
    """Draws the ranking of the texts and, for a chosen two, what each word of the query adds to the difference of their
    cosines.
    """
    with slots.bar_end, st.popover("Your own texts", key=f"several_texts_{round_number()}"):
        draw_list_entry(encoders.TEXT, (), MOST_TEXTS)
    items, whose, notes = _texts_to_rank(first, second)
    try:
        texts, states, further_notes = _read_texts(first, items)
        source = _ranking_expression(first, texts, states)
        result: RankedTexts = source()
    except ValueError as error:
        st.info(plain(sentence(error)))
        return
    written = [text.text if text.second is None else f"{text.text} | {text.second}" for text in texts]
    names = [shortened(" ".join(text.split()), _IN_BOX) for text in written]
    ranks = {index: rank for rank, index in enumerate(result.order, 1)}
    best, worst = result.order[0], result.order[-1]
    st.markdown(
        f"**Which text is most like the first one?** Nearest: “{plain(names[best])}”, cosine similarity "
        f"**{format_number(float(result.cosines[best]), '.4f')}** (1: same direction, 0: right angle); farthest: “{plain(names[worst])}”, "
        f"{format_number(float(result.cosines[worst]), '.4f')}."
    )
    st.caption(f"Ranked: {whose}. A click on a text compares it with the one chosen last.")
    with slots.controls:
        options: dict[str, Any] = {"format_func": lambda index: f"{ranks[index]} {names[index]}"}
        begin = 0 if texts[0] == second.model_input else best
        one = controls.RANKED_FIRST.choose(result.order, begin, **options)
        two = controls.RANKED_SECOND.choose([index for index in result.order if index != one], **options)
    chosen = tuple(ranks[index] for index in (one, two) if index is not None)
    clickable(
        call(text_ranking, written, source.cosines, selected=chosen),
        key="similarity_ranking",
        chosen=chosen,
        selection="text",
        take=lambda line: _compare_with_last(result.order[line["rank"] - 1], two),
    )
    if notes := [*notes, *further_notes]:
        st.caption(plain(" ".join(notes)))
    if two is None:
        st.info("With one text there is nothing to compare: enter more under “Your own texts”.")
        return
    _draw_difference(first, texts, result, chosen)


def _texts_to_rank(first: Side, second: Side) -> tuple[list[Item], str, list[str]]:
    """The texts to rank, a phrase that names them, and notes on texts that were left out.

    They are the list that was entered in this session or, without one, the second text and all example sentences except the query.
    """
    listed = entered(encoders.TEXT).listed
    is_own = listed is not None and not listed.is_ours
    if listed is not None and is_own:
        items, notes = [*listed.items], [*listed.notes]
        whose = "your own list, as on Many inputs, without the second text"
    else:
        examples = [Text(text) for text in shipped_inputs.sentences().values()]
        texts = [second.model_input, *(text for text in examples if text != first.model_input)]
        items, notes = [Item(text=text) for text in texts if isinstance(text, Text)], []
        whose = "the second text and the examples"
    different = [Item(text=text) for text in dict.fromkeys(item.text for item in items)]
    n_equal = len(items) - len(different)
    if n_equal and is_own:
        stand = "stands" if n_equal == 1 else "stand"
        notes.append(f"{counted(n_equal, 'text')} left out that {stand} in the list already.")
    if len(different) > MOST_TEXTS:
        notes.append(
            f"There are {len(different):,} different texts, of which the first {MOST_TEXTS} are ranked."
        )
    return different[:MOST_TEXTS], whose, notes


def _read_texts(first: Side, items: list[Item]) -> tuple[list[Text], np.ndarray, list[str]]:
    """The texts that the encoder can read; the pooled states [1 + text, d_model] of the query and of these texts; and notes on
    tokens that were left out.

    Raises ValueError if it can read none.
    """
    name, query = first.checkpoint, first.model_input
    readable, notes, encoded = readable_inputs(name, items)
    if not readable:
        raise ValueError("the encoder finds no token in any of these texts")
    notes += too_long(encoded[number].n_left_out for number in readable)
    assert isinstance(query, Text), query
    inputs, lengths = {_QUERY: query} | readable, {_QUERY: encoded_text(name, query)} | encoded
    states = in_list_order(pooled_states, name, inputs, lengths)
    texts = [text for text in readable.values() if isinstance(text, Text)]
    return texts, np.stack(states), notes


def _ranking_expression(first: Side, texts: list[Text], states: np.ndarray) -> Expression:
    """The texts ranked by cosine similarity, as an expression; its value is made from the given pooled `states`, not by new
    forward passes.
    """
    written = [text.text if text.second is None else text for text in texts]
    result = call(
        rank_texts, as_python.encoder(first.checkpoint), as_python.model_input(first.subject), written
    )
    return named("ranked", result, lambda: ranking_from_states(first.subject.loaded, states))


def _compare_with_last(text: int, second: int | None) -> None:
    """Callback of a click on a text, by its number: compares it with the text chosen last, `second`."""
    if second is not None and text != second:
        controls.RANKED_FIRST.take(second)
        controls.RANKED_SECOND.take(text)


def _draw_difference(first: Side, texts: list[Text], result: RankedTexts, ranks: Sequence[int]) -> None:
    """Draws what each word of the query adds to the difference of the cosines of the two texts with these `ranks`."""
    others = [texts[result.order[rank - 1]] for rank in ranks]
    text = "Dividing both cosine similarities …"
    compute = partial(first.subject.compute, similarity_parts)
    # before the first one is done, there is no bar
    steps = [partial(compute, others[0], spinner=text), partial(compute, others[1])]
    what = ("difference of cosines", first.subject, *others)
    try:
        in_steps(steps, text, what)
        source = named(
            "difference", call(similarity_difference, *(parts_expression(first, other) for other in others))
        )
        difference = source()
    except ValueError as error:
        st.info(plain(sentence(error)))
        return
    st.markdown(
        _sum_sentence(difference, [float(result.cosines[result.order[rank - 1]]) for rank in ranks], ranks)
    )
    limit = largest_absolute(difference.values, at_least=ROUNDING)
    strip = call(signed_strip, source.query, source.values, limit=limit, what="adds to the difference")
    show(strip, key="similarity_difference")
    rest = "; ".join(f"“{name}”: {OTHERS.get(name, 'what belongs to no word')}" for name in difference.others)
    st.caption(
        f"The first text, coloured by what each word adds to its cosine with text {ranks[0]} minus what it adds to that with text {ranks[1]}: "
        f"gold speaks for text {ranks[0]}, purple for text {ranks[1]}.{f' {rest}.' if rest else ''}"
    )


def _sum_sentence(difference: SimilarityDifference, cosines: Sequence[float], ranks: Sequence[int]) -> str:
    """Sentence with the difference of the two `cosines`, and the parts of it that the query's words and everything else add."""
    one, two = cosines
    words_add = float(difference.values.sum())
    digits = digits_that_add_up(
        ((one, -two), one - two), ((words_add, difference.elsewhere), difference.total)
    )
    one_text, two_text = (format_number(cosine, f".{digits}f") for cosine in cosines)
    difference_text, words, rest, total = (
        format_number(number, f"+.{digits}f")
        for number in (one - two, words_add, difference.elsewhere, difference.total)
    )
    gap = format_number(difference.gap, ".1g").replace(" ", "\N{NO-BREAK SPACE}")
    parts = f"the first text's words add {words}"
    if difference.others:
        parts += f", {' and '.join(f'“{name}”' for name in difference.others)} {rest}, together {total}"
    return (
        f"**The cosine with text {ranks[0]} minus that with text {ranks[1]} is {one_text} − {two_text} = {difference_text}**: "
        f"{parts} (off the encoder's own difference by {gap})."
    )
