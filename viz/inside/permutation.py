"""Attention(P X) = P Attention(X), drawn as the equation of matrices that it is."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz.attention.token_axes import colour_bar, position_labels
from viz.palette import ACCENT, DIFFERENCE, EMPHASIS, NEUTRAL

_NAMED = 56  # beyond so many rows the tokens are under the pointer alone
_ROW, _LEAST, _MOST = 20, 240, 740  # pixels a row, and the height of all of them
_ABOVE, _BELOW = 130, 90  # pixels, for colour bar and titles, and for the axes
_BAR = 44  # pixels from the plots up to the colour bar, past the titles
# Where the panels begin and end, as shares of the width: tokens are named before the first and the third.
_PLACES = ((0.0, 0.19), (0.25, 0.5), (0.64, 0.83), (0.87, 1.0))


def permutation(
    output: np.ndarray,
    output_of_reordered: np.ndarray,
    order: np.ndarray,
    tokens: Sequence[str],
    *,
    query: int,
    holds: bool,
) -> go.Figure:
    """Four panels: Attention(P X), P, Attention(X) and, of the two sides of the equation, the difference.

    `output` and `output_of_reordered` are [position, d_v]; row i of P X is row `order`[i] of X. The three with
    numbers share one colour scale, symmetric about 0. The row of the token `query` is framed in each panel;
    between the sides stands = where the equation `holds`, ≠ where it does not.
    Raises ValueError where the shapes do not fit each other.
    """
    n = len(tokens)
    if len(output) != n or output.shape != output_of_reordered.shape or len(order) != n:
        raise ValueError(
            f"{n} tokens need as many rows, got {output.shape}, {output_of_reordered.shape} and {len(order)}"
        )
    labels = np.array(position_labels(tokens), dtype=object)
    moved = int(np.argmax(order == query)) if n else 0
    difference = output_of_reordered - output[order]
    panels = (  # a panel each: its trace, how many columns it has, and the row that is framed
        (_of_output(output_of_reordered, labels[order], "Attention(P X)"), output.shape[1], moved),
        (_of_p(order), n, moved),
        (_of_output(output, labels, "Attention(X)"), output.shape[1], query),
        (_of_output(difference, labels[order], "left − right"), output.shape[1], moved),
    )
    figure = make_subplots(1, len(panels))
    for number, (trace, n_columns, framed) in enumerate(panels, start=1):
        place = {"row": 1, "col": number}
        across = {"x0": -0.5, "x1": n_columns - 0.5, "type": "rect"}
        figure.add_trace(trace, **place)
        # Axis lines would keep a distance from the cells.
        figure.add_shape(y0=-0.5, y1=n - 0.5, line={"color": NEUTRAL, "width": 1}, **across, **place)
        figure.add_shape(
            y0=framed - 0.5, y1=framed + 0.5, line={"color": ACCENT, "width": 2}, **across, **place
        )
        figure.update_xaxes(
            title={"text": "row of X" if number == 2 else "component", "standoff": 24},
            range=[-0.5, n_columns - 0.5],
            domain=_PLACES[number - 1],
            nticks=5,
            **place,
        )
    names = {"tickvals": list(range(n)), "tickfont": {"size": 11}} if n <= _NAMED else {"nticks": 6}
    figure.update_yaxes(range=[n - 0.5, -0.5], showticklabels=False, **names)
    for number, rows in ((1, labels[order]), (3, labels)):
        texts = {"ticktext": list(rows)} if n <= _NAMED else {}
        figure.update_yaxes(showticklabels=True, automargin=True, **texts, row=1, col=number)
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_yaxes(showgrid=False, zeroline=False)
    _add_titles(figure, "=" if holds else "≠")
    largest = float(np.abs([output, output_of_reordered]).max(initial=0)) or 1.0
    plots = int(np.clip(n * _ROW, _LEAST, _MOST))
    bar = colour_bar("output of the head", "symmetric about 0", [-largest, 0, largest])
    return figure.update_layout(
        height=plots + _ABOVE + _BELOW,
        margin={"l": 10, "r": 10, "t": _ABOVE, "b": _BELOW},
        coloraxis={
            "colorscale": DIFFERENCE,
            "cmin": -largest,
            "cmax": largest,
            "colorbar": bar | {"y": 1 + _BAR / plots},
        },
    )


def _of_output(values: np.ndarray, rows: np.ndarray, title: str) -> go.Heatmap:
    return go.Heatmap(
        z=values,
        coloraxis="coloraxis",
        customdata=np.repeat(rows[:, None], values.shape[1], axis=1),
        hovertemplate=f"{title}<br>row %{{y}}, '%{{customdata}}'<br>component %{{x}}: %{{z:.6f}}<extra></extra>",
    )


def _of_p(order: np.ndarray) -> go.Heatmap:
    return go.Heatmap(
        z=np.eye(len(order), dtype=np.uint8)[order],  # bytes: P of a long text has many zeros
        zmin=0,
        zmax=1,
        colorscale=("rgba(0, 0, 0, 0)", EMPHASIS),
        showscale=False,
        hovertemplate="row %{y} of P X, row %{x} of X: %{z}<extra></extra>",
    )


def _add_titles(figure: go.Figure, sign: str) -> None:
    """The equation in one line above its panels, and behind it what is left of it."""
    middle = [(left + right) / 2 for left, right in _PLACES]
    signs = [(first[1] + second[0]) / 2 for first, second in pairwise(_PLACES)]
    parts = {
        "Attention(P X)": middle[0],
        sign: signs[0],
        "P": middle[1],
        "·": signs[1],
        "Attention(X)": middle[2],
    }
    for text, x in (parts | {"left − right": middle[3]}).items():
        figure.add_annotation(
            text=f"<b>{text}</b>" if text in (sign, "·") else text,
            font={"size": 22 if text in (sign, "·") else 15},
            x=x,
            y=1,
            yshift=4,
            xref="paper",
            xanchor="center",
            yref="paper",
            yanchor="bottom",
            showarrow=False,
        )
