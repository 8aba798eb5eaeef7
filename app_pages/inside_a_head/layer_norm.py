"""LayerNorm (or RMSNorm, if the encoder has that) of a vector that the user types and of the residual vector of the chosen token,
and batch normalisation of typed vectors.
"""

import re
from typing import Literal, NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import Slots, beside
from app_pages.controls.head_choice import HeadChoice, choose_query
from app_pages.controls.inside_a_head_controls import ATTENTION, NORM, RMS, VECTORS
from app_pages.inside_a_head.view import steps_expression, steps_of
from app_pages.show.show import show
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import as_code, sentence
from model.experiments.sublayer_steps import normalise, sample_deviation
from model.measures.changes import value_range
from viz.builders.number_format import format_number, format_short, format_tex
from viz.inside.norm_figures import averaged_axis, norm_bars

MOST_ROWS, MOST_NUMBERS, LARGEST = 6, 8, 1e6
_VECTORS_HELP = "Numbers with commas or spaces between them. The first line is computed step by step; all lines together are the batch below."
MISPRINTED = {(0.5, -3, 8.5): 2, (-1, 2, 5): 2}  # vectors of lecture slides, and the σ that is printed there
_MOST_WRITTEN_TERMS = 4  # terms of a sum that are written out


class _NormFormulas(NamedTuple):
    """A norm's `formula` in LaTeX, and the fraction in it to which gain and shift are applied, in LaTeX (`fraction`) and as plain
    text, such as "(x − μ) / σ".
    """

    formula: str
    fraction: str
    fraction_text: str


_LAYER_NORM = _NormFormulas(
    r"\mathrm{LN}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta, \qquad "
    r"\mu = \frac1d \sum_{i=1}^{d} x_i, \qquad \sigma^2 = \frac1d \sum_{i=1}^{d} (x_i - \mu)^2",
    r"\dfrac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}",
    "(x − μ) / σ",
)
_RMS_NORM = _NormFormulas(
    r"\mathrm{RMSNorm}(x) = \gamma \odot \frac{x}{\mathrm{RMS}(x)}, \qquad "
    r"\mathrm{RMS}(x) = \sqrt{\frac1d \sum_{i=1}^{d} x_i^2 + \varepsilon}",
    r"\dfrac{x}{\mathrm{RMS}(x)}",
    "x / RMS(x)",
)


