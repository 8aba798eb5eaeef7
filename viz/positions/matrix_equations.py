"""Matrix equations as heatmaps side by side, in the same colours."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..builders.heatmap import colour_scale, panels_beside, position_labels
from ..builders.heatmap_figure import CLEAR, Axis, Colours, Frame, Heatmap, Panel, as_text, token_ticks
from ..builders.palette import EMPHASIS, NEUTRAL, largest_absolute
from ..builders.theme import SMALL

_MAP_GAP = 0.03  # maps, of the width
_TOKEN_HEIGHT, _MIN_HEIGHT, _MAX_HEIGHT = 20, 160, 640  # pixels


def sum_of_maps(maps: Mapping[str, np.ndarray], tokens: Sequence[str]) -> Heatmap:
    """Heatmaps [position, dimension] of all `maps` side by side, each with its name, in one colour scale symmetric
    about 0.
    """
    labels = position_labels(tokens)
    max_value = largest_absolute(np.stack(list(maps.values())))
    colours = colour_scale("value", "symmetric about 0", max_value)
    panel_width = (1 - _MAP_GAP * (len(maps) - 1)) / len(maps)
    domains = [
        (index * (panel_width + _MAP_GAP), index * (panel_width + _MAP_GAP) + panel_width)
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
        height=int(np.clip(_TOKEN_HEIGHT * len(tokens), _MIN_HEIGHT, _MAX_HEIGHT)) + 150,
        margin={"l": 10, "r": 10, "t": 100, "b": 10},
    )


_MOST_NAMED_ROWS = 56  # beyond so many rows the tokens are under the pointer alone
_ROW_HEIGHT, _MIN_ROWS_HEIGHT, _MAX_ROWS_HEIGHT = 20, 240, 740  # pixels a row, and the height of all of them
_MARGIN_ABOVE, _MARGIN_BELOW = 100, 60  # pixels, for colour bar and titles, and for the axes
# Where the panels begin and end, as shares of the width: tokens are named before the first and the third.
_PANEL_DOMAINS = ((0.0, 0.19), (0.25, 0.5), (0.64, 0.83), (0.87, 1.0))


def permutation_panels(
    output: np.ndarray,
    output_of_reordered: np.ndarray,
    order: np.ndarray,
    tokens: Sequence[str],
    *,
    query: int,
    is_equal: bool,
) -> Heatmap:
    """Four panels that test whether attention commutes with a permutation P of the tokens: Attention(P X), P,
    Attention(X), and Attention(P X) - P Attention(X).

    `output` and `output_of_reordered`, Attention(X) and Attention(P X), are [position, d_v]; row i of P X is row
    `order`[i] of X. The three panels with numbers share one colour scale, symmetric about 0. The row of the token
    `query` is framed in each panel. The sign between the two sides of the equation is = if `is_equal`, otherwise ≠.
    """
    n_tokens = len(tokens)
    labels = np.array(position_labels(tokens), dtype=object)
    texts = np.array(as_text(labels), dtype=object)
    moved_row = int(np.argmax(order == query)) if n_tokens else 0
    difference = output_of_reordered - output[order]
    colours = colour_scale(
        "output of the head", "symmetric about 0", largest_absolute(np.stack([output, output_of_reordered]))
    )
    order_colours = Colours(lowest=0, largest=1, colours=(CLEAR[0], EMPHASIS), title=(), ticks=())
    rows, moved_rows = _row_axis(n_tokens, labels), _row_axis(n_tokens, labels[order])
    bare = {"range": [n_tokens - 0.5, -0.5], "showticklabels": False}
    unnamed = Axis(shown=range(n_tokens), is_named=False, options=bare)
    all_panels = [
        _output_panel(output_of_reordered, texts[order], moved_rows, moved_row, "Attention(P X)", colours),
        Panel(
            values=np.eye(n_tokens, dtype=np.uint8)[order],  # bytes: P of a long text has many zeros
            colours=order_colours,
            x=_column_axis(n_tokens, "row of X"),
            y=unnamed,
            cell="row %{y} of P X, row %{x} of X",
            number=": %{z}",
            name="P",
            frames=_row_frames(n_tokens, n_tokens, moved_row),
        ),
        _output_panel(output, texts, rows, query, "Attention(X)", colours),
        _output_panel(difference, texts[order], unnamed, moved_row, "difference", colours),
    ]
    sides = ("Attention(P X)", "P Attention(X)", "difference")
    columns = pd.MultiIndex.from_product([sides, range(output.shape[1])])
    frame = np.hstack([output_of_reordered, output[order], difference])
    signs = ("=" if is_equal else "≠", "·", "", "")
    return panels_beside(
        [
            replace(panel, domain=domain, sign=sign)
            for panel, domain, sign in zip(all_panels, _PANEL_DOMAINS, signs, strict=True)
        ],
        numbers=pd.DataFrame(frame, index=labels[order], columns=columns),
        description="Heatmaps of the outputs for X and for P X, a row a token, side by side",
        height=int(np.clip(n_tokens * _ROW_HEIGHT, _MIN_ROWS_HEIGHT, _MAX_ROWS_HEIGHT))
        + _MARGIN_ABOVE
        + _MARGIN_BELOW,
        margin={"l": 10, "r": 10, "t": _MARGIN_ABOVE, "b": _MARGIN_BELOW},
        name_shift=4,
    )


def _output_panel(
    values: np.ndarray, texts: np.ndarray, rows: Axis, framed_row: int, name: str, colours: Colours
) -> Panel:
    """A panel of outputs [row, component] called `name`, whose rows have the `texts` in their tooltips."""
    n_rows, width = values.shape
    return Panel(
        values=values,
        colours=colours,
        x=_column_axis(width, "component"),
        y=rows,
        cell=f"{name}<br>row %{{y}}, '%{{customdata}}'<br>component %{{x}}",
        number=": %{z:.6f}",
        customdata=np.repeat(texts[:, None], width, axis=1),
        frames=_row_frames(width, n_rows, framed_row),
        name=name,
    )


def _column_axis(n: int, title: str) -> Axis:
    """A numbered axis of `n` columns."""
    return Axis(shown=range(n), title=title, options={"range": [-0.5, n - 0.5], "nticks": 5})


def _row_axis(n: int, labels: np.ndarray) -> Axis:
    """The axis of `n` rows with tokens for names, which are left out if they have no room."""
    options: dict[str, Any] = {"range": [n - 0.5, -0.5]}
    if n > _MOST_NAMED_ROWS:
        return Axis(shown=range(n), options=options | {"nticks": 6})
    options |= {"tickvals": list(range(n)), "ticktext": as_text(labels), **token_ticks(SMALL)}
    return Axis(shown=range(n), names=list(labels), are_tokens=True, options=options)


def _row_frames(width: int, n: int, row: int) -> tuple[Frame, Frame]:
    """Frames around a panel of `n` rows and `width` columns, and around one `row`; axis lines would keep a distance
    from the cells.
    """
    columns = (-0.5, width - 0.5)
    return (
        Frame(columns, (-0.5, n - 0.5), colour=NEUTRAL, width=1),
        Frame(columns, (row - 0.5, row + 0.5)),
    )
