"""Attribution of the answer to tokens or patches by gradients: their colours, and whether knock-outs agree with them."""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.attention.attribution_target import (
    Target,
    baseline_clause,
    choose_attribution,
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
    HEAD,
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
from app_pages.subject.as_python import maps
from app_pages.subject.subject import LensChoice, LiveSubject
from app_pages.toolkit.stoppable import until_done
from model.experiments.attribution import (
    MOST_GRADIENTS,
    Attribution,
    Similarity,
    explained_positions,
    gradient_times_input,
    integrated_gradients,
)
from model.inputs import Text
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


def _attribute(
    subject: LiveSubject, through: LensChoice, answer: Answer, checked: Checked | None
) -> AnswerColours | None:
    """Attribution of the answer by the chosen gradient method, as colours of the tokens or patches; those whose content the
    baseline keeps get None. None if the method is knock-out.

    Draws the formula with its source, how far the attributions are from summing to the answer's difference from the baseline, and
    whether the knock-outs in `checked` agree. Where the computation takes long, draws a button and returns None until it is
    pressed; where the method cannot attribute this answer, draws a sentence that says why and returns None.
    """
    method = ATTRIBUTION.held(KNOCKED_OUT)
    if method == KNOCKED_OUT or (target := target_of(subject, through, answer, method)) is None:
        return None
    work_key = (method, subject, target.explained)
    n_gradients = _USUAL_GRADIENTS if method == INTEGRATED else 2
    label = f"Compute {method}"
    if not is_wanted(subject, work_key, _FORWARDS * n_gradients, label, "attribution_wanted"):
        return None
    function = integrated_gradients if method == INTEGRATED else gradient_times_input
    with until_done(work_key):
        attribution = subject.compute(function, target.explained, spinner=f"Computing {method} …")
    if checked is not None:
        _say_whether_knock_outs_agree(subject, method, target, attribution, checked, answer)
    baseline = baseline_clause(subject.record, target.explained)
    formula = _FORMULAS[method].format(unit=subject.record.unit, name=target.name, baseline=baseline)
    st.caption(f"{formula} {_completeness_sentence(method, attribution)}")
    measured = explained_positions(subject.record, target.explained)
    return AnswerColours(
        effects=[
            value if position in measured else None
            for position, value in enumerate(attribution.values.tolist())
        ],
        what=method,
        unit=target.unit,
        note=f"Gold: {target.gold}; purple: {target.purple}, by {method}.",
    )


def _say_whether_knock_outs_agree(
    subject: LiveSubject,
    method: str,
    target: Target,
    attribution: Attribution,
    checked: Checked,
    answer: Answer,
) -> None:
    """Writes whether the `attribution` of `target` by `method` agrees with the knock-out effects in `checked`."""
    explained = target.explained
    if isinstance(explained, Similarity) and isinstance(explained.other, Text):
        say_agreement(subject, checked, attribution.values, explained.other, method)
        return
    line = st.container()
    of_attribution = with_curves(
        subject,
        with_scores(checked, attribution.values),
        key="attribution_curves",
        are_shown=False,
        what="attribution",
    )
    sentence = words.conclusion_sentence(of_attribution.verdict, answer, what="attribution")
    line.markdown(f"{method.capitalize()}: {sentence}")


def _completeness_sentence(method: str, attribution: Attribution) -> str:
    """Sentence that compares the sum of the attributions with F(input) - F(baseline), which a complete `method` sums to."""
    is_complete = attribution.is_complete and method != GRADIENT
    total, difference = format_distinct(attribution.total, attribution.difference, ".4f")
    if is_complete:
        total, difference = (
            format_number(value, ".4f") for value in (attribution.total, attribution.difference)
        )
    comparison = f"sum is {total}; $F$ is {difference} above that of the baseline"
    if attribution.difference < 0:
        comparison = f"sum is {total}; $F$ minus that of the baseline is {difference}"
    if method == GRADIENT:
        return f"The {comparison}: only for a linear $F$ must they be equal."
    gap, allowed = format_distinct(attribution.gap, attribution.allowed, ".1g")
    if is_complete:
        return f"Complete: the {comparison}, {gap} apart, by {attribution.n_gradients} gradients."
    return f"**Not complete**: the {comparison}, {gap} apart after {MOST_GRADIENTS} gradients (allowed: {allowed})."


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


def choice_callback(shown: ShownHead) -> Callable[[Choice], None]:
    """Callback of a click on a token or map: sets layer, head and query; of a map of the whole layer, layer and query alone."""

    def take(choice: Choice) -> None:
        (take_head if shown.has_heads else take_layer)(choice.layer, choice.head)
        take_query(shown.view.record.number(choice.query))
        if choice.coloured_by != COLOURED_BY.held():
            COLOURED_BY.take(choice.coloured_by)

    return take


def draw_verdict(shown: ShownHead) -> AnswerColours | None:
    """Draws the verdict whether the shown map, over all positions of the input, explains the answer.

    Returns the second colouring of the tokens: how the answer changes when each is hidden, or what a gradient method attributes
    to it. None where the shown tokens are not those of the input, or where there is no encoder.
    """
    subject, answer, record = shown.subject, shown.answer, shown.view.record
    checked, controls = faithfulness(
        subject,
        shown.map_of(maps(subject, shown.through)),
        shown.kind,
        answer,
        lens=shown.lens.name,
        head=shown.head if shown.part == HEAD else None,
        query=record.number(shown.query),
        why_unchecked=shown.through.why_unchecked(subject.record, of_masked_word=answer.word is not None),
        is_wanted=COLOURED_BY.held() == BY_ANSWER and ATTRIBUTION.held(KNOCKED_OUT) == KNOCKED_OUT,
    )
    is_whole_input = record.keys is None and len(record) == len(subject.record)  # none merged or hidden
    if not isinstance(subject, LiveSubject) or not is_whole_input:
        return None
    with controls:
        choose_attribution(subject, answer)
        colours = _attribute(subject, shown.through, answer, checked)
    if colours is not None:
        return colours
    if checked is None:
        return NOT_MEASURED
    effects: list[float | None] = [None] * len(record)
    for position, effect in zip(checked.positions, checked.effects.tolist(), strict=True):
        effects[position] = effect
    return AnswerColours(
        effects=effects,
        what=f"{'falls' if checked.answer.is_signed else 'moves'} without it by",
        unit=checked.answer.unit,
        note=checked.answer.colour_note.replace("{unit}", record.unit),
    )
