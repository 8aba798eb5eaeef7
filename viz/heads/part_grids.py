"""Effects of the parts of an encoder (heads, attention, feed-forward) in a grid with a row for each layer: of
removing a part, or of patching in its output from another input. Also the effects of patching the residual stream,
with a row for each stage and a column for each position, and curves of accuracy while heads are removed one after the
other.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np

from ..builders.cells import BARE_AXIS, grid, layer_channel, part_channel
from ..builders.chart import WHOLE, Column, chart, encodings_by_kind, layer, lines
from ..builders.figure import Kwargs, VegaFigure, value
from ..builders.label_placement import name_axis
from ..builders.number_format import (
    THIN_PERCENT,
    cell_numbers,
    fall_in_words,
    format_number,
    stage_names,
)
from ..builders.palette import NEUTRAL, ROUNDING, SHAPES, largest_absolute, side_colours
from ..builders.theme import FIT, SMALL, heading
from ..builders.token_label import label, visible
from ..builders.vega_colours import ENDS, colour_legend, named_legend, number_at_end

ATTENTION, FEED_FORWARD = "attn", "FF"  # the last two columns
_WIDTH, _NARROWEST, _WIDEST, _HEIGHT = 560, 38, 58, 34
_OVER = "mean size over the data set"
_STEP = 22  # pixels a stage
_BORDERED = 36  # positions; between more cells lines would cover the colours
HEIGHT = 300


def effect_decimals(effects: np.ndarray) -> int:
    """The number of decimals (2 to 4) with which to write `effects` of heads: small effects need more, or all would
    be 0.00.
    """
    return int(np.clip(1 - np.floor(np.log10(largest_absolute(effects, at_least=ROUNDING))), 2, 4))


def ablation_grid(
    effects: np.ndarray, away: np.ndarray, *, what: str, signed: bool, over: np.ndarray | None = None
) -> VegaFigure:
    """A grid of `effects` [layer, part] of removing one part at a time; the parts of a layer are its heads, then all
    its heads together, then its feed-forward.

    `what` names the quantity that changes, such as the fall of a logit. Parts that are already removed (True in
    `away` [layer, part]) are framed. `signed` effects are falls: they are coloured symmetrically about 0, and the
    tooltip says whether the answer falls or rises. `over` holds the mean effects over a data set for the tooltip,
    [layer, part], NaN if not known. A click sets the point selection `part`,
    fields `layer`, `column` and `away`, so that a second click differs from the first.
    """
    n_layers, n_columns = effects.shape
    names = [*(f"H{head}" for head in range(n_columns - 2)), ATTENTION, FEED_FORWARD]
    layers, columns = np.indices(effects.shape).reshape(2, -1)
    sign = "+" if signed else ""
    decimals = effect_decimals(effects[:, :-2])
    means = np.full(effects.shape, np.nan) if over is None else over
    return grid(
        [
            Column("layer", layers, None),
            Column("part", [names[column] for column in columns], None),
            Column(
                "name",
                [f"L{layer} {names[column]}" for layer, column in np.ndindex(effects.shape)],
                "without",
            ),
            Column("value", effects, None, in_file=what),
            Column(
                "in_words",
                [
                    fall_in_words(effect, ".4f") if signed else format_number(effect, ".4f")
                    for effect in effects.flat
                ],
                "the answer" if signed else what,
                in_file=None,
            ),
            Column(
                "over",
                [format_number(mean, ".3g", otherwise="not measured") for mean in means.flat],
                None if over is None else _OVER,
                in_file=None if over is None else _OVER,
            ),
        ],
        part_channel(names),
        layer_channel(),
        largest=largest_absolute(effects, at_least=ROUNDING),
        signed=signed,
        written=[format_number(effect, f"{sign}.{decimals}f") for effect in effects.flat],
        font_size=SMALL,
        legend=named_legend(what, ("rises", "falls"), signed=True)
        if signed
        else colour_legend(what, ENDS, labelExpr=number_at_end("")),
        click=("part", "layer", "column", "away"),
        selected=away,
        borders=(4, 0.4),
        drawing={"column": columns, "away": away},
        width=int(np.clip(_WIDTH // n_columns, _NARROWEST, _WIDEST)) * n_columns,
        height=_HEIGHT * n_layers,
        description=f"{what} without each of {n_layers} layers of {n_columns - 2} heads, without all heads of each layer and "
        f"without each feed-forward; {int(away.sum())} of them are taken away.",
    )


_PATCH_WIDTH = 540


class EffectSpread(NamedTuple):
    """How the effect of each part varies over `n` pairs of inputs, beside its mean; arrays are [layer, part]."""

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
    spread: EffectSpread | None = None,
) -> VegaFigure:
    """A grid of the effects [layer, part] of patching on the quantity `what`; `columns` names the parts of a layer,
    such as H0, with the feed-forward last.

    The part `selected` (layer, column) is framed. `signed` effects are coloured symmetrically about 0, and `ends` are
    the words at the two ends of the colour bar. With a `spread` the effects are means over pairs of inputs, and
    signed means are coloured only where `spread.is_shown`. A click sets the point selection `head`, fields `layer`
    and `column`.
    """
    n_layers, n_columns = effects.shape
    max_effect = largest_absolute(effects[np.isfinite(effects)], at_least=ROUNDING)
    detail = largest_absolute(
        effects[:, :-1], at_least=ROUNDING
    )  # of heads, beside which a feed-forward may be large
    numbers = cell_numbers(effects, max_effect, signed=signed, missing="–", detail=detail)
    layers, parts = np.indices(effects.shape).reshape(2, -1)
    unit: Kwargs = {"title": heading(numbers.unit)} if numbers.unit else {}
    drawn = what if spread is None else f"mean {what}"
    return grid(
        [
            Column("layer", layers, None),
            Column("part", [columns[part] for part in parts], None),
            Column("value", effects, None, in_file=drawn),
            Column(
                "name", [f"L{layer} {columns[part]}" for layer, part in np.ndindex(effects.shape)], "part"
            ),
            Column("exact", numbers.exact, what if spread is None else "mean", in_file=None),
            *([] if spread is None else _spread_columns(spread, signed)),
        ],
        part_channel(columns),
        layer_channel(),
        largest=max_effect,
        signed=signed,
        colour_of="coloured",
        written=numbers.written,
        font_size=SMALL,
        legend=named_legend(drawn, ends, signed=signed),
        click=("head", "layer", "column"),
        selected=[index == selected for index in np.ndindex(effects.shape)],
        drawing={
            "column": parts,
            "coloured": np.where(spread.is_shown, effects, 0.0) if spread and signed else effects,
        },
        width=int(np.clip(_PATCH_WIDTH // n_columns, _NARROWEST, _WIDEST)) * n_columns,
        height=_HEIGHT * n_layers,
        description=f"{what}, with a part of each of {n_layers} layers of {n_columns - 1} heads, and each feed-forward, taken "
        f"from {'another input' if spread is None else f'the second text, mean over {spread.n} pairs'}",
        **unit,
    )


def _spread_columns(spread: EffectSpread, signed: bool) -> list[Column]:
    """The columns of a grid that describe the spread of its effects."""
    sign = "+" if signed else ""
    intervals = [
        "not known: one pair"
        if np.isnan(low)
        else f"{format_number(low, f'{sign}#.3g')} to {format_number(high, f'{sign}#.3g')}"
        for low, high in zip(spread.low.flat, spread.high.flat, strict=True)
    ]
    deviations = [format_number(sd, "#.3g", otherwise="not known") for sd in spread.sd.flat]
    results = np.select(
        [spread.is_shown, spread.is_tested],
        ["a clear effect, after correction for all parts", "no clear effect"],
        "not tested",
    )
    return [
        Column("sd", spread.sd, None, in_file="standard deviation"),
        Column("low", spread.low, None, in_file="95 % interval from"),
        Column("high", spread.high, None, in_file="95 % interval to"),
        Column("interval", intervals, "95 % interval", in_file=None),
        Column("sd_written", deviations, "standard deviation", in_file=None),
        Column("n", np.full(spread.sd.shape, spread.n), "pairs", in_file="pairs"),
        # What has no sign is always above 0.
        Column("result", results, "result" if signed else None, in_file=None),
    ]


def stage_positions(
    effects: np.ndarray,
    stages: Sequence[str],
    tokens: Sequence[str],
    *,
    query: int | None,
    what: str,
    signed: bool,
    ends: tuple[str, str] = ("falls", "rises"),
) -> VegaFigure:
    """A heatmap of the effects [stage, position] of patching the residual stream on the quantity `what`, NaN where a
    position has no counterpart in the other input; the column of the `query` is framed. `signed` effects are coloured
    symmetrically about 0, and `ends` are the words at the two ends of the colour bar.

    A click sets the point selection `cell`, fields `stage` and `position`.
    """
    stages = stage_names(stages)
    stage, position = np.indices(effects.shape).reshape(2, -1)
    max_effect = largest_absolute(effects[np.isfinite(effects)], at_least=ROUNDING)
    names = [f"{index} {label(token, 14)}" for index, token in enumerate(tokens)]
    columns = [names[index] for index in position]
    x_axis = name_axis(orient="top", domain=False, grid=False)
    return grid(
        [
            Column("stage", [stages[index] for index in stage]),
            Column("token", [visible(tokens[index]) for index in position]),
            Column("position", position),
            Column("value", effects, None, in_file=what),
            Column("exact", cell_numbers(effects, max_effect, signed=signed).exact, what, in_file=None),
        ],
        alt.X("column:N", sort=alt.SortField("position"), title=None, axis=x_axis),
        alt.Y("stage:N", sort=list(stages), title=None, axis=alt.Axis(labelLimit=0, **BARE_AXIS)),
        largest=max_effect,
        signed=signed,
        legend=named_legend(what, ends, signed=signed),
        click=("cell", "stage", "position"),
        selected=position == query,
        borders=(2, 0.2 if len(tokens) <= _BORDERED else 0),
        drawing={
            "column": columns,
            "name": [f"{stages[index]}, {column}" for index, column in zip(stage, columns, strict=True)],
        },
        values={"order": names, "first": -1 if query is None else query},
        height=_STEP * len(stages),
        autosize=FIT,
        description=f"Effect on {what} of each of {len(tokens)} positions at each of {len(stages)} stages",
    )


class PruningRun(NamedTuple):
    """The pruning of one encoder, head by head; step 0 is before the first head is removed."""

    placement: str  # as `ModelConfig` names it
    heads: Sequence[str]  # which went at each step, such as "L0 H3"; "" at step 0
    accuracy: np.ndarray  # [step], from 0 to 1
    loss: np.ndarray  # [step], nats
    change: Sequence[str]  # of the accuracy since step 0, in words
    may_go: int  # heads gone, before accuracy is lower


def pruning_curve(encoders: Mapping[str, PruningRun]) -> VegaFigure:
    """Curves of accuracy over the number of heads removed; `encoders` maps the name of each encoder to its pruning.

    A dashed vertical line marks, for each encoder, the number of heads that can go before accuracy falls (`may_go`).
    A click on a point sets the point selection `step`, fields `encoder` and `went`.
    """
    curves = list(encoders.values())
    accuracy = np.concatenate([np.zeros(0), *(curve.accuracy for curve in curves)])
    loss = np.concatenate([np.zeros(0), *(curve.loss for curve in curves)])
    columns = [
        Column("encoder", [name for name, curve in encoders.items() for _ in curve.heads]),
        Column(
            "step",
            [step for curve in curves for step in range(len(curve.heads))],
            "heads removed",
            "",
            "heads removed",
        ),
        Column(
            "went",
            [head for curve in curves for head in curve.heads],
            "the last of them",
            "",
            "head removed last",
        ),
        Column("accuracy", accuracy, "accuracy", ".2%"),
        Column("change", [change for curve in curves for change in curve.change], "change since step 0"),
        Column("loss", loss, "mean loss, nats", ".4f"),
    ]
    colours = side_colours([curve.placement for curve in curves])
    channels = {
        "x": alt.X("step:Q", title="heads removed", axis=WHOLE, scale=alt.Scale(nice=False)),
        "y": alt.Y(
            "accuracy:Q",
            title="accuracy",
            scale=alt.Scale(domain=[value("least"), 1], nice=False),
            axis=alt.Axis(format=".0%", labelExpr=THIN_PERCENT),
        ),
        **encodings_by_kind("encoder:N", tuple(encoders), color=colours, shape=SHAPES),
    }
    rule = {"x": "step:Q", "color": channels["color"]}
    dashes: Kwargs = {"strokeDash": [5, 4], "strokeWidth": 1.5, "color": NEUTRAL}
    return chart(
        columns,
        layer("rule", rule, "may_go", aria=False, **dashes),
        *lines(
            channels,
            columns,
            {"strokeWidth": 2},
            {"size": 60, "cursor": "pointer"},
            click=("step", "encoder", "went"),
        ),
        frames={"may_go": {"encoder": list(encoders), "step": [curve.may_go for curve in curves]}},
        values={"least": float(np.floor(accuracy.min() * 20) / 20) if len(accuracy) else 0.0},
        height=HEIGHT,
        description=f"Accuracy of {' and '.join(encoders)} as heads go, one after the other",
    )
