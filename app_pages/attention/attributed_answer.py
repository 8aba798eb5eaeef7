"""Attribution of the answer to tokens or patches by gradients: their colours, and whether knock-outs agree with them."""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.attention.attribution_target import (
    Target,
    baseline_clause,
    can_attribute,
    choose_attribution,
    other_text,
    say_agreement,
    target_of,
)
from app_pages.attention.shown_head import ShownHead
from app_pages.controls.attention_controls import (
    ATTRIBUTION,
    BY_ANSWER,
    BY_ATTENTION,
    COLOURED_BY,
    COLOURINGS,
    GRADIENT,
    INTEGRATED,
    KNOCKED_OUT,
)
from app_pages.controls.estimated_work import is_wanted
from app_pages.controls.head_choice import take_head, take_layer, take_query
from app_pages.show.faithfulness import words
from app_pages.show.faithfulness.checked import Checked, with_curves, with_scores
from app_pages.show.faithfulness.line import faithfulness
from app_pages.show.linked_view import NOT_MEASURED, AnswerColours, Choice
from app_pages.subject.answer import Answer
from app_pages.subject.subject import LiveSubject, Subject
from app_pages.toolkit.expression import Expression
from app_pages.toolkit.stoppable import until_done
from model.experiments.attribution import (
    MOST_GRADIENTS,
    Attribution,
    explained_positions,
    gradient_times_input,
    integrated_gradients,
)
from model.record import AttentionRecord
from viz.builders.number_format import format_distinct, format_number

_FORWARDS = 3  # that a forward pass with its backward pass takes as long as
_USUAL_GRADIENTS = 96  # that integrated gradients need where the output changes smoothly
_FORMULAS = {
    GRADIENT: r"$(x - x') \cdot \nabla_x F$, summed over the content $x$ of a {unit} (Shrikumar et al. 2016); $x'$ {baseline}. "
    r"$F$: {name}.",
    INTEGRATED: r"$(x - x') \cdot \int_0^1 \nabla F(x' + \alpha (x - x'))\, d\alpha$, summed over the content $x$ of a {unit}; "
    r"the baseline $x'$ {baseline} (Sundararajan et al. 2017). $F$: {name}.",
}


class Attributed(NamedTuple):
    """An attribution of the answer to the tokens or patches, the gradient method (an option of `ATTRIBUTION`) that computed it,
    and its target.
    """

    method: str
    target: Target
    attribution: Attribution


def attribute(shown: ShownHead, checked: Checked | None) -> Attributed | None:
    """Attribution of the answer by the chosen gradient method; None if the method is knock-out.

    Draws the formula with its source, how far the attributions are from summing to the answer's difference from the baseline, and
    whether the knock-outs in `checked` agree. Where the computation takes long, draws a button and returns None until it is
    pressed; where the method cannot attribute this answer, draws a sentence that says why and returns None.
    """
    subject, answer = shown.subject, shown.answer
    if not isinstance(subject, LiveSubject) or not can_attribute(subject, shown.view.record):
        return None
    method = ATTRIBUTION.held(KNOCKED_OUT)
    if method == KNOCKED_OUT or (target := target_of(subject, shown.through, answer, method)) is None:
        return None
    work_key = (method, subject, target.explained)
    n_gradients = _USUAL_GRADIENTS if method == INTEGRATED else 2
    label = f"Compute {method}"
    if not is_wanted(subject, work_key, _FORWARDS * n_gradients, label, "attribution_wanted"):
        return None
    function = integrated_gradients if method == INTEGRATED else gradient_times_input
    with until_done(work_key):
        attribution = subject.compute(function, target.explained, spinner=f"Computing {method} …")
    attributed = Attributed(method, target, attribution)
    if checked is not None:
        _say_whether_knock_outs_agree(subject, attributed, checked, answer)
    baseline = baseline_clause(subject.record, target.explained)
    formula = _FORMULAS[method].format(unit=subject.record.unit, name=target.name, baseline=baseline)
    st.caption(f"{formula} {_completeness_sentence(attributed)}")
    return attributed


def attribution_colouring(subject: Subject, attributed: Attributed) -> AnswerColours:
    """The attributions as colours of the tokens or patches; those whose content the baseline keeps get None."""
    target, values = attributed.target, attributed.attribution.values.tolist()
    measured = explained_positions(subject.record, target.explained)
    return AnswerColours(
        effects=[value if position in measured else None for position, value in enumerate(values)],
        what=attributed.method,
        unit=target.unit,
        note=f"Gold: {target.gold}; purple: {target.purple}, by {attributed.method}.",
    )


