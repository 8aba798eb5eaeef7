"""The equation Attention(P X) = P Attention(X) in panels, for an order P of the tokens X."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from ..builders.figure import PlotlyFigure, need_shape
from ..builders.heatmap import CLEAR, as_text, axis_title, colour_scale, position_labels, token_ticks
from ..builders.matrix_panels import heading, panels
from ..builders.palette import ACCENT, EMPHASIS, NEUTRAL, largest
from ..builders.theme import SMALL

_MOST_NAMED = 56  # beyond so many rows the tokens are under the pointer alone
_ROW, _LEAST, _MOST = 20, 240, 740  # pixels a row, and the height of all of them
_ABOVE, _BELOW = 100, 60  # pixels, for colour bar and titles, and for the axes
# Where the panels begin and end, as shares of the width: tokens are named before the first and the third.
_DOMAINS = ((0.0, 0.19), (0.25, 0.5), (0.64, 0.83), (0.87, 1.0))


def permutation(
    output: np.ndarray,
    output_of_reordered: np.ndarray,
    order: np.ndarray,
    tokens: Sequence[str],
    *,
    query: int,
    is_equal: bool,
) -> PlotlyFigure:
    """Four panels: Attention(P X), P, Attention(X), and the difference between the two sides of the equation.

    `output` and `output_of_reordered` are [position, d_v]; row i of P X is row `order`[i] of X. The three panels with
    numbers share one colour scale, symmetric about 0. The row of the token `query` is framed in each panel. Between
    the sides stands = if they are equal (`is_equal`), else ≠. Raises ValueError where the shapes do not fit each other.
    """
    n_tokens = len(tokens)
    need_shape((n_tokens, ...), output=output, order=order)
    need_shape(output.shape, output_of_reordered=output_of_reordered)
    labels = np.array(position_labels(tokens), dtype=object)
    texts = np.array(as_text(labels), dtype=object)
    moved_row = int(np.argmax(order == query)) if n_tokens else 0
    difference = output_of_reordered - output[order]
    unnamed = {"showticklabels": False}
    plots = int(np.clip(n_tokens * _ROW, _LEAST, _MOST))
    max_value = largest(np.stack([output, output_of_reordered]))
    colours = colour_scale("output of the head", "symmetric about 0", max_value)
    widths = (output.shape[1], n_tokens, output.shape[1], output.shape[1])
    traces, layout = panels(
        [
            _output_trace(output_of_reordered, texts[order], "Attention(P X)"),
            _order_trace(order),
            _output_trace(output, texts, "Attention(X)"),
            _output_trace(difference, texts[order], "difference"),
        ],
        domains=_DOMAINS,
        across=[
            {"title": axis_title(x_title), "range": [-0.5, width - 0.5], "nticks": 5}
            for x_title, width in zip(
                ("component", "row of X", "component", "component"), widths, strict=True
            )
        ],
        down=[
            {"range": [n_tokens - 0.5, -0.5], **options}
            for options in (_row_names(n_tokens, texts[order]), unnamed, _row_names(n_tokens, texts), unnamed)
        ],
        colours=colours,
        shapes=[
            shape
            for panel_number, (width, row) in enumerate(
                zip(widths, (moved_row, moved_row, query, moved_row), strict=True), 1
            )
            for shape in _row_frames(panel_number, width, n_tokens, row)
        ],
        annotations=_equation_headings("=" if is_equal else "≠"),
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


def _output_trace(values: np.ndarray, rows: np.ndarray, title: str) -> dict:
    return {
        "z": values,
        "customdata": np.repeat(rows[:, None], values.shape[1], axis=1),
        "hovertemplate": f"{title}<br>row %{{y}}, '%{{customdata}}'<br>component %{{x}}: %{{z:.6f}}<extra></extra>",
    }


def _order_trace(order: np.ndarray) -> dict:
    return {
        "z": np.eye(len(order), dtype=np.uint8)[order],  # bytes: P of a long text has many zeros
        "zmin": 0,
        "zmax": 1,
        "colorscale": (CLEAR[0], EMPHASIS),
        "showscale": False,
        "hovertemplate": "row %{y} of P X, row %{x} of X: %{z}<extra></extra>",
    }


def _row_names(n: int, texts: np.ndarray) -> dict:
    if n > _MOST_NAMED:
        return {"nticks": 6}
    return {"tickvals": list(range(n)), "ticktext": list(texts), **token_ticks(SMALL)}


def _row_frames(number: int, width: int, n: int, row: int) -> list[dict]:
    """Rectangles around a panel and around one of its rows; axis lines would keep a distance from the cells."""
    axes = {"xref": f"x{number}", "yref": f"y{number}"} if number > 1 else {"xref": "x", "yref": "y"}
    column_frame = {"type": "rect", "x0": -0.5, "x1": width - 0.5, **axes}
    panel_frame = {"y0": -0.5, "y1": n - 0.5, "line": {"color": NEUTRAL, "width": 1}}
    return [
        column_frame | panel_frame,
        column_frame | {"y0": row - 0.5, "y1": row + 0.5, "line": {"color": ACCENT, "width": 2}},
    ]


def _equation_headings(sign: str) -> list[dict]:
    """The equation as headings above the panels."""
    panel_centres = [(left + right) / 2 for left, right in _DOMAINS]
    equals_x, times_x, _ = (
        (left_panel[1] + right_panel[0]) / 2 for left_panel, right_panel in pairwise(_DOMAINS)
    )
    return [
        heading("Attention(P X)", panel_centres[0], 4),
        heading(f"<b>{sign}</b>", equals_x, 4),
        heading("P", panel_centres[1], 4),
        heading("<b>·</b>", times_x, 4),
        heading("Attention(X)", panel_centres[2], 4),
        heading("difference", panel_centres[3], 4),
    ]