def draw_layer_norm(subject: LiveSubject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws the tab: the norm of a typed vector, beside it that of the chosen token's vector, and below both batch
    normalisation.
    """
    typed_column, own_column = beside("typed", "own")
    with slots.controls:
        query = choose_query(subject.record)
        is_rms = subject.record.config.norm_name == "RMSNorm"
        titles = RMS if is_rms else {title: title for title in RMS}
        sublayer = NORM.choose(format_func=titles.__getitem__)
        text = VECTORS.choose()
    with typed_column:
        values = _draw_typed_vector(text, is_rms=is_rms)
    with own_column:
        _draw_token_vector(subject, chosen, query, sublayer)
    st.latex((_RMS_NORM if is_rms else _LAYER_NORM).formula)
    if values is not None:
        _draw_batch(values)


def _draw_typed_vector(text: str, *, is_rms: bool) -> np.ndarray | None:
    """Draws RMSNorm or LayerNorm of the first vector in `text`; returns all its vectors [vector, feature], None if the text holds
    none.
    """
    st.markdown("**Your own vector**, the first line of the box above", help=_VECTORS_HELP)
    try:
        values = read_vectors(text)
    except ValueError as error:
        st.info(sentence(error), icon=":material/info:")
        return None
    vector, source = values[0], named("vectors", values)
    normed = normalise(vector[None], "features", subtracts_mean=not is_rms)
    mean, variance, deviation = (
        float(value.item()) for value in (normed.mean, normed.variance, normed.deviation)
    )
    normed_source = call(normalise, source[:1], "features", subtracts_mean=not is_rms)
    _draw_bars("typed", source[0], normed_source.output[0], is_rms=is_rms)
    _write_steps(vector, mean, variance, deviation, is_rms=is_rms)
    formulas = _RMS_NORM if is_rms else _LAYER_NORM
    st.markdown(f"${formulas.fraction} = ({_vector_text(normed.output[0])})$")
    if is_rms:
        layer_normed = normalise(vector[None], "features").output[0]
        st.markdown(
            f"RMSNorm subtracts no mean (Zhang & Sennrich 2019). LayerNorm would make $({_vector_text(layer_normed)})$ of "
            "the same numbers."
        )
        return values
    st.caption(deviation_sentence(vector))
    if misprinted := [row for row in values if tuple(row) in MISPRINTED]:
        st.caption(" ".join(map(_misprint_sentence, misprinted)))
    return values


def deviation_sentence(vector: np.ndarray) -> str:
    """Sentence on the standard deviation by which a typed vector is divided, or on the lack of one."""
    if np.ptp(vector) == 0:  # the computed variance may be rounding
        return (
            r"All numbers are the same, so the deviation is 0: only $\varepsilon$ keeps the division possible, and the result is 0 "
            "throughout."
        )
    d = len(vector)
    return (
        f"The sum of squares is divided by d = {d}, as LayerNorm does (population formula). Divided by d − 1 = {d - 1} the deviation "
        f"would be {format_number(sample_deviation(vector), '.3g')}."
    )


def _vector_text(vector: np.ndarray) -> str:
    """The components as LaTeX with two decimals, separated by commas."""
    return r",\; ".join(format_tex(component, ".2f") for component in vector)


def _misprint_sentence(vector: np.ndarray) -> str:
    """Sentence on the σ that lecture slides print for this vector, one of `MISPRINTED`, and the right one."""
    components, deviation = (
        ", ".join(format_number(x, "g") for x in vector),
        normalise(vector[None], "features").deviation,
    )
    return (
        f"({components}) is printed on some lecture slides with σ = {MISPRINTED[tuple(vector)]}; by the formula σ is "
        f"{format_short(deviation.item())}."
    )


def _draw_token_vector(subject: LiveSubject, chosen: HeadChoice, query: int, sublayer: str) -> None:
    """Draws the residual vector of the chosen query before and after the chosen layer's norm that belongs to `sublayer`,
    attention or feed-forward.
    """
    record = subject.record
    try:
        steps = steps_of(subject, chosen.layer, 0, query)  # the norms are of no head
    except ValueError as error:
        st.info(sentence(error), icon=":material/info:")
        return
    source = steps_expression(subject, chosen.layer, 0, query)
    source = source.norm_attention if sublayer == ATTENTION else source.norm_feed_forward
    norm = steps.norm_attention if sublayer == ATTENTION else steps.norm_feed_forward
    if norm is None:
        st.info(
            "Layer 0 of this encoder has no norm before its attention: it reads the embedding, which is normalised already.",
            icon=":material/info:",
        )
        return
    is_rms = norm.name == "RMSNorm"
    token = as_code(record.tokens[query])
    st.markdown(
        f"**The token's own vector**: query {query}, {token}, {_norm_position_clause(record.config.norm_placement, sublayer)}"
    )
    _draw_bars("own", source.x, source.standardised, is_rms=is_rms)
    fraction = (_RMS_NORM if is_rms else _LAYER_NORM).fraction_text
    shift = " + β" if norm.has_shift else ""
    learned = "γ and β as they were" if norm.has_shift else "γ as it was"
    chart = call(norm_bars, source.out, title=f"γ ⊙ {fraction}{shift}", reading=f"with {learned} trained")
    show(chart, key="inside_own_out")
    _write_steps(norm.x, norm.mean, norm.variance, norm.deviation, is_rms=is_rms)
    gains, shifts = (
        " to ".join(format_short(end) for end in value_range(parameter))
        for parameter in (norm.gain, norm.shift)
    )
    shift_range = f", β from {shifts} (it starts at 0)" if norm.has_shift else "; there is no shift β"
    st.caption(f"γ has one number per feature, from {gains} in this norm (it starts at 1){shift_range}.")


def _draw_bars(key: str, x: Expression, standardised: Expression, *, is_rms: bool) -> None:
    """Draws the vector `x` and the same vector `standardised`, that is, normed without gain and shift, under widget keys that
    contain `key`.
    """
    reading = "line: mean; band: one standard deviation σ to either side"
    show(call(norm_bars, x, title="x", reading=reading), key=f"inside_{key}_x")
    size = np.sqrt(np.square(standardised()).mean())  # the deviation, where the mean is 0
    measured = "root mean square" if is_rms else "mean 0, deviation"
    title = (_RMS_NORM if is_rms else _LAYER_NORM).fraction_text
    reading = f"{measured} {format_number(size, '.3g')}"
    show(call(norm_bars, standardised, title=title, reading=reading), key=f"inside_{key}_z")


def _norm_position_clause(norm_placement: str, sublayer: str) -> str:
    """End of a sentence: which vector this norm reads, and whether its output becomes the residual stream."""
    sublayer_name = "attention" if sublayer == ATTENTION else "the feed-forward layer"
    if norm_placement == "pre":
        return f"the residual stream on its way into {sublayer_name}; the stream itself goes on without the norm."
    return f"the residual stream plus what {sublayer_name} wrote; the result is the stream from here on."


def _draw_batch(values: np.ndarray) -> None:
    """Draws the vectors [vector, feature] under layer normalisation and under batch normalisation."""
    st.markdown("## LayerNorm beside batch normalisation, on the same numbers")
    vectors = named("vectors", values)
    axes: tuple[Literal["features", "batch"], ...] = ("features", "batch")
    for axis, column in zip(axes, beside(*axes), strict=True):
        normed = named("normed", call(normalise, vectors, axis))
        with column:
            chart = call(averaged_axis, vectors, normed.output, normed.mean, normed.spread, over=axis)
            show(chart, key=f"inside_over_{axis}")
    remark = (
        " Your batch holds one vector, so every feature is its own mean: batch normalisation gives 0 everywhere."
        if len(values) == 1
        else ""
    )
    st.caption(
        "Each cell: the number above, its normalised value below, without γ and β. A frame holds the "
        r"numbers that share a mean and a deviation. $\mathrm{LN}$ needs one vector: its result does not "
        "change with the rest of the batch, the length of a text or its padding. Batch normalisation, here "
        "with the statistics of this batch "
        "as in training, does (Ba et al. 2016; Ioffe & Szegedy 2015)." + remark
    )


def read_vectors(text: str) -> np.ndarray:
    """Vectors [vector, feature] from text with one vector per line. Raises ValueError, with a one-sentence message, if
    there are none, too many, or vectors of different lengths.
    """
    lines = [line for line in text.replace("−", "-").splitlines() if line.strip()]
    rows = [_parse_numbers(line) for line in lines]
    if not rows:
        raise ValueError("Type some numbers, for example 0.5, -3, 8.5")
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise ValueError(
            f"Vectors of one batch are of one length, but these have {lengths[0]} to {lengths[-1]}"
        )
    if lengths[0] < 2:
        raise ValueError("A vector needs at least two numbers: one alone has no deviation")
    if len(rows) > MOST_ROWS or lengths[0] > MOST_NUMBERS:
        raise ValueError(f"There is room for {MOST_ROWS} vectors of {MOST_NUMBERS} numbers")
    return np.array(rows)


def _parse_numbers(line: str) -> list[float]:
    """The numbers in a line of text. Raises ValueError, with a one-sentence message, for other words and for numbers too large."""
    numbers = []
    for word in re.split(r"[,;\s]+", line.strip(" \t,;[]()")):
        try:
            value = float(word)
        except ValueError:
            raise ValueError(f"{as_code(word[:20])} is not a number") from None
        if not abs(value) <= LARGEST:
            raise ValueError(f"Numbers go up to a million here, and {as_code(word[:20])} does not fit")
        numbers.append(value)
    return numbers


def _write_steps(x: np.ndarray, mean: float, variance: float, deviation: float, *, is_rms: bool) -> None:
    """Writes the mean and deviation (or the root mean square) in numbers, as inline formulas, which wrap in a narrow column."""
    terms = [_term_text(value) for value in x]
    if is_rms:
        squares, averaged, root = [f"{term}^2" for term in terms], r"\tfrac1d \sum x_i^2", r"\mathrm{RMS}(x)"
    else:
        center = _term_text(mean)
        squares = [rf"({value.strip('()')} - {center})^2" for value in terms]
        averaged, root = r"\sigma^2", r"\sqrt{\sigma^2 + \varepsilon}"
        st.markdown(rf"$\mu = \tfrac{{1}}{{{len(x)}}} ({_sum_text(terms)}) = {format_tex(mean, '.4g')}$")
    st.markdown(
        rf"${averaged} = \tfrac{{1}}{{{len(x)}}} ({_sum_text(squares)}) = {format_tex(variance, '.4g')}$"
    )
    st.markdown(rf"${root} = \mathbf{{{format_tex(deviation)}}}$")


def _sum_text(terms: list[str]) -> str:
    """Terms joined by plus signs; of many terms only the first few and the last."""
    shown_terms = (
        terms
        if len(terms) <= _MOST_WRITTEN_TERMS
        else [*terms[: _MOST_WRITTEN_TERMS - 2], r"\dots", terms[-1]]
    )
    return " + ".join(shown_terms)


def _term_text(x: float) -> str:
    """A number as LaTeX with at most two decimals, in brackets if negative."""
    rounded = round(float(x), 2)
    text = format_tex(rounded, ".8g")
    return f"({text})" if rounded < 0 else text
