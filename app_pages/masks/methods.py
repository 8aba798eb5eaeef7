"""Methods of masking: the same mask applied by each method found in published code, and a worked example on four positions."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.masks_controls import NUMBER, NUMBERS
from app_pages.masks.mask_sentences import without_or_with
from app_pages.masks.word_stroke import MaskedInput
from app_pages.show.show import show
from app_pages.show.side_predictions import beside, tell
from app_pages.subject import as_python
from app_pages.subject.answer import Answer
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import plain
from model.capture import capture
from model.capture.intervention import Intervention, MaskChoice, Method, masked
from model.experiments.masked_word import AnswerRead
from model.experiments.probabilities import probabilities
from model.measures.changes import value_range, weight_on_masked
from model.measures.head_measures import softmax_normaliser, weight_sums
from viz.attention.token_strip import row_sums
from viz.builders.number_format import format_number, format_tex, head_name

SIZE = 4
SHOWN = 2  # components of a value: as many as there is room for
MINUS_INFINITY = r"-\infty"
ZEROED = r"$A_{ij} \cdot 0$ after the softmax"
# How a mask is applied, and whether the finite number is put in.
METHODS: dict[str, tuple[Method, bool]] = {
    r"this encoder: the lowest float32 number instead of $s_{ij}$; a row without keys becomes 0": (
        "encoder",
        False,
    ),
    r"$-\infty$ instead of $s_{ij}$": ("replaced", False),
    r"$c$ instead of $s_{ij}$": ("replaced", True),
    r"$s_{ij} + c$": ("added", True),
    ZEROED: ("zeroed", False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedHead:
    """One head's map and the encoder's answer under one method of masking; NaN if a row has only scores of -inf."""

    mask: np.ndarray  # [query, key]
    pattern: np.ndarray  # [query, key]
    answers: np.ndarray  # [answer], as experiments return them for what is measured


def draw_methods(view: MaskedInput, answer: Answer, slots: Slots) -> None:
    """Draws two tables with a row for each method of masking: for the chosen mask, and for a query that may attend to no key."""
    subject, choice, query = view.subject, view.choice, view.query
    with slots.controls:
        number_name = NUMBER.choose()
    head = head_name(*view.head)
    arguments = (subject, choice, *view.head, NUMBERS[number_name], answer.for_experiments)
    if view.changes_nothing:
        st.info(
            f"Nothing is masked. Choose a mask under “View”, or hide a {subject.record.unit} under “Step by step”: here it is applied "
            "in five ways."
        )
    else:
        mask = plain(without_or_with(choice, subject.record))
        st.markdown(
            f"**Does it matter how a mask is applied?** {mask}: the same mask, applied in five ways, seen in {head}"
        )
        by_method: dict[str, MaskedHead] = _masked_head_by_method(*arguments)
        _draw_table(by_method, answer, _head_cells)
        st.markdown(
            "Multiplied by 0 **after** the softmax, the remaining weights are not renormalised: the rows add up "
            "to less than 1."
        )
        zeroed = as_python.record(subject.under(masked(choice, "zeroed"))).pattern[view.head]
        pattern = zeroed.with_value(lambda: by_method[ZEROED].pattern)
        show(call(row_sums, pattern, view.after.record.tokens, query=query), key="masks_row_sums")

    st.markdown(f"**A fully masked row: query {query} may attend to no key in {head}**")
    fully_masked: dict[str, MaskedHead] = _masked_head_by_method(*arguments, closed=query)
    _draw_table(fully_masked, answer, lambda result: _row_cells(result, query))
    st.markdown(
        r"$-\infty$ in a whole row makes its softmax $0 / 0$, which is NaN, and so is all that is computed "
        "from it; in the last layer it reaches the prediction only if that is read from this row. A finite "
        r"$c$ in a whole row cancels, $e^c / \sum e^c = 1/n$: the query attends to all keys alike, masked "
        "or not. Added to a whole row, $c$ cancels too and leaves the row as if nothing were masked, "
        "unless $c$ is so large that float32 no longer holds the scores beside it. This encoder sets such "
        "a row to zeros."
    )


def _draw_table(
    by_method: Mapping[str, MaskedHead], answer: Answer, cells: Callable[[MaskedHead], dict[str, str]]
) -> None:
    """Draws a row for each method: the texts that `cells` returns by column, and the answer."""
    rows = {
        name: cells(result) | dict([answer.table_texts(result.answers)]) for name, result in by_method.items()
    }
    st.table(pd.DataFrame(rows).T)


@cached(spinner="Masking in every way …")
def _masked_head_by_method(
    subject: LiveSubject,
    choice: MaskChoice,
    layer: int,
    head: int,
    value: float,
    measured: AnswerRead,
    closed: int | None = None,
) -> dict[str, MaskedHead]:
    """Results by method; with `closed`, the chosen head also masks every key from that query. `value` is the finite number that
    some methods put in place of -inf.
    """
    row_mask = Intervention()
    if closed is not None:
        cells = tuple((closed, key) for key in range(len(subject.under(masked(choice)).record)))
        row_mask = masked(MaskChoice(kind="cells", cells=cells, layers=(layer,), heads=(head,)))
    by_method = {}
    for name, (method, is_finite) in METHODS.items():
        intervention = row_mask + masked(choice, method, value if is_finite else -math.inf)
        record = capture(
            subject.loaded, subject.model_input, intervention
        )  # not kept: ten of them would fill the cache
        by_method[name] = MaskedHead(
            mask=record.mask[layer, head].copy(),
            pattern=record.pattern[layer, head].copy(),
            answers=probabilities(subject.loaded, [subject.model_input], [intervention], measured)[0, 0],
        )
    return by_method


def _head_cells(result: MaskedHead) -> dict[str, str]:
    weight = weight_on_masked(result.pattern, result.mask)
    return {
        "largest weight on a masked cell": "none is masked" if weight is None else _number_text(weight),
        "rows add up to": _span(weight_sums(result.pattern)),
    }


def _row_cells(result: MaskedHead, query: int) -> dict[str, str]:
    row = result.pattern[query]
    return {"weights of the row": _span(row), "it adds up to": _number_text(float(weight_sums(row)))}


def _span(values: np.ndarray) -> str:
    """Smallest to largest value as text; a single number if they are equal."""
    return " to ".join(dict.fromkeys(map(_number_text, value_range(values))))


def _number_text(value: float) -> str:
    return format_number(value, ".4g", otherwise="NaN")


# By hand


def draw_worked_example(subject: LiveSubject, chosen: HeadChoice) -> None:
    """Draws the causal mask on the first four positions: in symbols, and in the numbers of the chosen head."""
    record = subject.under(masked(MaskChoice(kind="causal"))).record
    n = min(SIZE, len(record))
    index = np.s_[chosen.layer, chosen.head, :n, :n]
    st.markdown(
        f"**A causal mask on the first {n} positions.** Query $i$ may attend to the keys $j \\le i$. Under "
        f"this mask the first {n} rows use no later position, so these rows are complete."
    )
    legend = ", ".join(f"{number} = “{token}”" for number, token in enumerate(record.tokens[:n], start=1))
    tell(f"Counted from 1, as on paper: {legend}.")
    symbol_column, number_column = beside("worked_example")
    with symbol_column:
        st.markdown("In symbols")
        for formula in masked_symbols_tex(n):
            st.latex(formula)
        st.latex(r"Z_i = \sum_{j \le i} e^{s_{ij}}")
        st.latex(r"\mathrm{out} = A\,V, \qquad \mathrm{out}_i = \sum_{j \le i} A_{ij}\, v_j")
    with number_column:
        st.markdown(f"In {head_name(chosen.layer, chosen.head)}, causal in all layers")
        for formula in masked_numbers_tex(record.scores[index], record.pattern[index]):
            st.latex(formula)
        values, outputs = (vectors[chosen.layer, chosen.head, :n, :SHOWN] for vectors in (record.v, record.z))
        st.latex(output_tex(values, outputs))
        if record.v.shape[-1] > SHOWN:
            st.caption(f"The first {SHOWN} of {record.v.shape[-1]} components of each value.")


def masked_symbols_tex(n: int) -> tuple[str, str]:
    """LaTeX of the masked scores and of the pattern of `n` positions under a causal mask; the first row has one key, whose weight
    is 1.
    """
    scores = _lower_triangle(n, lambda i, j: f"s_{{{i + 1}{j + 1}}}", MINUS_INFINITY)
    pattern = _lower_triangle(n, lambda i, j: f"e^{{s_{{{i + 1}{j + 1}}}}} / Z_{i + 1}" if i else "1", "0")
    return f"S + M = {scores}", f"A = {pattern}"


def masked_numbers_tex(scores: np.ndarray, pattern: np.ndarray) -> tuple[str, str, str]:
    """LaTeX of the masked `scores`, of the `pattern` (both [query, key]), and of the last row's softmax denominator Z."""
    n = len(scores)
    terms = " + ".join(f"e^{{{format_tex(score, '.2f')}}}" for score in scores[-1])
    return (
        f"S + M = {_lower_triangle(n, lambda i, j: format_tex(scores[i, j], '.2f'), masked=MINUS_INFINITY)}",
        f"A = {_lower_triangle(n, lambda i, j: f'{pattern[i, j]:.3f}', masked='0')}",
        rf"Z_{n} = {terms} = {format_tex(float(softmax_normaliser(scores[-1])), '#.4g')}",
    )


def output_tex(values: np.ndarray, out: np.ndarray) -> str:
    """LaTeX of the values V and of the output A V, both [position, component], side by side."""
    v, product = (
        r"\begin{pmatrix} "
        + r" \\ ".join(" & ".join(format_tex(x, ".2f") for x in row) for row in rows)
        + r" \end{pmatrix}"
        for rows in (values, out)
    )
    return rf"V = {v}, \quad \mathrm{{out}} = A\,V = {product}"


def _lower_triangle(n: int, allowed: Callable[[int, int], str], masked: str) -> str:
    """LaTeX matrix n × n with `allowed(row, column)`, indices from 0, up to the diagonal and `masked` above it."""
    rows = ([allowed(i, j) if j <= i else masked for j in range(n)] for i in range(n))
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"