def _say_whether_knock_outs_agree(
    subject: LiveSubject, attributed: Attributed, checked: Checked, answer: Answer
) -> None:
    """Writes whether the attributions agree with the knock-out effects in `checked`."""
    method, values = attributed.method, attributed.attribution.values
    if (other := other_text(attributed.target)) is not None:
        say_agreement(subject, checked, values, other, method)
        return
    line = st.container()
    of_attribution = with_curves(
        subject,
        with_scores(checked, values),
        key="attribution_curves",
        are_shown=False,
        what="attribution",
    )
    sentence = words.conclusion_sentence(of_attribution.verdict, answer, what="attribution")
    line.markdown(f"{method.capitalize()}: {sentence}")


def _completeness_sentence(attributed: Attributed) -> str:
    """Sentence that compares the sum of the attributions with F(input) - F(baseline), which a complete method sums to."""
    of = attributed.attribution
    total, difference = format_distinct(of.total, of.difference, ".4f")
    if of.is_complete and attributed.method != GRADIENT:
        total, difference = (format_number(value, ".4f") for value in (of.total, of.difference))
    comparison = f"The sum is {total}; $F$ is {difference} above that of the baseline"
    if of.difference < 0:
        comparison = f"The sum is {total}; $F$ minus that of the baseline is {difference}"
    if attributed.method == GRADIENT:
        return f"{comparison}: only for a linear $F$ must they be equal."
    gap, allowed = format_distinct(of.gap, of.allowed, ".1g")
    if of.is_complete:
        return (
            f"Complete: {comparison[0].lower()}{comparison[1:]}, {gap} apart, by {of.n_gradients} gradients."
        )
    return (
        f"**Not complete**: {comparison[0].lower()}{comparison[1:]}, {gap} apart after {MOST_GRADIENTS} gradients (allowed: "
        f"{allowed})."
    )


def token_and_verdict_containers(record: AttentionRecord) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Draws an empty row; returns its containers for the tokens of `record` and for the verdict on the map."""
    with st.container(horizontal=True, gap="small", key=f"linked_top_{record.unit}"):
        return st.container(key="linked_words"), st.container(width="content", gap=None, key="linked_verdict")


def chosen_colouring() -> str:
    """What colours the tokens, `BY_ATTENTION` or `BY_ANSWER`, read from the address. An address that names only a method of
    attribution means `BY_ANSWER`.
    """
    if (colouring := COLOURED_BY.read()) not in COLOURINGS:
        method = ATTRIBUTION.held(st.query_params.get(ATTRIBUTION.key, KNOCKED_OUT))
        colouring = BY_ATTENTION if method == KNOCKED_OUT else BY_ANSWER
        COLOURED_BY.begin(colouring)
    return colouring


def choice_callback(shown: ShownHead, *, has_heads: bool) -> Callable[[Choice], None]:
    """Callback of a click on a token or map: sets layer, head and query; the layer and query alone unless `has_heads`."""

    def take(choice: Choice) -> None:
        (take_head if has_heads else take_layer)(choice.layer, choice.head)
        take_query(shown.view.record.number(choice.query))
        if choice.coloured_by != COLOURED_BY.held():
            COLOURED_BY.take(choice.coloured_by)

    return take


def draw_verdict(shown: ShownHead, pattern: Expression, head: tuple[int, int] | None) -> AnswerColours | None:
    """Draws the verdict whether the map `pattern` [query, key], over all positions of the input, explains the answer. `head` is
    the layer and head of the map; None if it combines several heads.

    Returns the second colouring of the tokens: how the answer changes when each is hidden, or what a gradient method attributes
    to it. None where the shown tokens are not those of the input, or where there is no encoder.
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
        return attribution_colouring(subject, attributed)
    if checked is None:
        return NOT_MEASURED
    effects: list[float | None] = [None] * len(record)
    for position, effect in zip(checked.positions, checked.effects.tolist(), strict=True):
        effects[position] = effect
    return AnswerColours(
        effects=effects,
        what=f"{'falls' if checked.answer.signed else 'moves'} without it by",
        unit=checked.answer.unit,
        note=checked.answer.hidden.replace("{unit}", record.unit),
    )
