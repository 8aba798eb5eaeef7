"""Matrices that add up, side by side in the same colours: a row a token, a column an output dimension."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from viz.figure import PlotlyFigure
from viz.heatmap import STANDOFF, as_text, colour_scale, heading, panels, position_labels
from viz.palette import largest

_BETWEEN = 0.03  # maps, of the width
_ROW, _LOWEST, _HIGHEST = 20, 160, 640  # pixels


def sum_of_maps(maps: Mapping[str, np.ndarray], tokens: Sequence[str]) -> PlotlyFigure:
    """Values [position, dimension] of each of `maps`, under its name, on one scale symmetric about 0.

    Raises ValueError where one of them has not a row a token.
    """
    if wrong := {name: values.shape for name, values in maps.items() if len(values) != len(tokens)}:
        raise ValueError(f"{len(tokens)} tokens need as many rows, got {wrong}")
    labels = position_labels(tokens)
    end = largest(np.stack(list(maps.values())))
    colours = colour_scale("value", "symmetric about 0", end)
    colours["colorbar"] |= {"ypad": 20}
    wide = (1 - _BETWEEN * (len(maps) - 1)) / len(maps)
    places = [(at * (wide + _BETWEEN), at * (wide + _BETWEEN) + wide) for at in range(len(maps))]
    rows = {"type": "category", "autorange": "reversed"}
    others = rows | {"matches": "y", "showticklabels": False}
    figure = panels(
        [
            {
                "y": as_text(labels),
                "z": values,
                "hovertemplate": f"{name}<br>token '%{{y}}', dimension %{{x}}<br>value %{{z:.5f}}<extra></extra>",
            }
            for name, values in maps.items()
        ],
        places=places,
        across=[{"title": {"text": "output dimension", "standoff": STANDOFF}}] * len(maps),
        down=[rows | {"title": {"text": "token"}}, *[others] * (len(maps) - 1)],
        colours=colours,
        height=int(np.clip(_ROW * len(tokens), _LOWEST, _HIGHEST)) + 150,
        margin={"l": 10, "r": 10, "t": 96, "b": 10},
        annotations=[heading(name, sum(place) / 2, 16) for name, place in zip(maps, places, strict=True)],
    )
    columns = pd.MultiIndex.from_product([maps, range(next(iter(maps.values())).shape[1])])
    frame = pd.DataFrame(np.hstack(list(maps.values())), index=labels, columns=columns)
    description = "Heatmaps of a row a token, side by side: " + ", ".join(maps)
    return PlotlyFigure(frame, figure, description)
