"""Sentences, made from the computed numbers, on whether a map may be read as an explanation."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from app_pages.controls.knock_out_choice import NAMES
from app_pages.subject import stored_results
from app_pages.subject.answer import Answer, ClassAnswer, WordAnswer
from app_pages.subject.cache import Checkpoint, cached
from app_pages.toolkit.markdown import plain
from model.atlas.results import FAITHFULNESS
from model.experiments.faithfulness import (
    BAND,
    FEWEST,
    LEAST_CORRELATION,
    LEAST_EFFECT,
    N_ORDERS,
    N_PERMUTATIONS,
    N_SHUFFLES,
    N_STEPS,
    SIGNIFICANT,
    DeletionAreas,
    OtherAttention,
    Undecidable,
    Verdict,
)
from model.experiments.knock_out import KnockOutKind
from viz.builders.number_format import THIN, format_distinct, format_number, percent


class OverData(NamedTuple):
    """Share of examples on which a head's map may be read as an explanation, of the `n_judged` of `n` examples on which that can
    be decided.
    """

    share: float | None  # of the judged examples, from 0 to 1; None where there are none
    n_judged: int  # on which maps can be judged
    n: int
    data: str  # as it stands on screen


def stored_over_data(name: Checkpoint, lens: str, head: tuple[int, int] | None) -> OverData | None:
    """Stored share of examples on which the map of this head, seen through `lens`, may be read as an explanation.

    A lens without heads has one map per layer. None if it was not measured for this encoder, lens and head.
    """
    stored = stored_results.table_of(name, FAITHFULNESS)
    if stored is None or head is None:
        return None
    rows = _shares_by_map(name, stored_results.file_state(name, FAITHFULNESS))
    row = rows.get((lens, head[0], head[1]), rows.get((lens, head[0], None)))
    return None if row is None else OverData(*row, stored.source.n, stored.source.data)


@cached
def _shares_by_map(
    name: Checkpoint, _state: stored_results.FileState
) -> dict[tuple[str, int, int | None], tuple[float | None, int]]:
    """Share of examples with a readable map and number of examples on which that can be decided, by lens, layer and head (None
    for a lens without heads).
    """
    stored = stored_results.table_of(name, FAITHFULNESS)
    if stored is None:
        return {}
    table = stored.rows[stored.rows["layer"].notna()]
    return {
        (row.lens, int(row.layer), None if pd.isna(row.head) else int(row.head)): (
            float(row.share) if row.told else None,
            int(row.told),
        )
        for row in reversed(list(table.itertuples()))  # of two rows the first counts
    }


NO_ENCODER = (
    "Whether this map explains an answer cannot be checked: a record from a file comes without the encoder."
)


_WHY = {
    Undecidable.TOO_FEW: f"fewer than {FEWEST} {{units}} are too few to tell an order from chance",
    Undecidable.TOO_EQUAL: "so many of its {units} have the same effect that even scores in exactly the order of the effects "
    f"would not reach p < {SIGNIFICANT:g}",
    Undecidable.UNMOVED: "hiding any of its {units} hardly moves {answer}",
    Undecidable.NO_SOONER: "hiding first the {units} that matter most lowers {answer} no faster than hiding {units} in random order, so no map can be judged",
}


def agreement_sentence(verdict: Verdict, kind: KnockOutKind, answer: Answer) -> str:
    """Sentence with the rank correlation between the map's scores and the effects of hiding each token or patch."""
    value = (
        "cannot be computed" if math.isnan(verdict.spearman) else f"**{_correlation_text(verdict.spearman)}**"
    )
    record = answer.record
    units = record.unit if verdict.n == 1 else record.units
    return f"Rank correlation with the effect of hiding each {record.unit} ({NAMES[kind]}): {value} over {verdict.n} {units}."


NOT_CHECKED = (
    "Whether this map explains the answer is not checked yet: it takes a moment, so a button starts it. Each token or "
    "patch is hidden in turn, to see whether those that get much weight are those that the answer depends on."
)


def short_verdict(verdict: Verdict | None) -> str:
    """The verdict in a word or two; `verdict` is None for a map that was not checked."""
    if verdict is None or (verdict.undecidable is None and verdict.n >= 2 and verdict.area is None):
        return "not checked"
    if verdict.n < 2 or verdict.undecidable is not None:
        return "cannot be told"
    return "yes" if verdict.readable else "no"


