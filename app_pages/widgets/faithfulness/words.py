"""What was computed, in sentences; none says more than that."""

import math

import numpy as np

from app_pages.widgets.faithfulness.over_data import OverData
from app_pages.widgets.knock_out import SAID
from model.knock_out import Kind
from model.measures.faithfulness import (
    BAND,
    LEAST_CORRELATION,
    N_ORDERS,
    N_PERMUTATIONS,
    N_SHUFFLES,
    N_STEPS,
    SIGNIFICANT,
    OtherAttention,
    Verdict,
)
from model.record import ForwardRecord
from viz.numbers import THIN, percent, with_error, written

_DISTANCES = {
    True: r"Total variation: $\frac12 \sum_c \lvert p_c - p'_c \rvert$.",
    False: r"Cosine distance: $1 - \cos(x, x')$ of the pooled states.",
}
NO_ENCODER = (
    "Whether this map explains an answer cannot be checked: a record from a file comes without the encoder."
)


def agreement(found: Verdict, kind: Kind, record: ForwardRecord) -> str:
    value = "cannot be computed" if math.isnan(found.spearman) else f"**{_two_digits(found.spearman)}**"
    units = record.unit if found.n == 1 else record.units
    return f"Agreement with {record.unit} knock-out: Spearman {value} ({found.n} {units}, {SAID[kind]})."


def conclusion(found: Verdict, record: ForwardRecord) -> str:
    """Whether the map may be read as an explanation, by the rule of `model.measures.faithfulness`."""
    answer = "prediction" if record.has_classes else "pooled state"
    unreliable = f"This map is **not a reliable explanation** of this {answer}."
    if found.n < 2:
        return "There is nothing to rank."
    if math.isnan(found.spearman):
        return "All scores, or all effects, are the same, so there is no order to compare."
    if found.readable is None:
        return "The deletion curve, which has to decide, is not computed yet."
    if found.readable:
        return f"By the rule, this map **may be read as an explanation** of this {answer}."
    if found.correlates:
        return f"But removing the {record.units} that it scores highest does not change the answer sooner than removing random ones. {unreliable}"
    return unreliable


def attention(moved: OtherAttention, record: ForwardRecord) -> str:
    """What the answer would be with other attention: about the encoder on this input, whatever map is shown."""
    mean, sd = float(np.mean(moved.permuted)), float(np.std(moved.permuted, ddof=1))
    if record.has_classes:
        uniform, what = (
            percent(moved.uniform, 1, below="under ", above="over "),
            "Total variation of the prediction",
        )
        permuted = with_error(mean, sd)
    else:
        uniform, what = written(moved.uniform, ".2g"), "Cosine distance of the pooled state"
        permuted = f"{written(mean, '.2g')} ± {written(sd, '.1g')}"
    return f"{what} under uniform attention {_unbroken(uniform)}, permuted {_unbroken(permuted)}."


def uncertainty(found: Verdict) -> str:
    """How sure the correlation is, in numbers."""
    if math.isnan(found.spearman):
        return ""
    p = (
        f"p < {1 / (1 + N_SHUFFLES):g}"
        if found.p <= 1 / (1 + N_SHUFFLES)
        else f"p = {written(found.p, '.2g')}"
    )
    said = f"Spearman {written(found.spearman, '.3f')}, {p}"
    if math.isnan(found.low):
        return f"{said}; too few for an interval."
    low, high = written(found.low, ".2f"), written(found.high, ".2f")
    return f"{said}, 95{THIN}% interval {low} to {high}, n = {found.n}."


def areas(found: Verdict) -> str:
    """Of the deletion curves; "" where they were not computed."""
    if found.area is None:
        return ""
    bound = found.random_mean - BAND * found.random_sd
    below = "below" if found.deletes else "not below"
    return (
        f"Area under the deletion curve {written(found.area, '.3f')}; {N_ORDERS} random orders "
        f"{written(found.random_mean, '.3f')} ± {written(found.random_sd, '.3f')}: {below} {written(bound, '.3f')}."
    )


def over_data(held: OverData) -> str:
    return f"Over {held.n:,} {held.data} the rule holds for {percent(held.share, 0, below='under ')} of them."


def rule(record: ForwardRecord) -> str:
    """With its thresholds, formulas and sources; Markdown."""
    units, is_class = record.units, record.has_class_token
    scored = (
        "the weight that the class token, which is classified, gives it in this map"
        if is_class
        else "the mean weight that all queries give it in this map"
    )
    effect = (
        r"$\lvert \Delta \ln \frac{p}{1 - p} \rvert$ of the predicted class"
        if record.has_classes
        else "the cosine distance of the pooled state from what it was"
    )
    left = (
        "the probability of the predicted class"
        if record.has_classes
        else "the cosine similarity of the pooled state"
    )
    return "\n".join(
        (
            "**The rule.** A map may be read as an explanation of an answer where both hold:",
            f"1. Spearman's correlation of scores and effects is at least {LEAST_CORRELATION:g}, with p < {SIGNIFICANT:g}.",
            f"2. The area under its deletion curve is below the mean of {N_ORDERS} random orders by more than "
            f"{BAND:g} of their standard deviations.",
            "",
            f"The thresholds are a convention of this app. The **score** of each of the {units} is {scored}; its **effect** is "
            f"{effect} when it is knocked out alone. Class token and padding are left out. p is the share of {N_SHUFFLES:,} "
            "random orders of the effects that correlate as strongly, either way; it is not corrected for how many maps one "
            r"looks at. The interval is $\tanh(\operatorname{artanh} \rho \pm 1.96 \sqrt{(1 + \rho^2/2)/(n - 3)})$ (Bonett & "
            f"Wright 2000), as if {units} were independent draws.",
            "",
            f"**Curves**: x is the share of the {units} that are gone (deletion) or back (insertion), from 0 to 1 in about "
            f"{N_STEPS} steps, those with the largest scores first; y is {left}. The area is by the trapezoidal rule; a low one "
            "under deletion and a high one under insertion speak for the map (Petsiuk et al. 2018).",
            "",
            "**Other attention**, in all layers and heads at once, whatever map is shown: uniform over the keys that a query may "
            f"attend to, or each row's weights in a random order among those (mean ± standard deviation of {N_PERMUTATIONS}). "
            f"{_DISTANCES[record.has_classes]}",
            "",
            "**Papers**: the correlation is the check of Abnar & Zuidema 2020. Permuted attention: “Attention is not "
            "Explanation” (Jain & Wallace 2019), who permuted the one attention layer of a recurrent model. "
            "“Attention is not not Explanation” (Wiegreffe & Pinter 2019): that other weights give the same answer "
            "does not show that these are no explanation.",
        )
    )


def _two_digits(spearman: float) -> str:
    """Or more, where it is below what the rule asks for and would be rounded to that."""
    rounded = spearman < LEAST_CORRELATION <= float(f"{spearman:.2f}")
    return written(spearman, ".4f" if rounded else ".2f")


def _unbroken(number: str) -> str:
    """No line ends within it."""
    return number.replace(" ", "\u00a0").replace(THIN, "\u202f")
