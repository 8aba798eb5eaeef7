"""Effects of patching in a part of each head, and each feed-forward: a row for each layer."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..builders.cells import grid, layer_channel, part_channel
from ..builders.chart import Column
from ..builders.figure import Kwargs, VegaFigure, need_shape
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
        need_shape(effects.shape, **{name: array for name, array in spread._asdict().items() if name != "n"})
    n_layers, n_columns = effects.shape
    max_effect = largest(effects[np.isfinite(effects)], at_least=ROUNDING)
    detail = largest(effects[:, :-1], at_least=ROUNDING)  # of heads, beside which a feed-forward may be large
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
        width=int(np.clip(_WIDTH // n_columns, _NARROWEST, _WIDEST)) * n_columns,
        height=_HEIGHT * n_layers,
        description=f"{what}, with a part of each of {n_layers} layers of {n_columns - 1} heads, and each feed-forward, taken "
        f"from {'another input' if spread is None else f'the second text, mean over {spread.n} pairs'}",
        **unit,
    )


def _spread_columns(spread: Spread, signed: bool) -> list[Column]:
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
