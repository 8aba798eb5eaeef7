"""Matrices side by side, the last of which is the sum of the others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..builders.figure import need_shape
from ..builders.heatmap import colour_scale, panels_beside, position_labels
from ..builders.heatmap_figure import Axis, Heatmap, Panel, token_ticks
from ..builders.palette import largest

_BETWEEN = 0.03  # maps, of the width
_TOKEN, _LOWEST, _HIGHEST = 20, 160, 640  # pixels


def sum_of_maps(maps: Mapping[str, np.ndarray], tokens: Sequence[str]) -> Heatmap:
    """Heatmaps [position, dimension] of all `maps`, each under its name, with one colour scale symmetric about 0.

    Raises ValueError if a map does not have a row for each token.
    """
    need_shape((len(tokens), ...), **maps)
    labels = position_labels(tokens)
    max_value = largest(np.stack(list(maps.values())))
    colours = colour_scale("value", "symmetric about 0", max_value)
    panel_width = (1 - _BETWEEN * (len(maps) - 1)) / len(maps)
    domains = [
        (index * (panel_width + _BETWEEN), index * (panel_width + _BETWEEN) + panel_width)
        for index in range(len(maps))
    ]
    order = {"type": "category", "autorange": "reversed"}
    rows = Axis(
        shown=range(len(labels)),
        title="token",
        names=labels,
        are_tokens=True,
        options=order | token_ticks(),
    )
    unnamed = replace(
        rows, title="", is_named=False, options=order | {"matches": "y", "showticklabels": False}
    )
    panels = [
        Panel(
            values=values,
            colours=colours,
            x=Axis(shown=range(values.shape[1]), title="output dimension"),
            y=unnamed if index else rows,
            cell=f"{name}<br>token '%{{y}}', dimension %{{x}}",
            number="<br>value %{z:.5f}",
            name=name,
            domain=domain,
        )
        for index, ((name, values), domain) in enumerate(zip(maps.items(), domains, strict=True))
    ]
    columns = pd.MultiIndex.from_product([maps, range(next(iter(maps.values())).shape[1])])
    return panels_beside(
        panels,
        numbers=pd.DataFrame(np.hstack(list(maps.values())), index=labels, columns=columns),
        description="Heatmaps of a row a token, side by side: " + ", ".join(maps),
        height=int(np.clip(_TOKEN * len(tokens), _LOWEST, _HIGHEST)) + 150,
        margin={"l": 10, "r": 10, "t": 100, "b": 10},
    )
