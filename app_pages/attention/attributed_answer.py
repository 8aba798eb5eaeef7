"""What the answer hangs on by gradients: colours of the tokens or patches, and whether knock-outs agree with them."""

from typing import NamedTuple

import streamlit as st

from app_pages.attention.record_view import RecordView
from app_pages.controls.answer_choice import Answer
from app_pages.controls.attention_controls import ATTRIBUTION, GRADIENT, INTEGRATED, KNOCKED_OUT
from app_pages.controls.estimated_work import is_wanted
from app_pages.show.faithfulness import words
from app_pages.show.faithfulness.checked import Checked, with_curves, with_scores
from app_pages.show.linked_view import Hiding
from app_pages.subject.subject import LensChoice, LiveSubject, Subject
from app_pages.toolkit.markdown import plain
from app_pages.toolkit.stoppable import until_done
from model.experiments.attribution import (
    MOST_GRADIENTS,
    TOLERANCE,
    Attribution,
    gradient_times_input,
    integrated_gradients,
)
from model.experiments.knock_out import removable_positions
from model.record import AttentionRecord
from viz.builders.number_format import format_number

_FORWARDS = 3  # that a forward pass with its backward pass takes as long as
_USUAL_GRADIENTS = 96  # that integrated gradients need where the output changes smoothly
_FORMULAS = {
    GRADIENT: r"$\nabla_x F \cdot x$, summed over the content $x$ of a {unit} (Shrikumar et al. 2016). $F$: log-odds of "
    "“{name}”, in nats.",
    INTEGRATED: r"$x \cdot \int_0^1 \nabla F(\alpha x)\, d\alpha$, summed over the content $x$ of a {unit}; the baseline "
    r"has no content (Sundararajan et al. 2017). $F$: log-odds of “{name}”, in nats.",
}


class Attributed(NamedTuple):
    """The attribution that is shown, by one of the methods of ATTRIBUTION, of the log-odds of a class."""

    method: str
    class_name: str
    attribution: Attribution


def can_attribute(subject: Subject, shown: AttentionRecord, answer: Answer) -> bool:
    """Whether the `answer` is a class, and the `shown` record has the tokens or patches of the input, one by one."""
    if not isinstance(subject, LiveSubject) or answer.is_masked_word:
        return False
    config = subject.loaded.config
    has_all = shown.keys is None and len(shown) == len(subject.record)
    return config.chooses_class and config.n_classes > 1 and has_all


def choose_attribution() -> None:
    """Draws the choice of how to find what the answer hangs on."""
    with st.container(key="bar_attribution", width="content"):
        ATTRIBUTION.choose()


def attribute(
    subject: Subject, view: RecordView, through: LensChoice, checked: Checked | None, answer: Answer
) -> Attributed | None:
    """The attribution that is chosen, for the class of the lens or else the predicted one; None where knock-out is chosen.

    Draws formula, source and measured completeness, and whether the knock-outs of `checked` agree. Draws a button and
    returns None where it takes long.
    """
    if not isinstance(subject, LiveSubject) or not can_attribute(subject, view.record, answer):
        return None
    method = ATTRIBUTION.held(KNOCKED_OUT)
    if method == KNOCKED_OUT:
        return None
    class_number = through.class_number(subject.loaded.config)
    work_key = (method, subject, class_number)
    n_gradients = _USUAL_GRADIENTS if method == INTEGRATED else 2
    label = f"Compute {method}"
    if not is_wanted(subject, work_key, _FORWARDS * n_gradients, label, "attribution_wanted"):
        return None
    function = integrated_gradients if method == INTEGRATED else gradient_times_input
    with until_done(work_key):
        attribution = subject.compute(function, class_number, spinner=f"Computing {method} …")
    record = subject.record
    followed = int(record.logits.argmax()) if class_number is None else class_number
    attributed = Attributed(method, record.class_names[followed], attribution)
    if checked is not None:
        of_attribution = with_scores(checked, attribution.values)
        line = st.container()
        of_attribution = with_curves(
            subject, of_attribution, key="attribution_curves", are_shown=False, what="attribution"
        )
        sentence = words.conclusion_sentence(of_attribution.verdict, record, what="attribution")
        line.markdown(f"{method.capitalize()}: {sentence}")
    formula = _FORMULAS[method].format(unit=record.unit, name=plain(attributed.class_name))
    st.caption(f"{formula} {_completeness_sentence(attributed)}")
    return attributed


def colouring_of(subject: Subject, attributed: Attributed) -> Hiding:
    """The attributions as colours of the tokens or patches; None at those that keep their content in the baseline."""
    removable, values = removable_positions(subject.record), attributed.attribution.values.tolist()
    name = attributed.class_name
    return Hiding(
        changes=[value if position in removable else None for position, value in enumerate(values)],
        unit=f"log-odds of {name}",
        note=f"Purple: speaks for “{name}”; gold: against it, by {attributed.method}. What a head looks at is not what the "
        "answer hangs on: compare the two.",
        is_attribution=True,
        method=attributed.method,
    )


def _completeness_sentence(attributed: Attributed) -> str:
    """Sentence that compares the sum of the attributions with what complete ones sum to."""
    of, digits = attributed.attribution, ".4f"
    total, difference = format_number(of.total, digits), format_number(of.difference, digits)
    comparison = f"The sum is {total}; $F$ is {difference} above that of the baseline"
    if of.difference < 0:
        comparison = f"The sum is {total}; $F$ minus that of the baseline is {difference}"
    if attributed.method == GRADIENT:
        return f"{comparison}: only for a linear $F$ would they be equal."
    gap = format_number(of.gap, ".1g")
    if of.is_complete:
        return (
            f"Complete: {comparison[0].lower()}{comparison[1:]}, {gap} apart, by {of.n_gradients} gradients."
        )
    return (
        f"**Not complete**: {comparison[0].lower()}{comparison[1:]}, {gap} apart after {MOST_GRADIENTS} gradients (allowed: "
        f"{TOLERANCE:g} of it, or {TOLERANCE:g})."
    )
