"""Heatmaps of position vectors: their values, their similarities, and the matrix that shifts them."""

from collections.abc import Sequence

import numpy as np

from ..builders.figure import need_shape
from ..builders.heatmap import colour_scale, heatmap
from ..builders.heatmap_figure import Heatmap
from ..builders.palette import largest


def similarity_of_positions(cosines: np.ndarray, names: Sequence[str]) -> Heatmap:
    """A heatmap of cosine similarities [position, position], coloured from -1 to 1; all `names` must differ.

    Raises ValueError where the shapes do not fit each other.
    """
    n_positions = len(names)
    need_shape((n_positions, n_positions), cosines=cosines)
    return heatmap(
        cosines,
        x=names,
        y=names,
        titles=("position", "position"),
        colours=colour_scale("cosine similarity", "−1 to 1", 1),
        cell="positions %{y} and %{x}",
        height=640,
        square=True,
        description=f"Cosine similarities of the position vectors of {n_positions} positions, all pairs",
    )


def learned_positions(table: np.ndarray) -> Heatmap:
    """A heatmap of the position vectors [position, d_model] of a checkpoint, position 0 on top, coloured
    symmetrically about 0.
    """
    n_positions, d_model = table.shape
    return heatmap(
        table,
        titles=("dimension of d_model", "position"),
        colours=colour_scale("value", "symmetric about 0", largest(table)),
        cell="position %{y}, dimension %{x}",
        height=560,
        description=f"The position vectors of {n_positions} positions, {d_model} numbers each",
    )


def sinusoid_table(rows: np.ndarray, *, position: int, dimensions: Sequence[int] = ()) -> Heatmap:
    """A heatmap of sinusoids [position, d_model] from -1 to 1; the row `position` is framed, `dimensions` are marked
    above.

    Raises ValueError where the row or a dimension is not in the table.
    """
    n_positions, d_model = rows.shape
    if not 0 <= position < n_positions or not all(0 <= dimension < d_model for dimension in dimensions):
        raise ValueError(
            f"no position {position} or dimension {list(dimensions)} in a table of {n_positions}×{d_model}"
        )
    return heatmap(
        rows,
        titles=("dimension i", "position t"),
        colours=colour_scale("sine (even i) or cosine (odd i)", "−1 to 1", 1),
        cell="position t = %{y}<br>dimension i = %{x}",
        number="<br>value %{z:.4f}",
        height=440,
        framed=(range(d_model), range(position, position + 1)),
        shown=(range(d_model), range(n_positions)),  # the marks stand at the edge
        marked=dimensions,
        description=f"Heatmap of {n_positions} positions by {d_model} dimensions: narrow stripes on the left, "
        "wide ones on the right",
    )


def shift_of_positions(matrix: np.ndarray, *, pair: int) -> Heatmap:
    """A heatmap of the matrix [d_model, d_model] that shifts sinusoids by rotating pairs; the block of `pair` is
    framed.

    Raises ValueError where the matrix is not square or has no such block.
    """
    d_model = len(matrix)
    if matrix.shape != (d_model, d_model) or not 0 <= 2 * pair < d_model:
        raise ValueError(f"no block {pair} in a matrix of {matrix.shape}")
    block = range(2 * pair, 2 * pair + 2)
    return heatmap(
        matrix,
        titles=("dimension of p at t", "dimension of p at t + φ"),
        colours=colour_scale("entry of M", "−1 to 1", 1),
        cell="row %{y}, column %{x}",
        number="<br>value %{z:.4f}",
        height=420,
        square=True,
        framed=(block, block),
        description=f"Heatmap of the {d_model}×{d_model} shift matrix: blocks of two by two along the diagonal",
    )


def pairs_of_positions(matrix: np.ndarray, *, what: str) -> Heatmap:
    """A heatmap of a quantity `what`, such as a dot product, for each pair of positions [s, t].

    Colours go from 0 to the largest value, or symmetrically about 0 where some are negative. Raises ValueError where
    the matrix is not square.
    """
    need_shape((len(matrix),) * 2, matrix=matrix)
    signed = bool((matrix < 0).any())
    range_text = "symmetric about 0" if signed else "0 to the maximum"
    return heatmap(
        matrix,
        titles=("position t", "position s"),
        colours=colour_scale(what, range_text, largest(matrix), signed=signed),
        cell="s = %{y}, t = %{x}",
        number="<br>value %{z:.4f}",
        height=420,
        square=True,
        description=f"Symmetric map of the {what} of {len(matrix)} positions with each other: "
        "constant along diagonals",
    )
