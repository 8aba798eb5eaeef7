"""What the scale 1/√d_k does: the distribution of q·k, its variance in every head, and softmax entropy and gradient
over d_k.
"""

import math

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import (
    CHOSEN,
    Channels,
    Column,
    Layer,
    chart,
    dots,
    encodings_by_kind,
    layer,
    vertical_line,
)
from ..builders.figure import Kwargs, VegaFigure, conditional_value, tip, value
from ..builders.number_format import head_name, percent, powers_of_ten
from ..builders.palette import CATEGORIES, EMPHASIS, NEUTRAL
from ..builders.theme import INK, heading_with_reading

_BINS = 81


def dot_product_distribution(
    products: np.ndarray, *, variance: float, reach: float, name: str, expected: str
) -> VegaFigure:
    """A histogram of dot `products` (any shape) in 81 bins from -`reach` to `reach`, as a density.

    The line is the normal density with mean 0 and this `variance` in the same bins; `expected` names it. Products
    beyond `reach` are in no bin, but they count in the shares of the others; `name` is the title of the axis.
    """
    edges = np.linspace(-reach, reach, _BINS + 1)
    counts, _ = np.histogram(products, edges)
    share = counts / max(np.size(products), 1)
    # Of the same bins: where the whole of it lies within one, the density at a point would be many times a bar.
    cumulative = np.array([0.5 * math.erf(bin_edge / math.sqrt(2 * variance)) for bin_edge in edges])
    scale = alt.Scale(domain=[alt.ExprRef("-reach"), value("reach")], nice=False)
    columns = [
        Column("from", edges[:-1], format=".3f"),
        Column("to", edges[1:], format=".3f"),
        Column("share", share, None),
        Column(
            "percent",
            [percent(one_bin, 3, brief=True) for one_bin in share.tolist()],
            "share of all pairs",
            in_file=None,
        ),
        Column("density", share / np.diff(edges), format=".4f"),
        Column("normal", np.diff(cumulative) / np.diff(edges), None, in_file="normal density"),
    ]
    bars = {
        "x": alt.X("from:Q", title=name, scale=scale),
        "x2": "to:Q",
        "y": alt.Y("density:Q", title="density"),
        "y2": alt.Y2Datum(0),
        "tooltip": columns,
    }
    tooltip = [tip("middle:Q", ".3f", name), tip("normal:Q", ".4f", "normal density in this bin")]
    line = {"x": "middle:Q", "y": "normal:Q", "tooltip": tooltip}
    return chart(
        columns,
        layer("rect", bars, color=EMPHASIS, opacity=0.75),
        layer("line", line, strokeWidth=2, strokeDash=[6, 4], color=INK),
        drawing={"middle": (edges[:-1] + edges[1:]) / 2},
        values={"reach": reach},
        height=230,
        title=heading_with_reading(f"Distribution of {name}", f"dashed: {expected}"),
        description=f"Histogram of {np.size(products):,} values of {name}, over a {expected}.",
    )


_HEIGHT = 230
_OPACITY = 0.75
_ROUND = [digit * 10.0**power for power in range(-6, 7) for digit in (1, 2, 5)]


def variance_of_heads(heads: pd.DataFrame, *, d_k: int, selected: tuple[int, int]) -> VegaFigure:
    """A point for each head: the `variance` of its q·k over its layer, on a logarithmic axis, and a line at `d_k`.

    `heads` has a row for each head with the columns layer, head, mean and variance of q·k. The point of the
    `selected` (layer, head) is opaque. A click sets the point selection `head`, fields `layer` and `head`.
    """
    # A head with one key alone has no variance, and no place on a logarithmic axis.
    frame = _with_selected_last(heads, selected)[lambda rows: rows["variance"] > 0]
    lowest, highest = (
        (frame["variance"].min(), frame["variance"].max()) if len(frame) else (0.15 * d_k, d_k / 0.15)
    )
    reading = f"dashed: {d_k}, what independent components of variance 1 give"
    x_axis = alt.Axis(labelAngle=0, labelExpr="'L' + datum.label", grid=True)
    position: Kwargs = {
        "x": alt.X("layer:O", title="layer", axis=x_axis, scale=alt.Scale(paddingInner=0.1)),
        "xOffset": alt.XOffset("head:O", scale=alt.Scale(paddingOuter=0.3)),
        "y": alt.Y(
            "variance:Q",
            title="variance of q·k",
            scale=alt.Scale(type="log", domain=[value("low"), value("high")], nice=False),
            axis=alt.Axis(values=_ROUND, format="~g", labelOverlap=True),
        ),
    }
    tooltip = [
        tip("name:N", title="head"),
        tip("variance:Q", ".4~g", "variance of q·k"),
        tip("mean:Q", ".4~g", "mean of q·k"),
    ]
    expected = tip("d_k:Q", title="components of variance 1 would give")
    line: Kwargs = {"y": "d_k:Q", "tooltip": expected}
    return chart(
        _head_columns(frame),
        layer("rule", line, "line", strokeDash=[6, 4], strokeWidth=1.5, color=INK),
        _head_dots(position, tooltip),
        frames={"line": {"d_k": [d_k]}},
        values={"low": float(min(lowest, d_k)) / 1.5, "high": float(max(highest, d_k)) * 1.5},
        height=_HEIGHT,
        title=heading_with_reading("Variance of q·k, every head", reading),
        description=f"Variance of q·k for {len(frame)} heads by layer; {head_name(*selected)} is marked.",
    )


