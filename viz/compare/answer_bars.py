"""The parts that sum to one number of an encoder's answer, such as a logit: a bar for each part of the residual
stream, layer by layer, for one or several encoders.
"""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import Column, chart, encodings_by_kind, layer
from ..builders.figure import Kwargs, VegaFigure, value
from ..builders.number_format import fall_in_words, format_number
from ..builders.palette import CATEGORIES, NEUTRAL
from ..builders.theme import INK, LABEL_INK, SMALL, heading

EMBEDDING = ("token", "token type", "position")
_SHORT = {"feed-forward": "FF", "pooling feed-forward": "pooling"}
_MARGIN = 0.08  # of the width of a head's bars, at either side of them
_LETTER, _APART = 5.2, 4  # pixels: of a letter, and between two names
_WIDE = 2.3  # of what stands before and behind the layers, in widths of a head
_ROOM = 0.16  # of the axis, above the highest bar: there the layers are named


def answer_bars(
    sides: Mapping[str, pd.DataFrame],
    *,
    quantity: str,
    answers: Sequence[str] = (),
    ends: tuple[str, str] | None = None,
    colours: Sequence[str] = CATEGORIES,
    height: int = 240,
) -> VegaFigure:
    """Bars of the parts that sum to one number of an answer, which `quantity` names; `sides` maps the name of each
    encoder to its parts.

    The parts of an encoder are a frame as `answer_parts` returns it, with the columns `part`, `kind`, `layer`, `head`
    and `value`. Each part has one bar for each encoder. From left to right stand the parts of the embedding, then
    each layer with its heads and its feed-forward, then the biases and the other parts after the layers. An encoder
    that lacks a part has no bar there; rows of one head for single tokens are summed. If a frame has a column
    `effect`, a dot shows by how much the number falls when this part is removed; NaN gives no dot. Above the bars
    stand their sums, with each encoder's answer from `answers`, and the two `ends` of the number: the answers for
    which a low and a high number speak. `colours` are those of the encoders, in order; the plot is `height` pixels
    high.

    >>> from loupe import answer_bars, answer_parts, load
    >>> parts = answer_parts(load("checkpoints/imdb-pre-ln"), "A gripping film.")
    >>> answer_bars({"pre-LN": parts.frame}, quantity=parts.quantity, ends=("negative", "positive")).frame.shape[0]
    23
    """
    rows = _part_rows(sides)
    parts, layers = _part_positions(rows)
    effects = rows["effect"].to_numpy(float)
    of_rows = parts.loc[rows["part"]]
    bar = (of_rows["width"].to_numpy(float) - 2 * _MARGIN) / max(len(sides), 1)
    number = np.array([list(sides).index(side) for side in rows["side"]], int)
    start = of_rows["start"].to_numpy(float) + _MARGIN + bar * number
    drawing = {"start": start, "stop": start + bar}
    dots = pd.DataFrame({"side": rows["side"], "centre": start + bar / 2, "effect": effects}).dropna()
    has_effects = len(dots) > 0
    extremes = np.array([0.0, *rows["value"], *dots["effect"]])
    extremes = extremes[np.isfinite(extremes)]  # weights may overflow
    lowest, highest = float(extremes.min()), float(extremes.max())
    room = _ROOM * (highest - lowest or 1)
    columns = [
        Column("side", rows["side"].tolist()),
        Column("part", rows["part"].tolist()),
        Column("value", rows["value"].to_numpy(float), "adds", "+.4f", quantity),
    ]
    if has_effects:
        texts = [fall_in_words(effect, ".4f", otherwise="not measured") for effect in effects]
        columns += [
            Column("effect", effects, None, in_file="fall without it"),
            Column("falls", texts, "without it", in_file=None),
        ]
    label = "names[indexof(centres, datum.value)]"
    fits = f"width / end * widths[indexof(centres, datum.value)] >= {_APART} + {_LETTER} * length({label})"
    axis = alt.Axis(
        values=value("centres"),
        labelExpr=f"{fits} ? {label} : ''",
        labelFontSize=SMALL,
        labelOverlap=False,
        grid=False,
        ticks=False,
    )
    x_scale = alt.Scale(domain=[0, value("end")], nice=False)
    y_scale = alt.Scale(domain=[value("lowest"), value("highest")], nice=False)

    def along(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=None, scale=x_scale, axis=axis)

    def upwards(field: str) -> alt.Y:
        number = alt.Axis(labelExpr="datum.value ? format(datum.value, '+.3~g') : '0'", tickCount=5)
        return alt.Y(f"{field}:Q", title=None, scale=y_scale, axis=number)

    whole: Kwargs = {"y": alt.value(0), "y2": alt.value("height")}
    across: Kwargs = {"x": along("start"), "x2": "stop:Q"}
    by_side = encodings_by_kind("side:N", tuple(sides), color=colours)
    name: Kwargs = {"baseline": "top", "fontSize": SMALL, "fontWeight": "bold", "color": LABEL_INK}
    # without a legend of its own the symbols stay those of bars
    colour = by_side["color"].copy()
    colour["legend"] = None
    dot = {"x": along("centre"), "y": upwards("effect"), "color": colour}
    size = alt.expr("clamp(pow(width / end, 2) / 2, 10, 55)")
    circle: Kwargs = {
        "filled": True,
        "opacity": 1,
        "size": size,
        "stroke": INK,
        "strokeWidth": 1.5,
        "aria": False,
    }
    return chart(
        columns,
        layer("rect", across | whole, "layers", fill=NEUTRAL, opacity=0.09, aria=False),
        layer("text", {"x": along("centre"), "y": alt.value(3), "text": "name:N"}, "layers", **name),
        layer("bar", across | by_side | {"y": upwards("value"), "y2": alt.datum(0)}, aria=False),
        layer("rule", {"y": alt.datum(0)}, "layers", color=NEUTRAL, aria=False),
        layer("point", dot, "effects", **circle) if has_effects else None,
        # a bar of nothing could not be pointed at
        layer("rect", across | whole | {"tooltip": columns, "description": "part:N"}, fill="transparent"),
        drawing=drawing,
        frames={"layers": layers} | ({"effects": dots} if has_effects else {}),
        values={
            "names": parts["name"].tolist(),
            "centres": (parts["start"] + parts["width"] / 2).tolist(),
            "widths": parts["width"].tolist(),
            "end": float((parts["start"] + parts["width"]).max()) if len(parts) else 1.0,
            "lowest": lowest - room / 4,
            "highest": highest + room,
        },
        height=height,
        title=heading(quantity, *_reading_lines(rows, answers, ends, has_effects=has_effects)),
        description=f"What each of {len(parts)} parts adds to the {quantity}, of {' and '.join(sides)}",
    )


