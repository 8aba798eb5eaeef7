"""What the answer hangs on by gradients: colours of the tokens or patches, and whether knock-outs agree with them."""

from typing import NamedTuple

import streamlit as st

from app_pages.attention.attribution_target import (
    Target,
    baseline_clause,
    can_attribute,
    other_text,
    say_agreement,
    target_of,
)
from app_pages.attention.shown_head import ShownHead
from app_pages.controls.attention_controls import ATTRIBUTION, GRADIENT, INTEGRATED, KNOCKED_OUT
from app_pages.controls.estimated_work import is_wanted
from app_pages.show.faithfulness import words
from app_pages.show.faithfulness.checked import Checked, with_curves, with_scores
from app_pages.show.linked_view import Hiding
from app_pages.subject.answer import Answer
from app_pages.subject.subject import LiveSubject, Subject
from app_pages.toolkit.stoppable import until_done
from model.experiments.attribution import (
    MOST_GRADIENTS,
    Attribution,
    explained_positions,
    gradient_times_input,
    integrated_gradients,
)
from viz.builders.number_format import format_number, told_apart

_FORWARDS = 3  # that a forward pass with its backward pass takes as long as
_USUAL_GRADIENTS = 96  # that integrated gradients need where the output changes smoothly
_FORMULAS = {
    GRADIENT: r"$(x - x') \cdot \nabla_x F$, summed over the content $x$ of a {unit} (Shrikumar et al. 2016); $x'$ {baseline}. "
    r"$F$: {name}.",
    INTEGRATED: r"$(x - x') \cdot \int_0^1 \nabla F(x' + \alpha (x - x'))\, d\alpha$, summed over the content $x$ of a {unit}; "
    r"the baseline $x'$ {baseline} (Sundararajan et al. 2017). $F$: {name}.",
}


class Attributed(NamedTuple):
    """The attribution that is shown, by one of the methods of ATTRIBUTION."""

    method: str
    target: Target
    attribution: Attribution


def attribute(shown: ShownHead, checked: Checked | None) -> Attributed | None:
    """The attribution that is chosen, of the answer; None where knock-out is chosen.

    Draws formula, source and measured completeness, and whether the knock-outs of `checked` agree. Draws a button and
    returns None where it takes long, and a sentence where the chosen method says nothing.
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


def colouring_of(subject: Subject, attributed: Attributed) -> Hiding:
    """The attributions as colours of the tokens or patches; None at those that keep their content in the baseline."""
    target, values = attributed.target, attributed.attribution.values.tolist()
    measured = explained_positions(subject.record, target.explained)
    return Hiding(
        changes=[value if position in measured else None for position, value in enumerate(values)],
        unit=target.unit,
        note=f"Purple: {target.purple}; gold: {target.gold}, by {attributed.method}.",
        is_attribution=True,
        method=attributed.method,
    )


def _say_whether_knock_outs_agree(
    subject: LiveSubject, attributed: Attributed, checked: Checked, answer: Answer
) -> None:
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
    """Sentence that compares the sum of the attributions with what complete ones sum to."""
    of = attributed.attribution
    total, difference = told_apart(of.total, of.difference, ".4f")
    if of.is_complete and attributed.method != GRADIENT:
        total, difference = (format_number(value, ".4f") for value in (of.total, of.difference))
    comparison = f"The sum is {total}; $F$ is {difference} above that of the baseline"
    if of.difference < 0:
        comparison = f"The sum is {total}; $F$ minus that of the baseline is {difference}"
    if attributed.method == GRADIENT:
        return f"{comparison}: only for a linear $F$ must they be equal."
    gap, allowed = told_apart(of.gap, of.allowed, ".1g")
    if of.is_complete:
        return (
            f"Complete: {comparison[0].lower()}{comparison[1:]}, {gap} apart, by {of.n_gradients} gradients."
        )
    return (
        f"**Not complete**: {comparison[0].lower()}{comparison[1:]}, {gap} apart after {MOST_GRADIENTS} gradients (allowed: "
        f"{allowed})."
    )