def with_and_without_scale(
    heads: pd.DataFrame, measure: str, *, title: str, reading: str, axis: str, selected: tuple[int, int]
) -> VegaFigure:
    """A point for each head: its `measure` with the scale 1/√d_k on the x axis, and without it (column
    `measure`_unscaled of `heads`) on the y axis.

    On the dashed diagonal both are equal. `axis` names the measure on both axes, `reading` says how to read the
    figure. A click sets the point selection `head`, fields `layer` and `head`.
    """
    axis_end = 1.05 * (float(np.nanmax(heads[[measure, f"{measure}_unscaled"]].to_numpy(), initial=0)) or 1.0)
    scale = alt.Scale(domain=[0, value("end")], nice=False)
    position: Kwargs = {
        "x": alt.X(f"{measure}:Q", title=f"{axis}, with 1/√d_k", scale=scale),
        "y": alt.Y(f"{measure}_unscaled:Q", title=f"{axis}, without", scale=scale),
    }
    tooltip = [
        tip("name:N", title="head"),
        tip(f"{measure}:Q", ".4f", "with 1/√d_k"),
        tip(f"{measure}_unscaled:Q", ".4f", "without"),
    ]
    line: Kwargs = {"strokeDash": [6, 4], "strokeWidth": 1.5, "color": NEUTRAL, "aria": False}
    return chart(
        _head_columns(_with_selected_last(heads, selected)),
        layer("line", {"x": "with:Q", "y": "without:Q"}, "diagonal", **line),
        _head_dots(position, tooltip),
        frames={"diagonal": {"with": [0, axis_end], "without": [0, axis_end]}},
        values={"end": axis_end},
        height=_HEIGHT,
        title=heading_with_reading(title, reading),
        description=f"{title} of {len(heads)} heads, with and without the scale; {head_name(*selected)} is marked.",
    )


def _with_selected_last(heads: pd.DataFrame, selected: tuple[int, int]) -> pd.DataFrame:
    """The rows with a column for the heads' names; the selected head comes last, so that it is drawn above the
    others.
    """
    indices = list(zip(heads["layer"].tolist(), heads["head"].tolist(), strict=True))
    marked = heads.assign(
        name=[head_name(*index) for index in indices], selected=[index == selected for index in indices]
    )
    return marked.sort_values("selected", kind="stable")


def _head_columns(frame: pd.DataFrame) -> list[Column]:
    """The columns that identify a head in a figure's data."""
    in_file = {"entropy_unscaled": "entropy, unscaled", "selected": None}
    return [Column(name, frame[name], None, "", in_file.get(name, "")) for name in frame.columns]


def _head_dots(position: Channels, tooltip: list[alt.Tooltip]) -> Layer:
    """Clickable points of the heads at this `position` (x and y channels)."""
    opacity: Kwargs = {"opacity": conditional_value("datum.selected", 1, _OPACITY)}
    click = ("head", "layer", "head")
    return dots({**position, **opacity}, tooltip, click, sizes=(170, 80), stroke="transparent")


_NAMES = {0.0: "1", 0.5: "1/√d_k", 1.0: "1/d_k"}
_COLOURS = {0.0: CATEGORIES[2], 0.5: CATEGORIES[0], 1.0: CATEGORIES[1]}
_DOTTED: Kwargs = {"strokeWidth": 2.5, "point": {"filled": True, "size": 45}}
_CAPTIONS = {
    "variance": ("Variance of the scaled q·k", "points: measured; lines: d_k · scale²"),
    "entropy": ("Entropy of the softmax", "1: all keys alike; 0: one key has all"),
    "gradient": ("Gradient of the softmax", "how far weights still follow scores: median, band: quartiles"),
}
_DESCRIBED = {
    "variance": "Variance of scaled dot products over d_k on two logarithmic axes",
    "entropy": "Entropy of the softmax over d_k for each scale",
    "gradient": "Norm of the gradient of the softmax over d_k for each scale",
}


def scale_name(power: float) -> str:
    """The name of the factor d_k^-power that scales dot products, such as "1/√d_k"."""
    return _NAMES.get(power, f"d_k^−{power:g}")


