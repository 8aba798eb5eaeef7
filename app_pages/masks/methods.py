"""The same mask applied by every method found in code, measured on the chosen head and on the answer."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from app_pages.controls.answer_choice import Answer
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.masks_controls import NUMBER, NUMBERS
from app_pages.masks.mask_sentences import without_or_with
from app_pages.show.show import show
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.markdown import plain
from model.capture import capture
from model.capture.intervention import Intervention, MaskChoice, Method, masked
from model.experiments.masked_word import MaskedWord
from model.experiments.probabilities import probabilities
from model.measures.changes import cosine_distance, value_range, weight_on_masked
from model.measures.head_measures import weight_sums
from model.record import ForwardRecord
from viz.attention.token_bars import row_sums
from viz.builders.number_format import format_number, head_name, percent, share_of

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
    """One head and the answer under one method of masking; NaN where all scores of a row are -inf."""

    mask: np.ndarray  # [query, key]
    pattern: np.ndarray  # [query, key]
    probabilities: np.ndarray  # [class]
    pooled: np.ndarray  # [d_model]
    log_probability: float | None  # of the masked word, in nats, where that is the answer


def draw_methods(
    subject: LiveSubject,
    chosen: HeadChoice,
    unmasked: ForwardRecord,
    after: ForwardRecord,
    choice: MaskChoice,
    query: int,
    answer: Answer,
    slots: Slots,
) -> None:
    """Draws two tables: the chosen mask, and a fully masked row, each under every method of masking.

    `unmasked` has the same positions as `after`, which is under the mask.
    """
    with slots.controls:
        number_name = NUMBER.choose()
    head = head_name(chosen.layer, chosen.head)
    arguments = (subject, choice, chosen.layer, chosen.head, NUMBERS[number_name], answer.word)
    st.markdown(
        f"**{plain(without_or_with(choice, subject.record))}: the same mask, applied in five ways, seen in {head}**"
    )
    by_method: dict[str, MaskedHead] = _masked_head_by_method(*arguments)
    forbids_nothing = (after.mask == unmasked.mask).all()
    if forbids_nothing:
        st.info("This mask hides nothing, so every way gives the same. Another one is chosen under “View”.")
    rows = {name: _measured(result) | _answer(result, unmasked, answer) for name, result in by_method.items()}
    st.table(pd.DataFrame(rows).T)
    if not forbids_nothing:
        st.markdown(
            "Multiplied by 0 **after** the softmax, the remaining weights are not renormalised: the rows add up "
            "to less than 1."
        )
        show(row_sums(by_method[ZEROED].pattern, after.tokens, query=query), key="masks_row_sums")

    st.markdown(f"**A fully masked row: query {query} may attend to no key in {head}**")
    fully_masked: dict[str, MaskedHead] = _masked_head_by_method(*arguments, closed=query)
    rows = {
        name: _row(result, query) | _answer(result, unmasked, answer) for name, result in fully_masked.items()
    }
    st.table(pd.DataFrame(rows).T)
    st.markdown(
        r"$-\infty$ in a whole row makes its softmax $0 / 0$, which is NaN, and so is all that is computed "
        "from it; in the last layer it reaches the prediction only if that is read from this row. A finite "
        r"$c$ in a whole row cancels, $e^c / \sum e^c = 1/n$: the query attends to all keys alike, masked "
        "or not. Added to a whole row, $c$ cancels too and leaves the row as if nothing were masked, "
        "unless $c$ is so large that float32 no longer holds the scores beside it. This encoder sets such "
        "a row to zeros."
    )


@cached(spinner="Masking in every way …")
def _masked_head_by_method(
    subject: LiveSubject,
    choice: MaskChoice,
    layer: int,
    head: int,
    value: float,
    word: MaskedWord | None,
    closed: int | None = None,
) -> dict[str, MaskedHead]:
    """Results by method; if `closed` is a query, the chosen head masks it from every key."""
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
            probabilities=record.probabilities,
            pooled=record.pooled,
            log_probability=None
            if word is None
            else float(probabilities(subject.loaded, [subject.model_input], [intervention], word)[0, 0, 0]),
        )
    return by_method


def _measured(result: MaskedHead) -> dict[str, str]:
    weight = weight_on_masked(result.pattern, result.mask)
    return {
        "largest weight on a masked cell": "none is masked" if weight is None else _number_text(weight),
        "rows add up to": _span(weight_sums(result.pattern)),
    }


def _row(result: MaskedHead, query: int) -> dict[str, str]:
    row = result.pattern[query]
    return {"weights of the row": _span(row), "it adds up to": _number_text(float(weight_sums(row)))}


def _span(values: np.ndarray) -> str:
    """Smallest to largest value as text; a single number if they are equal."""
    return " to ".join(dict.fromkeys(map(_number_text, value_range(values))))


def _number_text(value: float) -> str:
    return format_number(value, ".4g", otherwise="NaN")


def _answer(result: MaskedHead, unmasked: ForwardRecord, answer: Answer) -> dict[str, str]:
    if result.log_probability is not None:
        number = format_number(result.log_probability, "+.4g", otherwise="NaN")
        return {f"log P({plain(answer.name)}) in nats": number}
    if not unmasked.has_classes:
        distance = float(cosine_distance(unmasked.pooled, result.pooled))
        return {"cosine distance of the pooled state": format_number(distance, ".4g", otherwise="NaN")}
    top_probability = result.probabilities.max()
    if math.isnan(top_probability):
        return {"prediction": "none: every probability is NaN"}
    return {
        "prediction": f"{unmasked.class_names[result.probabilities.argmax()]}, {percent(share_of(result.probabilities, int(result.probabilities.argmax())), 4)}"
    }
