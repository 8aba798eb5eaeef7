"""Matrices side by side, the last of which is the sum of the others."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ..builders.figure import PlotlyFigure, need_shape
from ..builders.heatmap import as_text, axis_title, colour_scale, position_labels, token_ticks
from ..builders.matrix_panels import heading, panels
from ..builders.palette import largest

_BETWEEN = 0.03  # maps, of the width
_TOKEN, _LOWEST, _HIGHEST = 20, 160, 640  # pixels


def sum_of_maps(maps: Mapping[str, np.ndarray], tokens: Sequence[str]) -> PlotlyFigure:
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
    rows = {"type": "category", "autorange": "reversed"}
    unlabelled = rows | {"matches": "y", "showticklabels": False}
    traces, layout = panels(
        [
            {
                "y": as_text(labels),
                "z": values,
                "hovertemplate": f"{name}<br>token '%{{y}}', dimension %{{x}}<br>value %{{z:.5f}}<extra></extra>",
            }
            for name, values in maps.items()
        ],
        domains=domains,
        across=[{"title": axis_title("output dimension")}] * len(maps),
        down=[rows | token_ticks() | {"title": axis_title("token")}, *[unlabelled] * (len(maps) - 1)],
        colours=colours,
        height=int(np.clip(_TOKEN * len(tokens), _LOWEST, _HIGHEST)) + 150,
        margin={"l": 10, "r": 10, "t": 100, "b": 10},
        annotations=[heading(name, sum(domain) / 2) for name, domain in zip(maps, domains, strict=True)],
    )
    columns = pd.MultiIndex.from_product([maps, range(next(iter(maps.values())).shape[1])])
    frame = pd.DataFrame(np.hstack(list(maps.values())), index=labels, columns=columns)
    description = "Heatmaps of a row a token, side by side: " + ", ".join(maps)
    return PlotlyFigure(frame, traces, layout, description)
