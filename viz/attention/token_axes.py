"""What the heatmaps over tokens share: queries down, keys across, and a name for each position."""

from collections import Counter
from collections.abc import Sequence
from html import escape, unescape

import plotly.graph_objects as go

from viz.attention.token_label import label

_NARROW, _LETTER = 320, 6.5  # pixels: a map in a narrow column, a letter of a tick label
_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def position_labels(tokens: Sequence[str]) -> list[str]:
    """One label a position, no two alike: a token that occurs more than once carries its position.

    ("the", "film", "the") gives the ₀, film, the ₂. A plain label holds no space, so none can be taken for a
    numbered one. Plotly reads labels as a kind of HTML, so markup in a token is escaped.
    """
    labels = [label(token, 14) for token in tokens]
    times = Counter(labels)
    return [
        escape(text, quote=False) + (f" {position}".translate(_SUBSCRIPT) if times[text] > 1 else "")
        for position, text in enumerate(labels)
    ]


def token_heatmap(traces: Sequence[go.Heatmap], *, title: str, labels: Sequence[str]) -> go.Figure:
    """A figure of `traces` over the same positions, in square cells, with room for its colour bar on top.

    Category axes leave out the labels that would overlap, and bring them back as one zooms in.
    """
    axis = {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": labels,
        "showgrid": False,
        "constrain": "domain",
        "automargin": True,
    }
    return go.Figure(
        list(traces),
        layout={
            "title": {"text": escape(title, quote=False), "x": 0, "xref": "container"},
            "height": 640,
            "margin": {"l": 10, "r": 10, "t": 120 if title else 80, "b": 10},
            "xaxis": axis | names_across(labels, title="key") | {"constraintoward": "left"},
            "yaxis": axis
            | {"title": "query", "constraintoward": "top", "scaleanchor": "x", "autorange": "reversed"},
        },
    )


def names_across(labels: Sequence[str], *, title: str) -> dict:
    """Angle of the labels and place of the title of a horizontal axis: upright where they would overlap."""
    longest = _LETTER * max((len(unescape(text)) for text in labels), default=0)
    upright = longest * len(labels) > _NARROW
    return {
        # Under a horizontal colour bar Plotly forgets the tick labels when it places the title.
        "title": {"text": title, "standoff": 12 + (longest if upright else 12)},
        "tickangle": 90 if upright else 0,
    }


def colour_bar(what: str, reach: str, ticks: Sequence[float]) -> dict:
    """A short horizontal colour bar above the map: beside a square map it would drift away.

    Its title says `what` the colours are and how far they `reach`, in two lines.
    """
    return {
        "title": {"text": f"{escape(what, quote=False)},<br>{reach}", "side": "top", "font": {"size": 12}},
        "orientation": "h",
        "lenmode": "pixels",
        "len": 150,
        "thickness": 10,
        "tickvals": ticks,
        "tickformat": ".3~g",
        "x": 0,
        "xanchor": "left",
        "xpad": 0,
        "y": 1,
        "yanchor": "bottom",
    }
