"""How variance of the scores, entropy and gradient of the softmax change with d_k, a colour for each scale."""

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import Column, Layer, chart, layer
from ..builders.curves import CHOSEN, encodings_by_kind, rule
from ..builders.figure import Kwargs, VegaFigure, either, tip, value
from ..builders.number_format import powers_of_ten
from ..builders.palette import CATEGORIES, NEUTRAL
from ..builders.theme import heading_with_reading

_NAMES = {0.0: "1", 0.5: "1/√d_k", 1.0: "1/d_k"}
_COLOURS = {0.0: CATEGORIES[2], 0.5: CATEGORIES[0], 1.0: CATEGORIES[1]}
_DOTTED: Kwargs = {"strokeWidth": 2.5, "point": {"filled": True, "size": 45}}
_CAPTIONS = {
    "variance": ("Variance of the scaled q·k", "points: measured; lines: d_k · scale²"),
    "entropy": ("Entropy of the softmax", "1: all keys alike; 0: one key has all"),
    "gradient": ("Gradient of the softmax", "median over queries; band: quartiles of the chosen scale"),
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
    """Curves of a `measure` over d_k for each `power` of the scale d_k^-power, from a data frame with the columns
    `d_k` and `power`.

    `variance` has points, and lines at the expected d_k^(1 - 2 power), on a logarithmic axis. `entropy` goes from 0
    (one key has all) to 1 (all keys alike). `gradient` is a median with a band from `gradient_low` to
    `gradient_high`. The chosen `d_k` has a vertical line, the chosen `power` is opaque, the others are faint. Raises
    KeyError for another measure.
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
        "opacity": either("datum.power == power", 1, 0.4),
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
        rule("d_k", tip("d_k:Q", title="chosen d_k"), strokeWidth=2, aria=True),
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
    decades = alt.Axis(values=value("decades"), format="~g")

    def up(field: str, title: str) -> Kwargs:
        y = alt.Y(f"{field}:Q", title="variance", scale=alt.Scale(type="log"), axis=decades)
        return base | {"y": y, "tooltip": _tooltip_with(tip(f"{field}:Q", ".4~g", title))}

    return [
        layer("line", up("expected", "variance, expected"), strokeWidth=1.5),
        layer("point", up("variance", "variance, measured"), filled=True, size=55),
    ]


def _entropy_layers(base: Kwargs) -> list[Layer]:
    tooltip = _tooltip_with(tip("entropy:Q", ".4f", "entropy / ln n"))
    y = alt.Y("entropy:Q", title="entropy / ln n", scale=alt.Scale(domain=[0, 1]))
    return [layer("line", base | {"y": y, "tooltip": tooltip}, **_DOTTED)]


def _gradient_layers(base: Kwargs) -> list[Layer]:
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
    return [tip("scale:N"), tip("d_k:Q", title="d_k"), *measures]
