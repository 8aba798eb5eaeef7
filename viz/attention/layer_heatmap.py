"""What one query attends to in each layer: a row for each layer, a column for each key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..builders.figure import need_shape
from ..builders.heatmap import attention_scale, heatmap, position_labels
from ..builders.heatmap_figure import Heatmap
from ..builders.number_format import format_number, two_digits
from ..builders.palette import ROUNDING, TO_ONE, WeightScale
from ..builders.token_label import cells
from .token_heatmaps import MOST_WRITTEN

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord

_ROW, _AROUND = 26, 150  # pixels: a layer; heading, colours and margins
_LETTER, _LINE = 8, 20  # pixels: a letter of the names of keys, and a note below them


def layer_heatmap(
    record: "AttentionRecord",
    weights: np.ndarray,
    *,
    query: int,
    layer: int | None = None,
    mask: np.ndarray | None = None,
    scale: WeightScale = TO_ONE,
    what: str = "",
    notes: Sequence[str] = (),
) -> Heatmap:
    """A heatmap of the weights [layer, key] with which the `query` of the record attends to each key in each layer.

    The row of `layer` is framed. Cells that `mask` [layer, key] forbids (False) are hatched. `what` says whose weights
    these are, such as "mean over the heads"; `notes` are lines below the map. Raises ValueError where the shapes do not
    fit.
    """
    n_layers, n_keys = len(weights), len(record.attended)
    need_shape((n_layers, n_keys), weights=weights)
    if mask is not None:
        need_shape((n_layers, n_keys), mask=mask)
    keys = position_labels(record.attended.tokens, None if record.keys is not None else record.numbers)
    name = position_labels(record.tokens, record.numbers)[query]
    title = f"What “{name}” attends to in each layer{f', {what}' * bool(what)}"
    strongest = ", ".join(
        f"L{index} {_strongest(row, keys)} {format_number(float(row.max()), '.2f')}"
        for index, row in enumerate(weights)
        if row.size
    )
    names = round(_LETTER * max(map(cells, keys), default=0))
    texts = None
    if n_keys <= MOST_WRITTEN:
        texts = np.array([[two_digits(weight) for weight in row] for row in weights], object)
        if mask is not None:
            texts[~mask] = ""
    return heatmap(
        weights,
        x=keys,
        y=[f"L{index}" for index in range(n_layers)],
        titles=("", "layer"),
        notes=notes,
        colours=attention_scale(scale, n_keys),
        cell="%{y} → key '%{x}'",
        title=title,
        description=f"{title}, layers down, keys across. Strongest: {strongest}",
        mask=mask,
        written=texts,
        framed=None if layer is None else (range(n_keys), range(layer, layer + 1)),
        height=_AROUND + _ROW * n_layers + names + _LINE * len(notes),
        tokens="x",
    )


def _strongest(row: np.ndarray, keys: Sequence[str]) -> str:
    """The key with the largest of the weights, or how many share it."""
    indices = np.flatnonzero(row >= row.max() - ROUNDING)
    return keys[indices[0]] if len(indices) == 1 else f"{len(indices)} keys alike"