def _part_rows(sides: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One data frame of the parts of all sides: a row for each part of each side, with its `effect`, NaN if the
    side's frame has none.
    """
    columns = dict.fromkeys(("side", "part", "kind"), str) | dict.fromkeys(("layer", "head"), "Int64")
    empty = pd.DataFrame(columns=[*columns, "value", "effect"])
    rows = pd.concat([empty, *(frame.assign(side=side) for side, frame in sides.items())], ignore_index=True)
    rows = rows.astype(columns | {"value": float, "effect": float})
    rows["part"] = rows["part"].str.replace(r" from .*", "", regex=True)
    return (
        rows.groupby([*columns], dropna=False, sort=False)[["value", "effect"]].sum(min_count=1).reset_index()
    )


def _reading_lines(
    rows: pd.DataFrame, answers: Sequence[str], ends: tuple[str, str] | None, *, has_effects: bool
) -> list[str]:
    """Lines of text on what the bars sum to, and on how to read them."""
    sums = rows.groupby("side", sort=False)["value"].sum()
    clauses = [f"{side} {format_number(total, '+.3g')}" for side, total in sums.items()]
    if answers:
        clauses = [f"{clause}, answer: {name}" for clause, name in zip(clauses, answers, strict=True)]
    reading = [f"up: towards {ends[1]}; down: towards {ends[0]}"] if ends else []
    if has_effects:
        reading.append(
            "bar: what a part adds; dot: how far the number falls without that head (below 0: rises)"
        )
    return [
        line
        for line in (f"sum of all bars: {' · '.join(clauses)}" * bool(clauses), "; ".join(reading))
        if line
    ]


def _part_positions(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two data frames: the parts by name with their `start` and `width` on the x axis, where a head is 1 wide, and
    the names below them; and the layers with their `start` and `stop`.
    """
    parts = rows.drop_duplicates("part").set_index("part")
    behind = parts["layer"].max() + 1 if parts["layer"].notna().any() else 0
    group = parts["layer"].fillna(behind).where(~parts["kind"].isin(EMBEDDING), -1)
    parts["group"] = group.astype(int)
    parts = parts.sort_values(["group", "head"], kind="stable")
    is_head = parts["head"].notna()
    parts["name"] = ("H" + parts["head"].astype(str)).where(is_head, parts["kind"].replace(_SHORT))
    parts["width"] = np.where(parts["layer"].isna(), _WIDE, 1.0)
    gaps = parts["group"].diff().fillna(0).ne(0).cumsum()
    parts["start"] = parts["width"].cumsum() - parts["width"] + gaps
    of_layers = parts.assign(stop=parts["start"] + parts["width"]).groupby("layer")
    layers = of_layers.agg(start=("start", "min"), stop=("stop", "max"))
    layers["name"] = [f"L{number}" for number in layers.index]
    layers["centre"] = (layers["start"] + layers["stop"]) / 2
    return parts, layers