def conclusion_sentence(verdict: Verdict, answer: Answer, what: str = "map") -> str:
    """Sentence on whether the map (or what `what` names) shows what the answer depends on, by the rule of
    `model.experiments.faithfulness`, with the rank correlation and the area under the deletion curve that decide it.
    """
    return f"Does this {what} show what {plain(answer.quoted_answer)} hangs on? {_reply(verdict, answer)}"


def _reply(verdict: Verdict, answer: Answer) -> str:
    units = answer.record.units
    if verdict.n < 2:
        return "There is nothing to rank."
    if verdict.undecidable is not None:
        reason = _WHY[verdict.undecidable].format(units=units, answer=answer.noun)
        return f"That **cannot be told** from this input: {reason}."
    if verdict.area is None or verdict.deletion_areas is None:
        return "Not decided yet: hiding more and more of the input, in the order of this map, takes a while. A button starts it."
    spearman = f"Spearman {_correlation_text(verdict.spearman)} over {verdict.n} {units}"
    area = f"deletion area {format_number(verdict.area, '.3f')}, random {_random_areas_text(verdict.deletion_areas)}"
    if verdict.readable:
        return f"**Yes**: the {units} that it shows as strong are those without which it changes ({spearman}; {area})."
    if math.isnan(verdict.spearman):
        return f"**No**: it gives all {units} the same score."
    if verdict.correlates:
        return f"**No**: hiding first what it shows as strongest changes the answer no faster than hiding in random order ({area})."
    limit = f"below {LEAST_CORRELATION:g}"
    if verdict.spearman >= LEAST_CORRELATION:
        limit = f"but p = {format_number(verdict.p, '.2g')}"
    return f"**No**: it does not clearly rank the {units} by how much the answer needs them ({spearman}, {limit})."


def other_attention_sentence(changes: OtherAttention, answer: Answer) -> str:
    """Sentence on how the answer changes under uniform or permuted attention, which concerns the whole encoder, not the shown
    map.
    """
    change, uniform = answer.shift_texts(changes.uniform)
    _, permuted = answer.shift_texts(
        float(np.mean(changes.permuted)), float(np.std(changes.permuted, ddof=1))
    )
    return (
        f"If all heads attended evenly, {change} {_with_unbroken_spaces(uniform)}; with their weights in a random order, by "
        f"{_with_unbroken_spaces(permuted)}."
    )


def uncertainty_text(verdict: Verdict) -> str:
    """Correlation with its p-value and its 95 % interval, as text; "" where there is no correlation."""
    if math.isnan(verdict.spearman):
        return ""
    p = (
        f"p ≤ {1 / (1 + N_SHUFFLES):g}"
        if verdict.p <= 1 / (1 + N_SHUFFLES)
        else f"p = {format_number(verdict.p, '.2g')}"
    )
    correlation = f"Spearman {format_number(verdict.spearman, '.3f')}, {p}"
    if math.isnan(verdict.low):
        return f"{correlation}; too few for an interval."
    low, high = format_number(verdict.low, ".2f"), format_number(verdict.high, ".2f")
    return f"{correlation}, 95{THIN}% interval {low} to {high}, n = {verdict.n}."


def areas_sentence(verdict: Verdict) -> str:
    """Sentence on the areas under the deletion curves; "" where they were not computed."""
    if verdict.area is None or verdict.deletion_areas is None:
        return ""
    curve = verdict.deletion_areas
    comparison = "above" if verdict.passes_deletion else "not above"
    perfect = "above it as well" if curve.perfect > curve.bound else "not above it either"
    area, bound = format_distinct(verdict.area, curve.bound, ".3f")
    return (
        f"Area under the deletion curve {area}; {N_ORDERS} random orders {_random_areas_text(curve)}: {comparison} {bound}. "
        f"That of the perfect map, {format_distinct(curve.perfect, curve.bound, '.3f')[0]}, is {perfect}."
    )


def over_data_sentence(over_data: OverData) -> str:
    """Sentence on the share of a data set's examples on which the map may be read as an explanation."""
    if over_data.share is None:
        return f"This cannot be told on any of {over_data.n:,} {over_data.data}."
    return (
        f"Over a data set: this can be told on {over_data.n_judged:,} of {over_data.n:,} {over_data.data}, and on "
        f"{percent(over_data.share, 0)} of those this map explains the answer."
    )


