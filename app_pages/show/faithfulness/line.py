"""A verdict beside a map on whether it may be read as an explanation of the answer; a click opens the figures behind it."""

from functools import partial
from html import escape
from typing import Literal, NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.control_bar import beside
from app_pages.controls.estimated_work import Wanted
from app_pages.controls.head_choice import take_query
from app_pages.controls.knock_out_choice import NAMES, knock_outs_expression
from app_pages.controls.map_controls import FAITHFULNESS
from app_pages.show.faithfulness import words
from app_pages.show.faithfulness.checked import Checked, check_map, read_position, with_curves
from app_pages.show.faithfulness.words import stored_over_data
from app_pages.show.show import clickable, show
from app_pages.subject import as_python
from app_pages.subject.answer import Answer
from app_pages.subject.cache import Checkpoint
from app_pages.subject.subject import FileSubject, LiveSubject, Subject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import Expression, call
from model.experiments.faithfulness import (
    deletion,
    deletion_area,
    map_scores,
    other_attention,
    random_orders,
    rounded_effects,
    sort_by_score,
)
from model.experiments.knock_out import KnockOutKind
from viz.builders.number_format import format_number
from viz.faithfulness.map_agreement import removal_curve, score_effect

_MENU = "why"  # key of the menu, in the session whether it is open


class Faithfulness(NamedTuple):
    """The check of a map (None if it was not computed), and a container for controls in the menu that shows it."""

    checked: Checked | None
    controls: DeltaGenerator


def faithfulness(
    subject: Subject,
    pattern: Expression,
    kind: KnockOutKind | None,
    answer: Answer,
    *,
    lens: str,
    head: tuple[int, int] | None,
    query: int,
    why_unchecked: str | None = None,
    is_wanted: bool = False,
) -> Faithfulness:
    """Draws the verdict whether the map `pattern` [query, key], over all positions of the input and seen through `lens`, explains
    the `answer`, and a menu with the figures behind it.

    `head` is the layer and head of the map; None if it combines several heads. The figures mark the position `query`. `kind` is
    None without an encoder, when nothing can be knocked out; `why_unchecked` is another reason not to check. Checks that take
    long run if `is_wanted`, or when a button is pressed.
    """
    if isinstance(subject, FileSubject) or kind is None:
        why_unchecked = words.NO_ENCODER
    is_open = FAITHFULNESS.read() == "true"
    if st.session_state.get(_MENU, False) != is_open:
        st.session_state[_MENU] = is_open
    with st.container(horizontal=True, vertical_alignment="center", key="explains", gap=None):
        st.html(f"explains {escape(answer.quoted_answer)}?", width="content")
        verdict = st.container(width="content")
        with st.popover("why", key=_MENU, type="tertiary", on_change=_keep_open):
            conclusion, button, controls, details = (st.container() for _ in range(4))
    checked = None
    if why_unchecked is None and isinstance(subject, LiveSubject) and kind is not None:
        with st.container(key="faithfulness_line", gap=None):
            wanted = Wanted(is_requested=is_wanted, button=button)
            checked = check_map(subject, pattern(), kind, answer, key="faithfulness_check", wanted=wanted)
            if checked is not None:
                checked = with_curves(
                    subject, checked, key="faithfulness_curves", are_shown=is_open, wanted=wanted
                )
    verdict.html(f"<b>{words.short_verdict(checked and checked.verdict)}</b> <span>·</span>")
    if checked is None:
        conclusion.markdown(why_unchecked or words.NOT_CHECKED)
        return Faithfulness(None, controls)
    conclusion.markdown(words.conclusion_sentence(checked.verdict, checked.answer))
    if is_open and isinstance(subject, LiveSubject):
        with details:
            changes = subject.compute(other_attention, answer=answer.word)
            sentence = words.other_attention_sentence(changes, answer)
            st.markdown(
                f"{_check_sentences(checked, subject.checkpoint, lens, head)} :small[:gray[{sentence}]]"
            )
            _draw_details(subject, checked, pattern, query)
    return Faithfulness(checked, controls)


