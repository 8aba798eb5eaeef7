"""Lengths of the vectors of the residual stream: a row for each stage, a column for each token."""

from collections.abc import Sequence

import numpy as np

from ..builders.figure import need_shape
from ..builders.heatmap import colour_scale, heatmap, position_labels
from ..builders.heatmap_figure import Heatmap

_STEP = 26  # pixels a stage


def norm_heatmap(
    norms: np.ndarray,
    stages: Sequence[str],
    tokens: Sequence[str],
    *,
    limit: float,
    unit: str = "token",
    title: str = "",
) -> Heatmap:
    """A heatmap of norms [stage, position], coloured from 0 to `limit`, which both sides share.

    `unit` says what the tokens are, such as "patch". Raises ValueError where the shapes do not fit.
    """
    need_shape((len(stages), len(tokens)), norms=norms)
    return heatmap(
        norms,
        x=position_labels(tokens),
        y=stages,
        titles=(unit, "stage of the stream"),
        colours=colour_scale("length of the state", "0 to the longest of both sides", limit, signed=False),
        cell="%{y}, '%{x}'",
        number=": %{z:.3f}",
        height=230 + _STEP * len(stages),
        tokens="x",
        title=title,
        description=f"Length of the states of {title}, a row a stage",
    )