def width_curves(measured: pd.DataFrame, measure: str, *, d_k: int, power: float) -> VegaFigure:
    """Curves of a `measure` over d_k, one for each `power` p of the scale d_k^-p; `measured` is a data frame with the
    columns `d_k`, `power` and those of the measure.

    "variance" has points, and lines at the expected d_k^(1 - 2p), on a logarithmic axis. "entropy" goes from 0 (one
    key has all the weight) to 1 (equal weights). "gradient" is a median with a band from `gradient_low` to
    `gradient_high`. The chosen `d_k` has a vertical line; the curve of the chosen `power` is opaque, the others are
    faint. Raises KeyError for another measure.
    """
    powers = measured["power"].to_numpy()
    frame = measured.copy(deep=False)
    frame["scale"] = [scale_name(exponent) for exponent in powers]
    frame["expected"] = frame["d_k"].to_numpy(float) ** (1 - 2 * powers)
    in_file = {
        "gradient_low": "gradient, lower quartile",
        "gradient_high": "gradient, upper quartile",
        "expected": "expected variance",
    }
    scales = [scale_name(exponent) for exponent in np.unique(powers).tolist()]
    base: Kwargs = {
        "x": alt.X(
            "d_k:Q",
            title="d_k",
            scale=alt.Scale(type="log", base=2),
            axis=alt.Axis(values=value("widths"), grid=False),
        ),
        "opacity": conditional_value("datum.power == power", 1, 0.4),
        **encodings_by_kind(
            "scale:N",
            scales,
            color=[_COLOURS.get(exponent, NEUTRAL) for exponent in np.unique(powers).tolist()],
            legend={"title": "scale", "direction": "horizontal", "titleOrient": "left", "symbolOpacity": 1},
        ),
    }
    layers = {"variance": _variance_layers, "entropy": _entropy_layers, "gradient": _gradient_layers}
    logarithmic = [*frame["variance"], *frame["expected"]] if measure == "variance" else []
    return chart(
        [Column(name, frame[name], None, "", in_file.get(name, "")) for name in frame.columns],
        *layers[measure](base),
        vertical_line("d_k", tip("d_k:Q", title="chosen d_k"), strokeWidth=2, aria=True),
        values={
            "power": power,
            "widths": np.unique(frame["d_k"]).tolist(),
            "decades": powers_of_ten(logarithmic),
        },
        frames={CHOSEN: {"d_k": [d_k]}},
        height=230,
        title=heading_with_reading(*_CAPTIONS[measure]),
        description=f"{_DESCRIBED[measure]}; d_k = {d_k} is marked.",
    )


def _variance_layers(base: Kwargs) -> list[Layer]:
    """The layers of "variance" in `width_curves`."""
    decades = alt.Axis(values=value("decades"), format="~g")

    def up(field: str, title: str) -> Kwargs:
        y = alt.Y(f"{field}:Q", title="variance", scale=alt.Scale(type="log"), axis=decades)
        return base | {"y": y, "tooltip": _tooltip_with(tip(f"{field}:Q", ".4~g", title))}

    return [
        layer("line", up("expected", "variance, expected"), strokeWidth=1.5),
        layer("point", up("variance", "variance, measured"), filled=True, size=55),
    ]


def _entropy_layers(base: Kwargs) -> list[Layer]:
    """The layers of "entropy" in `width_curves`."""
    tooltip = _tooltip_with(tip("entropy:Q", ".4f", "entropy / ln n"))
    y = alt.Y("entropy:Q", title="entropy / ln n", scale=alt.Scale(domain=[0, 1]))
    return [layer("line", base | {"y": y, "tooltip": tooltip}, **_DOTTED)]


def _gradient_layers(base: Kwargs) -> list[Layer]:
    """The layers of "gradient" in `width_curves`."""
    title, columns = "‖diag(a) − a aᵀ‖", {"": "median", "_low": "lower quartile", "_high": "upper quartile"}
    band = base | {
        "y": alt.Y("gradient_low:Q", title=title),
        "y2": "gradient_high:Q",
        "opacity": alt.value(0.18),
    }
    tooltip = _tooltip_with(
        *(tip(f"gradient{quantile}:Q", ".4~g", name) for quantile, name in columns.items())
    )
    y = alt.Y("gradient:Q", title=title, scale=alt.Scale(zero=True))
    return [
        layer("area", band, where="datum.power == power", opacity=0.18),
        layer("line", base | {"y": y, "tooltip": tooltip}, **_DOTTED),
    ]


def _tooltip_with(*measures: alt.Tooltip) -> list[alt.Tooltip]:
    """The tooltip of d_k and scale, with these `measures` added."""
    return [tip("scale:N"), tip("d_k:Q", title="d_k"), *measures]
