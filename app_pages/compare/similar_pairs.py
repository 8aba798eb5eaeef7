"""Why two inputs of one encoder are similar: the cosine of their pooled states as a sum over pairs of their tokens or patches."""

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.estimated_work import A_SECOND, Wanted, is_wanted, multiply_adds
from app_pages.show.show import Size, show
from app_pages.show.side_predictions import NUMBERS
from app_pages.subject import as_python
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import plain, sentence
from model.inputs import Input
from model.record import Positions
from model.similarity.similarity_parts import BIASES, OWN_STATE, SimilarityParts, similarity_parts
from viz.attention.picture_patches import signed_patches
from viz.attention.token_strip import signed_strip
from viz.builders.number_format import format_number
from viz.builders.palette import ROUNDING, largest_absolute
from viz.similarity.similarity_matrix import MOST_CELLS, similarity_matrix

OTHERS = {
    OWN_STATE: "the rest of that state, such as what it was before the last layer",
    BIASES: "what the layers behind the pooling add to the state of any input",
}
_ADDS = "adds to the cosine similarity"
_SIDE = 320  # pixels of a picture: its colour bar is in sight at 1280 × 800
_SECONDS = 5  # of work that begins without a button, since the view was chosen


def draw_pairs(_slots: Slots, first: Side, second: Side) -> None:
    """Draws each pair's part of the cosine as a matrix, and both inputs coloured by the sums of its rows and columns."""
    try:
        source = parts_expression(first, second.model_input)
        parts: SimilarityParts = source()
    except ValueError as error:
        st.info(plain(sentence(error)))
        return
    unit = "patch" if first.record.patch_grid else "word"
    words = parts.values[: len(parts.a), : len(parts.b)]
    cell = np.unravel_index(np.abs(words).argmax(), words.shape)
    st.markdown(
        f"**Which pairs of {unit}{'es' if unit == 'patch' else 's'} make the two inputs alike?** Their cosine similarity "
        f"**{format_number(parts.total, '.4f')}** (1: same direction) is the sum of the {' × '.join(map(str, parts.values.shape))} cells. "
        f"{_other_rows_sentence(parts, unit)}"
        f"{pair_name(parts.a, parts.b, cell)} adds {format_number(float(words[cell]), '+.3g')}, the strongest pair of {unit}{'es' if unit == 'patch' else 's'}."
    )
    st.caption(_cell_caption(first, second), help=_cell_help(first, parts, unit))
    draw_cells(first, second, source, sums_of_cells(source, parts), others=parts.others)


def pair_name(a: Positions, b: Positions, cell: Sequence[np.intp]) -> str:
    """The two words or patches that belong to a cell (row, column), such as “good” × “great”."""
    return " × ".join(f"“{plain(side.tokens[index])}”" for side, index in zip((a, b), cell, strict=True))


def is_view_wanted(first: Side, second: Side, what: Hashable, n_forwards: int, label: str) -> bool:
    """Whether to compute a view now: its estimated `n_forwards` forward passes take a few seconds at most, or the button `label`,
    drawn otherwise, is pressed. `what` identifies the work.
    """
    longer = max((first.subject, second.subject), key=lambda subject: len(subject.record))
    n_multiply_adds = n_forwards * multiply_adds(longer.loaded.config, len(longer.record))
    chosen = Wanted(is_requested=n_multiply_adds <= _SECONDS * A_SECOND)
    return is_wanted(longer, what, n_forwards, label, "compute_similarity", wanted=chosen)


def sums_of_cells(source: Expression, parts: SimilarityParts) -> tuple[Expression, Expression]:
    """Row sums, one for each token of the first input, and column sums, one for each token of the second; rows and columns that
    belong to no token are left out.
    """
    rows, columns = call(source.values.sum, axis=1), call(source.values.sum, axis=0)
    return rows[: len(parts.a)], columns[: len(parts.b)]