def rule_markdown(answer: Answer) -> str:
    """The rule by which a map counts as faithful, with thresholds, formulas and sources, as Markdown."""
    units = answer.record.units
    match answer:
        case WordAnswer():
            score = "the weight that the masked token, where the word is read, gives it in this map"
            effect = f"the fall of {answer.noun}, in nats (below 0 where it rises),"
            shift = f"The change is that of {answer.noun}, below 0 where it falls."
        case ClassAnswer():
            effect = r"the fall of $\ln \frac{p}{1 - p}$ of the predicted class (below 0 where it rises)"
            shift = r"The shift of a prediction is its total variation: $\frac12 \sum_c \lvert p_c - p'_c \rvert$."
        case _:
            effect = "the cosine distance of the pooled state from what it was"
            shift = r"Cosine distance: $1 - \cos(x, x')$ of the pooled states."
    if answer.word is None:
        score = "the mean weight that all queries give it in this map"
        if answer.record.has_class_token:
            score = "the weight that the class token, which is classified, gives it in this map"
    return "\n".join(
        (
            "**The rule.** A map may be read as an explanation of an answer where both of these hold:",
            f"1. Spearman's correlation of scores and effects is at least {LEAST_CORRELATION:g}, with p < {SIGNIFICANT:g}.",
            f"2. The area under its deletion curve is above the mean of {N_ORDERS} random orders by more than "
            f"{BAND:g} of their standard deviations: the answer falls sooner than by chance.",
            "",
            "**When it cannot be told.** The perfect map has the effects themselves as its scores. Where even that one fails the "
            f"rule, no map can be judged on this input: it has fewer than {FEWEST} {units} (no order of 4 has p < {SIGNIFICANT:g}), "
            f"so many {units} have the same effect that even the perfect map does not reach p < {SIGNIFICANT:g}, no knock-out moves "
            f"the answer by {LEAST_EFFECT:g}, or hiding the {units} in the order of their effects does not lower the answer clearly "
            "faster than hiding them in random order. "
            "Such inputs are left out of the shares over a data set.",
            "",
            f"The thresholds are a convention of this app. The **score** of each of the {units} is {score}; its **effect** is "
            f"{effect} when it is knocked out alone. Class token, padding and the [MASK] of a word that is the answer are left out. p is the share of {N_SHUFFLES:,} "
            "random orders of the effects that correlate as strongly, either way; it is not corrected for how many maps one "
            r"looks at. Effects that differ by no more than rounding count as equal, and so do scores. The interval is $\tanh(\operatorname{artanh} \rho \pm 1.96 \sqrt{(1 + \rho^2/2)/(n - 3)})$ (Bonett & "
            f"Wright 2000), as if {units} were independent draws.",
            "",
            f"**Curves**: x is the share of the {units} that are gone (deletion) or back (insertion), from 0 to 1 in about "
            f"{N_STEPS} steps, those with the largest scores first; y is that effect of all that are gone. The area is by the trapezoidal rule; a large one "
            "under deletion and a small one under insertion speak for the map (after Petsiuk et al. 2018, who use the probability: "
            "that of a sure answer has little room to fall).",
            "",
            "**Other attention**, in all layers and heads at once, whatever map is shown: uniform over the keys that a query may "
            f"attend to, or each row's weights in a random order among those (mean ± standard deviation of {N_PERMUTATIONS}). "
            f"{shift}",
            "",
            "**Papers**: the correlation is the check of Abnar & Zuidema 2020. Permuted attention: “Attention is not "
            "Explanation” (Jain & Wallace 2019), who permuted the one attention layer of a recurrent model. "
            "“Attention is not not Explanation” (Wiegreffe & Pinter 2019): that other weights give the same answer "
            "does not show that these are no explanation.",
        )
    )


def _correlation_text(spearman: float) -> str:
    """The correlation with two digits, or with four if rounding would raise it to the rule's threshold."""
    rounded = spearman < LEAST_CORRELATION <= float(f"{spearman:.2f}")
    return format_number(spearman, ".4f" if rounded else ".2f")


def _random_areas_text(curve: DeletionAreas) -> str:
    """Mean ± standard deviation of the areas under the deletion curves of random orders."""
    mean, sd = float(curve.random.mean()), float(curve.random.std(ddof=1))
    return f"{format_number(mean, '.3f')} ± {format_number(sd, '.3f')}"


def _with_unbroken_spaces(number: str) -> str:
    """The number with no-break spaces, so that no line ends within it."""
    return number.replace(" ", "\u00a0").replace(THIN, "\u202f")
