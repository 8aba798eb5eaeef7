"""The line beside a map that says whether it may be read as an explanation, and the details that open below it."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import streamlit as st

from app_pages.controls.answer_choice import Answer
from app_pages.controls.head_choice import take_query
from app_pages.controls.knock_out_choice import NAMES
from app_pages.controls.map_controls import FAITHFULNESS
from app_pages.show.faithfulness import words
from app_pages.show.faithfulness.checked import Checked, check_map, with_curves
from app_pages.show.faithfulness.over_data import stored_over_data
from app_pages.show.show import clickable, show
from app_pages.subject.cache import Checkpoint
from app_pages.subject.subject import FileSubject, Subject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.beside import beside
from model.experiments.faithfulness import area, other_attention
from model.experiments.knock_out import KnockOutKind
from viz.builders.number_format import format_number
from viz.faithfulness.removal_curve import removal_curve
from viz.faithfulness.score_effect import score_effect


def faithfulness(
    subject: Subject,
    pattern: np.ndarray,
    kind: KnockOutKind | None,
    answer: Answer,
    *,
    lens: str,
    head: tuple[int, int] | None,
    query: int,
    beside_line: Callable[[], object] | None = None,
) -> Checked | None:
    """Draws the line about the map `pattern` [query, key] over all positions of the input, seen through `lens`, as an
    explanation of the `answer`.

    Returns the check; None where it is not computed. `head` is the layer and head of the map; None if it combines several heads. The figures mark the position `query`.
    `kind` is None if there is no encoder and so nothing can be knocked out. `beside_line` draws more controls in its row.
    """
    if isinstance(subject, FileSubject) or kind is None:
        st.caption(words.NO_ENCODER)
        return None
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key="faithfulness"):
        above = st.container(key="faithfulness_line", gap=None)
        if beside_line is not None:
            beside_line()
        is_open = FAITHFULNESS.choose()
    with above:
        checked = check_map(subject, pattern, kind, answer, key="faithfulness_check")
        if checked is None:
            return None
        line = st.container()
        checked = with_curves(subject, checked, key="faithfulness_curves", are_shown=is_open)
        line.markdown(f":small[{words.conclusion_sentence(checked.verdict, checked.record, checked.answer)}]")
    if is_open:
        changes = subject.compute(other_attention, answer=answer.word)
        sentence = words.other_attention_sentence(changes, checked.record, answer)
        st.markdown(f"{_check_sentences(checked, subject.checkpoint, lens, head)} :small[:gray[{sentence}]]")
        _draw_details(checked, query)
    return checked


def draw_faithfulness_of_side(
    side: Side,
    pattern: np.ndarray,
    kind: KnockOutKind,
    answer: Answer,
    *,
    lens: str,
    head: tuple[int, int],
    key: str,
) -> None:
    """Draws only the line, for one side of a comparison and its `answer`; `key` is the prefix of its buttons' keys."""
    checked = check_map(side.subject, pattern, kind, answer, key=f"{key}_check", title=side.title)
    if checked is not None:
        line = st.container()
        checked = with_curves(side.subject, checked, key=f"{key}_curves", are_shown=False)
        line.markdown(
            f":small[{words.conclusion_sentence(checked.verdict, checked.record, checked.answer)}]",
            help=_check_sentences(checked, side.checkpoint, lens, head),
        )


def _check_sentences(checked: Checked, name: Checkpoint, lens: str, head: tuple[int, int] | None) -> str:
    sentences = [words.agreement_sentence(checked.verdict, checked.kind, checked.record, checked.answer)]
    is_stored = checked.kind == "keys" and not checked.answer.is_masked_word  # which is what was measured
    over_data = stored_over_data(name, lens, head) if is_stored else None
    if over_data is not None:
        sentences.append(words.over_data_sentence(over_data))
    return f":small[{' '.join(sentences)}]"


def _draw_details(checked: Checked, query: int) -> None:
    record, verdict, answer = checked.record, checked.verdict, checked.answer
    left, right = beside("faithful_points", "faithful_rule")
    with left:
        effect = "effect (fall of log P, nats)"
        if not answer.is_masked_word:
            effect = f"effect ({'fall of the log-odds, nats' if record.has_classes else 'cosine distance'})"
        tokens = [record.tokens[position] for position in checked.positions]
        figure = score_effect(
            checked.positions,
            tokens,
            checked.scores,
            checked.effects,
            kind=NAMES[checked.kind],
            effect=effect,
            selected=query,
        )
        clickable(
            figure,
            key="faithful_points",
            chosen=query,
            selection="token",
            take=lambda point: take_query(point["position"]),
        )
    with right:
        st.markdown(f":small[{words.uncertainty_text(verdict)} {words.areas_sentence(verdict)}]")
        with st.expander("The rule, the formulas and the papers", icon=":material/function:"):
            st.markdown(words.rule_markdown(record, answer))
    if (curves := checked.curves) is None:
        return
    columns = beside("faithful_deletion", "faithful_insertion")
    kinds: tuple[Literal["deletion", "insertion"], ...] = ("deletion", "insertion")
    curve_pairs = ((curves.deletion, curves.random), (curves.insertion, curves.random[:, ::-1]))
    for column, kind, (curve, random) in zip(columns, kinds, curve_pairs, strict=True):
        own_area, random_areas = area(curve, verdict.n), area(random, verdict.n)
        mean, sd = (
            format_number(float(random_areas.mean()), ".3f"),
            format_number(float(random_areas.std(ddof=1)), ".3f"),
        )
        reading = f"area {format_number(float(own_area), '.3f')}, random {mean} ± {sd}"
        with column:
            show(
                removal_curve(
                    kind,
                    curves.counts,
                    curve,
                    random,
                    what=answer.fall(record),
                    units=record.units,
                    reading=reading,
                ),
                key=f"faithful_{kind}",
            )
