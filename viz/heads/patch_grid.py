"""Effects of patching in a part of each head, and each feed-forward: a row for each layer."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from ..builders.cells import BARE_AXIS, cells, strong
from ..builders.figure import Kwargs, VegaFigure, click_on, form, need_shape, tip
from ..builders.number_format import format_number
from ..builders.palette import ROUNDING, largest
from ..builders.short_numbers import cell_numbers
from ..builders.theme import SMALL, heading
from ..builders.vega_colours import named_legend

FEED_FORWARD = "FF"  # the last column
_WIDTH, _NARROWEST, _WIDEST, _HEIGHT = 540, 38, 58, 34


class Spread(NamedTuple):
    """How the effects of each part, of which the mean is drawn, spread over `n` pairs of inputs; each [layer, part]."""

    sd: np.ndarray
    low: np.ndarray  # ends of the 95 % interval of the mean
    high: np.ndarray
    is_shown: np.ndarray  # whether the part has an effect, after correction for all parts that are tested
    is_tested: np.ndarray
    n: int


def patch_grid(
    effects: np.ndarray,
    columns: Sequence[str],
    *,
    selected: tuple[int, int] | None,
    what: str,
    signed: bool,
    ends: tuple[str, str] = ("falls", "rises"),
    spread: Spread | None = None,
) -> VegaFigure:
    """A grid of effects [layer, part] on `what`; `columns` names the parts of a layer, as in H0, and the feed-forward last.

    The part `selected` (layer, column) is framed. `signed` effects are coloured symmetrically about 0, and `ends` name the
    ends of the colours. With a `spread` the effects are means, and of signed ones only those that are shown are coloured. A
    click sets the point selection `head`, fields `layer` and `column`. Raises ValueError where the shapes differ.
    """
    need_shape((len(effects), len(columns)), effects=effects)
    if spread is not None:
        arrays = spread._asdict()
        need_shape(
            effects.shape, **{name: arrays[name] for name in ("sd", "low", "high", "is_shown", "is_tested")}
        )
    n_layers, n_columns = effects.shape
    max_effect = largest(effects[np.isfinite(effects)], at_least=ROUNDING)
    detail = largest(effects[:, :-1], at_least=ROUNDING)  # of heads, beside which a feed-forward may be large
    numbers = cell_numbers(effects, max_effect, signed=signed, missing="–", detail=detail)
    layers, column_numbers = np.indices(effects.shape).reshape(2, -1)
    frame = pd.DataFrame(
        {
            "layer": layers,
            "column": column_numbers,
            "part": [columns[column] for column in column_numbers],
            "value": effects.ravel().astype(float),
            "written": numbers.written,
            "exact": numbers.exact,
            "selected": [index == selected for index in np.ndindex(effects.shape)],
        }
    )
    frame["name"] = [f"L{layer} {name}" for layer, name in zip(frame["layer"], frame["part"], strict=True)]
    frame["coloured"] = frame["value"]
    if spread is not None:
        _add_spread(frame, spread, "+" if signed else "")
        if signed:
            frame["coloured"] = np.where(spread.is_shown.ravel(), frame["value"], 0.0)
    frame["strong"] = strong(frame["coloured"].to_numpy(), max_effect, signed=signed)
    in_file = {"column": None, "value": what if spread is None else f"mean {what}", "coloured": None}
    if spread is not None:
        in_file |= {
            "sd": "standard deviation",
            "low": "95 % interval from",
            "high": "95 % interval to",
            "n": "pairs",
        }
        in_file |= {"interval": None, "result": None, "sd_written": None}
    step = int(np.clip(_WIDTH // n_columns, _NARROWEST, _WIDEST))
    unit: Kwargs = {"title": heading(numbers.unit)} if numbers.unit else {}
    return _chart_form(tuple(columns), what, signed, ends, spread is not None).with_data(
        # last, so that no neighbour's border covers its frame
        frame.sort_values("selected", kind="stable"),
        in_file=in_file,
        values={"largest": max_effect},
        width=step * n_columns,
        height=_HEIGHT * n_layers,
        description=f"{what}, with a part of each of {n_layers} layers of {n_columns - 1} heads, and each feed-forward, taken "
        f"from {'another input' if spread is None else f'the second text, mean over {spread.n} pairs'}",
        **unit,
    )


def _add_spread(frame: pd.DataFrame, spread: Spread, sign: str) -> None:
    for name in ("sd", "low", "high"):
        frame[name] = getattr(spread, name).ravel().astype(float)
    frame["n"] = spread.n
    frame["sd_written"] = [format_number(sd, "#.3g", otherwise="not known") for sd in frame["sd"]]
    frame["interval"] = [
        "not known: one pair"
        if np.isnan(low)
        else f"{format_number(low, f'{sign}#.3g')} to {format_number(high, f'{sign}#.3g')}"
        for low, high in zip(frame["low"], frame["high"], strict=True)
    ]
    frame["result"] = np.select(
        [spread.is_shown.ravel(), spread.is_tested.ravel()],
        ["a clear effect, after correction for all parts", "no clear effect"],
        "not tested",
    )


@form
def _chart_form(
    columns: tuple[str, ...], what: str, signed: bool, ends: tuple[str, str], has_spread: bool
) -> alt.TopLevelMixin:
    x_axis = alt.Axis(orient="top", labelAngle=0, labelFlush=False, **BARE_AXIS)
    y_axis = alt.Axis(
        orient="left", labelExpr="'L' + datum.label", labelAngle=0, labelFlush=False, **BARE_AXIS
    )
    tooltip = [tip("name:N", title="part"), tip("exact:N", title="mean" if has_spread else what)]
    if has_spread:
        tooltip += [
            tip("interval:N", title="95 % interval"),
            tip("sd_written:N", title="standard deviation"),
            tip("n:Q", title="pairs"),
        ]
    if has_spread and signed:  # what has no sign is always above 0
        tooltip.append(tip("result:N", title="result"))
    return cells(
        alt.X("part:N", sort=list(columns), title=None, axis=x_axis),
        alt.Y("layer:O", title=None, axis=y_axis),
        tooltip=tooltip,
        signed=signed,
        field="coloured",
        legend=named_legend(f"mean {what}" if has_spread else what, ends, signed=signed),
        selectable=click_on("head", "layer", "column"),
        borders=(3, 0.4),
        font_size=SMALL,
    ).properties(autosize="pad")
