"""Matrices beside each other in the same colours: what adds up to what, and Attention(P X) = P Attention(X)."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from .figure import PlotlyFigure, need_shape
from .heatmap import CLEAR, PLAIN_AXIS, STANDOFF, as_text, colour_scale, position_labels
from .palette import ACCENT, EMPHASIS, NEUTRAL, largest

_BETWEEN = 0.03  # maps, of the width
_TOKEN, _LOWEST, _HIGHEST = 20, 160, 640  # pixels
_NAMED = 56  # beyond so many rows the tokens are under the pointer alone
_ROW, _LEAST, _MOST = 20, 240, 740  # pixels a row, and the height of all of them
_ABOVE, _BELOW = 130, 90  # pixels, for colour bar and titles, and for the axes
_BAR = 44  # pixels from the plots up to the colour bar, past the titles
# Where the panels begin and end, as shares of the width: tokens are named before the first and the third.
_PLACES = ((0.0, 0.19), (0.25, 0.5), (0.64, 0.83), (0.87, 1.0))


def panels(
    traces: Sequence[dict],
    *,
    places: Sequence[tuple[float, float]],
    across: Sequence[dict],
    down: Sequence[dict],
    colours: dict,
    **layout: object,
) -> tuple[list[dict], dict]:
    """Traces and layout of heatmaps beside each other, in the same `colours` of `colour_scale` where a trace has none of its own.

    `places` are where each begins and ends, as shares of the width, `across` and `down` what its axes have that no
    other has, `layout` the rest of Plotly's layout.
    """
    coloraxis = {"cmin": colours["zmin"], "cmax": colours["zmax"], "colorscale": colours["colorscale"]}
    drawn = []
    axes = {}
    for number, (trace, place, x, y) in enumerate(zip(traces, places, across, down, strict=True), start=1):
        each = "" if number == 1 else number
        own = {"type": "heatmap", "xaxis": f"x{each}", "yaxis": f"y{each}"}
        drawn.append(own | ({} if "zmin" in trace else {"coloraxis": "coloraxis"}) | trace)
        axes[f"xaxis{each}"] = PLAIN_AXIS | {"domain": place, "anchor": f"y{each}"} | x
        axes[f"yaxis{each}"] = PLAIN_AXIS | {"anchor": f"x{each}"} | y
    return drawn, {**axes, "coloraxis": coloraxis | {"colorbar": colours["colorbar"]}, **layout}


def heading(text: str, x: float, size: int, shift: int = 0) -> dict:
    """Of a panel, as an annotation above the middle `x`, a share of the width."""
    place = {"x": x, "xref": "paper", "xanchor": "center", "y": 1, "yref": "paper", "yanchor": "bottom"}
    return {"text": text, "font": {"size": size}, "yshift": shift, "showarrow": False, **place}


def sum_of_maps(maps: Mapping[str, np.ndarray], tokens: Sequence[str]) -> PlotlyFigure:
    """Values [position, dimension] of each of `maps`, under its name, on one scale symmetric about 0.

    Raises ValueError where one of them has not a row a token.
    """
    need_shape((len(tokens), ...), **maps)
    labels = position_labels(tokens)
    end = largest(np.stack(list(maps.values())))
    colours = colour_scale("value", "symmetric about 0", end)
    colours["colorbar"] |= {"ypad": 20}
    wide = (1 - _BETWEEN * (len(maps) - 1)) / len(maps)
    places = [(at * (wide + _BETWEEN), at * (wide + _BETWEEN) + wide) for at in range(len(maps))]
    rows = {"type": "category", "autorange": "reversed"}
    others = rows | {"matches": "y", "showticklabels": False}
    traces, layout = panels(
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
        height=int(np.clip(_TOKEN * len(tokens), _LOWEST, _HIGHEST)) + 150,
        margin={"l": 10, "r": 10, "t": 96, "b": 10},
        annotations=[heading(name, sum(place) / 2, 16) for name, place in zip(maps, places, strict=True)],
    )
    columns = pd.MultiIndex.from_product([maps, range(next(iter(maps.values())).shape[1])])
    frame = pd.DataFrame(np.hstack(list(maps.values())), index=labels, columns=columns)
    description = "Heatmaps of a row a token, side by side: " + ", ".join(maps)
    return PlotlyFigure(frame, traces, layout, description)


def permutation(
    output: np.ndarray,
    output_of_reordered: np.ndarray,
    order: np.ndarray,
    tokens: Sequence[str],
    *,
    query: int,
    holds: bool,
) -> PlotlyFigure:
    """Four panels: Attention(P X), P, Attention(X) and, of the two sides of the equation, the difference.

    `output` and `output_of_reordered` are [position, d_v]; row i of P X is row `order`[i] of X. The three with
    numbers share one colour scale, symmetric about 0. The row of the token `query` is framed in each panel;
    between the sides stands = where the equation `holds`, ≠ where it does not.
    Raises ValueError where the shapes do not fit each other.
    """
    n = len(tokens)
    need_shape((n, ...), output=output, order=order)
    need_shape(output.shape, output_of_reordered=output_of_reordered)
    labels = np.array(position_labels(tokens), dtype=object)
    texts = np.array(as_text(labels), dtype=object)
    moved = int(np.argmax(order == query)) if n else 0
    difference = output_of_reordered - output[order]
    unnamed = {"showticklabels": False}
    plots = int(np.clip(n * _ROW, _LEAST, _MOST))
    end = largest(np.stack([output, output_of_reordered]))
    colours = colour_scale("output of the head", "symmetric about 0", end)
    colours["colorbar"] |= {"y": 1 + _BAR / plots}
    widths = (output.shape[1], n, output.shape[1], output.shape[1])
    traces, layout = panels(
        [
            _of_output(output_of_reordered, texts[order], "Attention(P X)"),
            _of_p(order),
            _of_output(output, texts, "Attention(X)"),
            _of_output(difference, texts[order], "difference"),
        ],
        places=_PLACES,
        across=[
            {"title": {"text": what, "standoff": 24}, "range": [-0.5, width - 0.5], "nticks": 5}
            for what, width in zip(("component", "row of X", "component", "component"), widths, strict=True)
        ],
        down=[
            {"range": [n - 0.5, -0.5], **own}
            for own in (_names(n, texts[order]), unnamed, _names(n, texts), unnamed)
        ],
        colours=colours,
        shapes=[
            shape
            for number, (width, row) in enumerate(zip(widths, (moved, moved, query, moved), strict=True), 1)
            for shape in _frames(number, width, n, row)
        ],
        annotations=_titles("=" if holds else "≠"),
        height=plots + _ABOVE + _BELOW,
        margin={"l": 10, "r": 10, "t": _ABOVE, "b": _BELOW},
    )
    sides = ("Attention(P X)", "P Attention(X)", "difference")
    columns = pd.MultiIndex.from_product([sides, range(output.shape[1])])
    frame = np.hstack([output_of_reordered, output[order], difference])
    return PlotlyFigure(
        pd.DataFrame(frame, index=labels[order], columns=columns),
        traces,
        layout,
        "Heatmaps of the outputs for X and for P X, a row a token, side by side",
    )


def _of_output(values: np.ndarray, rows: np.ndarray, title: str) -> dict:
    return {
        "z": values,
        "customdata": np.repeat(rows[:, None], values.shape[1], axis=1),
        "hovertemplate": f"{title}<br>row %{{y}}, '%{{customdata}}'<br>component %{{x}}: %{{z:.6f}}<extra></extra>",
    }


def _of_p(order: np.ndarray) -> dict:
    return {
        "z": np.eye(len(order), dtype=np.uint8)[order],  # bytes: P of a long text has many zeros
        "zmin": 0,
        "zmax": 1,
        "colorscale": (CLEAR[0], EMPHASIS),
        "showscale": False,
        "hovertemplate": "row %{y} of P X, row %{x} of X: %{z}<extra></extra>",
    }


def _names(n: int, texts: np.ndarray) -> dict:
    if n > _NAMED:
        return {"nticks": 6}
    return {"tickvals": list(range(n)), "ticktext": list(texts), "tickfont": {"size": 11}}


def _frames(number: int, width: int, n: int, row: int) -> list[dict]:
    """Around a panel, as axis lines would keep a distance from the cells, and around a row of it."""
    axes = {"xref": f"x{number}", "yref": f"y{number}"} if number > 1 else {"xref": "x", "yref": "y"}
    across = {"type": "rect", "x0": -0.5, "x1": width - 0.5, **axes}
    whole = {"y0": -0.5, "y1": n - 0.5, "line": {"color": NEUTRAL, "width": 1}}
    return [
        across | whole,
        across | {"y0": row - 0.5, "y1": row + 0.5, "line": {"color": ACCENT, "width": 2}},
    ]


def _titles(sign: str) -> list[dict]:
    """The equation in one line above its panels, and behind it what is left of it."""
    middle = [(left + right) / 2 for left, right in _PLACES]
    equals, times, _ = ((first[1] + second[0]) / 2 for first, second in pairwise(_PLACES))
    return [
        heading("Attention(P X)", middle[0], 15, 4),
        heading(f"<b>{sign}</b>", equals, 22, 4),
        heading("P", middle[1], 15, 4),
        heading("<b>·</b>", times, 22, 4),
        heading("Attention(X)", middle[2], 15, 4),
        heading("difference", middle[3], 15, 4),
    ]