def _keep_open() -> None:
    """Callback: writes into the address whether the menu is open."""
    FAITHFULNESS.take("true" if st.session_state[_MENU] else "")


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
    """Draws only the sentences of the verdict, for one side of a comparison and its `answer`; `key` is the prefix of the buttons'
    keys.
    """
    checked = check_map(side.subject, pattern, kind, answer, key=f"{key}_check", title=side.title)
    if checked is not None:
        line = st.container()
        checked = with_curves(side.subject, checked, key=f"{key}_curves", are_shown=False)
        conclusion = words.conclusion_sentence(checked.verdict, checked.answer)
        line.markdown(
            f":small[explains the answer? **{words.short_verdict(checked.verdict)}**]",
            help=f"{conclusion} {_check_sentences(checked, side.checkpoint, lens, head)}",
        )


def _check_sentences(checked: Checked, name: Checkpoint, lens: str, head: tuple[int, int] | None) -> str:
    sentences = [words.agreement_sentence(checked.verdict, checked.kind, checked.answer)]
    is_stored = checked.kind == "keys" and checked.answer.word is None  # which is what was measured
    over_data = stored_over_data(name, lens, head) if is_stored else None
    if over_data is not None:
        sentences.append(words.over_data_sentence(over_data))
    return f":small[{' '.join(sentences)}]"


def _draw_details(subject: LiveSubject, checked: Checked, pattern: Expression, query: int) -> None:
    record, verdict, answer = checked.answer.record, checked.verdict, checked.answer
    read_at = read_position(subject, answer)
    scores = call(map_scores, pattern, as_python.record(subject), read_at=read_at)[[*checked.positions]]
    left, right = beside("faithful_points", "faithful_rule")
    with left:
        effect = f"effect (fall of {answer.scale}, nats)" if answer.is_signed else "effect (cosine distance)"
        tokens = [record.tokens[position] for position in checked.positions]
        figure = call(
            score_effect,
            checked.positions,
            tokens,
            scores.with_value(lambda: checked.scores),
            _effects_expression(subject, checked),
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
            st.markdown(words.rule_markdown(answer))
    if (curves := checked.curves) is None:
        return
    columns = beside("faithful_deletion", "faithful_insertion")
    kinds: tuple[Literal["deletion", "insertion"], ...] = ("deletion", "insertion")
    curve_pairs = ((curves.deletion, curves.random), (curves.insertion, curves.random[:, ::-1]))
    written = _curves_expression(subject, checked)
    for column, kind, (curve, random), sources in zip(columns, kinds, curve_pairs, written, strict=True):
        own_area, random_areas = deletion_area(curve, verdict.n), deletion_area(random, verdict.n)
        mean, sd = (
            format_number(float(random_areas.mean()), ".3f"),
            format_number(float(random_areas.std(ddof=1)), ".3f"),
        )
        reading = f"area {format_number(float(own_area), '.3f')}, random {mean} ± {sd}"
        with column:
            show(
                call(
                    removal_curve,
                    kind,
                    curves.counts,
                    *(
                        source.with_value(partial(np.asarray, values))
                        for source, values in zip(sources, (curve, random), strict=True)
                    ),
                    what=answer.fall_title,
                    removed_things=record.units,
                    reading=reading,
                ),
                key=f"faithful_{kind}",
            )


def _effects_expression(subject: LiveSubject, checked: Checked) -> Expression:
    answer, sets = checked.answer, [(position,) for position in checked.positions]
    answers = knock_outs_expression(subject, sets, checked.kind, answer.for_experiments)
    falls = answer.falls_expression(as_python.record(subject), answers)
    return call(rounded_effects, falls, in_nats=answer.is_signed).with_value(lambda: checked.effects)


def _curves_expression(subject: LiveSubject, checked: Checked) -> list[tuple[Expression, Expression]]:
    """Expressions of the deletion and of the insertion curve, each as (curve of the map, curves of random orders)."""
    scores = dict(zip(checked.positions, checked.scores.tolist(), strict=True))
    order = sort_by_score(scores, checked.positions)
    written = partial(as_python.computed, subject, deletion)
    options = checked.kind, checked.answer.word
    random = written(call(random_orders, checked.positions), *options)
    return [
        (written((order,), *options)[0], random),
        (written((order[::-1],), *options)[0][::-1], random[:, ::-1]),
    ]