def draw_cells(
    first: Side,
    second: Side,
    source: Expression,
    colours: tuple[Expression, Expression],
    *,
    by: tuple[str, str] = ("the sums of its rows", "the sums of its columns"),
    what: str = _ADDS,
    **options: Any,
) -> None:
    """Draws `source`, a result with `values` [row, column] and the names `rows` and `columns`, as a matrix, and beside it both
    inputs coloured by `colours`, one number for each of the tokens or patches `source.a` and `source.b`.

    `what` and `by` name these numbers in captions; `options` go to `similarity_matrix`.
    """
    limit = largest_absolute(np.concatenate([values() for values in colours]), at_least=ROUNDING)
    is_text = first.is_text
    width: Size = "stretch" if is_text else "content"
    with st.container(horizontal=True, gap="medium"):
        if is_text:
            _draw_matrix(source, options)
        with st.container(width=width, horizontal=not is_text):
            sides = zip(NUMBERS, (first, second), (source.a, source.b), colours, by, strict=False)
            for number, side, positions, values, title in sides:
                with st.container(width=width):
                    st.markdown(f"The {side.title}, by {title}")
                    figure = _coloured_input(side, positions, values, limit, what)
                    show(figure, key=f"similarity_{number}", width=width)
        if not is_text:  # after the pictures, which answer the question: of so many patches it is large
            _draw_matrix(source, options)


def parts_expression(side: Side, other: Input) -> Expression:
    """The cosine between `side`'s input and `other` as parts of pairs, by words for texts, as an expression."""
    result = as_python.computed(side.subject, similarity_parts, as_python.input_expression(other))
    compute = partial(
        side.subject.compute, similarity_parts, other, spinner="Dividing the cosine similarity …"
    )
    parts = named("alike", result, compute)
    return named("by_word", call(parts.by_word)) if side.is_text else parts


def _coloured_input(
    side: Side, positions: Expression, values: Expression, limit: float, what: str
) -> Expression:
    """Figure of a text or a picture, coloured by one number for each token or patch on a scale to ±`limit`."""
    record = side.record
    if record.patch_grid is None:
        return call(signed_strip, positions, values, limit=limit, what=what)
    return call(
        signed_patches,
        as_python.seen_picture(side.subject),
        values[record.patches.start : record.patches.stop],
        record.patch_grid,
        limit=limit,
        what=what,
        side=_SIDE,
        description=f"The {side.title}, coloured by what each patch {what}",
    )


def _draw_matrix(source: Expression, options: dict[str, Any]) -> None:
    values = source.values()
    with st.container(width="content"):
        if values.size > MOST_CELLS:
            size = " × ".join(f"{n:,}" for n in values.shape)
            st.info(
                f"The matrix of {size} pairs is too large to be drawn; the inputs are coloured beside it."
            )
            return
        matrix = call(similarity_matrix, source.values, source.rows, source.columns, **options)
        show(matrix, key="similarity_matrix", width="content")


def _other_rows_sentence(parts: SimilarityParts, unit: str) -> str:
    """What all pairs of two words or patches (`unit`) add, and what the rows and columns add that belong to none; "" without
    such rows."""
    names = dict.fromkeys(parts.rows[len(parts.a) :] + parts.columns[len(parts.b) :])
    if not names:
        return ""
    own = float(parts.values[: len(parts.a), : len(parts.b)].sum())
    others = "; ".join(f"“{name}”: {OTHERS.get(name, 'what belongs to no ' + unit)}" for name in names)
    return (
        f"Pairs of two {unit}{'es' if unit == 'patch' else 's'} add {format_number(own, '+.4f')}, the other rows and columns "
        f"{format_number(parts.total - own, '+.4f')} ({others}). "
    )


def _cell_caption(first: Side, second: Side) -> str:
    """Caption on what the colours mean."""
    text = "Gold: the pair makes them more alike; purple: less."
    if first.record.patch_grid:
        text += " r2c3 is row 2, column 3, counted from 0."
    if first.subject == second.subject:
        text += " The two inputs are the same."
    return text


def _cell_help(first: Side, parts: SimilarityParts, unit: str) -> str:
    """Text on how a cell is computed, and how far the sum is from the cosine that the encoder's own pooled states have."""
    states = f"the last state of a {unit} of the first input and that of one of the second"
    if parts.divided != "last states":
        states = f"{plain(parts.divided)} from a {unit} of the first input and from one of the second"
    gap = format_number(parts.gap, ".1g").replace(" ", "\N{NO-BREAK SPACE}")
    text = (
        f"A cell is the product of {states}, divided by the lengths of the two pooled states, which are compared. The encoder's own number is "
        f"{format_number(parts.recorded, '.4f')} (difference {gap})."
    )
    if any(parts.others):
        text += f" The colours end at the largest pair of two {unit}{'es' if unit == 'patch' else 's'}; other cells may be far beyond."
    if first.record.has_classes:
        text += (
            " This encoder was trained to tell classes apart, not to compare inputs: compared are the pooled states "
            "that its classifier reads."
        )
    return text
