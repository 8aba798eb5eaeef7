"""Curves over positions, over offsets between them and over shifts of all positions; dots for shuffled inputs; and
bars of nearest neighbours, of how far layers see, and of the shares of several maps in the scores.
"""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.cells import head_axis
from ..builders.chart import (
    CHOSEN,
    WHOLE,
    Column,
    chart,
    dots,
    encodings_by_kind,
    layer,
    lines,
    long_columns,
    probability_axis,
    vertical_line,
)
from ..builders.figure import Kwargs, VegaFigure, conditional_value, tip, value
from ..builders.palette import ACCENT, CATEGORIES, EMPHASIS, NEUTRAL
from ..builders.theme import INK, MIDDLE
from ..builders.token_label import FONT, label, visible

_VECTOR_COLOURS = (NEUTRAL, *CATEGORIES[:2])
_VECTOR_SHAPES = ("triangle-up", "circle", "square")
_MOST_POINTS = 100  # positions; beyond, the marks would run into each other, and the lines say it all
_MAP_COLOURS = CATEGORIES[:3]
_MOST_LARGE_DOTS = 130  # offsets; of more the dots are smaller
_MEASURED_LABEL = "measured, mean over all pairs"
_BAR_HEIGHT = 24  # pixels a bar
_NAME_WIDTH = 124  # pixels for the names, on the left


def norm_curves(norms: Mapping[str, np.ndarray], tokens: Sequence[str]) -> VegaFigure:
    """Curves of the vector norms [position] of up to three kinds of vectors, by the name of the kind."""
    kinds, n_kinds = tuple(norms), len(norms)
    kind, position, norm = long_columns(
        {name: (range(len(tokens)), values) for name, values in norms.items()},
        Column("vector", ()),
        Column("position", ()),
        Column("norm", (), "length", ".4f"),
    )
    columns = [kind, position, Column("token", [visible(token) for token in tokens] * n_kinds), norm]
    scale = alt.Scale(domain=[0, value("last")], nice=False)
    x = alt.X("position:Q", title="position", scale=scale, axis=WHOLE)
    y = alt.Y("norm:Q", title="length of the vector", scale=alt.Scale(domainMin=0))
    by_kind = encodings_by_kind(
        "vector:N",
        kinds,
        color=_VECTOR_COLOURS[-n_kinds:],
        shape=_VECTOR_SHAPES[-n_kinds:],
        legend={"columns": n_kinds},
    )
    return chart(
        columns,
        *lines(
            {"x": x, "y": y, **by_kind},
            columns,
            {"strokeWidth": 2},
            {"size": 45 if len(tokens) <= _MOST_POINTS else 12},
        ),
        values={"last": max(len(tokens) - 1, 1)},
        height=320,
        description=f"Lengths of {', '.join(norms)} at {len(tokens)} positions.",
    )


def error_curves(errors: Mapping[str, np.ndarray]) -> VegaFigure:
    """Curves of the errors [position] of up to three maps, by the name of the map; errors are not negative."""
    columns = long_columns(
        {name: (range(len(values)), values) for name, values in errors.items()},
        Column("map", ()),
        Column("t", (), "position t", in_file="position"),
        Column("error", (), format=".3~g"),
    )
    x = alt.X("t:Q", title="position t", scale=alt.Scale(nice=False))
    y = alt.Y("error:Q", title="root mean square error")
    by_map = encodings_by_kind("map:N", tuple(errors), color=_MAP_COLOURS, legend={"direction": "vertical"})
    return chart(
        columns,
        *lines({"x": x, "y": y, **by_map}, columns, {"strokeWidth": 1.8}),
        height=340,
        autosize=None,
        description=f"Error over the position of {', '.join(errors)}",
    )


def offset_curve(
    offsets: np.ndarray, measured: np.ndarray, formula: np.ndarray, *, what: str, law: str
) -> VegaFigure:
    """Dots for the values `measured` and a line for those of a `formula`, both [offset]; `what` is the title of the y
    axis, `law` names the formula.
    """
    columns = [
        Column("offset", offsets, "offset φ"),
        Column("measured", measured, format=".6f"),
        Column("formula", formula, format=".6f"),
        Column("deviation", measured - formula, format=".1e"),
    ]
    axis = alt.Axis(format="d", tickMinStep=1)
    x = alt.X("offset:Q", title="offset φ = t − s (positions)", scale=alt.Scale(nice=False), axis=axis)
    legend = {"direction": "vertical", "symbolOpacity": 1}
    base = {
        "x": x,
        **encodings_by_kind("kind:N", (_MEASURED_LABEL, law), color=(NEUTRAL, EMPHASIS), legend=legend),
    }
    return chart(
        columns,
        layer(
            "circle",
            base | {"y": alt.Y("measured:Q", title=what), "tooltip": columns},
            calculate={"kind": f"'{_MEASURED_LABEL}'"},
            opacity=0.6,
            size=60 if len(offsets) <= _MOST_LARGE_DOTS else 22,
        ),
        layer(
            "line",
            base | {"y": "formula:Q"},
            calculate={"kind": f"'{law}'"},
            strokeWidth=1.8,
            aria=False,
            tooltip=None,
        ),
        height=340,
        autosize=None,
        description=f"{what} over the offset of two positions: measured as dots, {law} as a line",
    )


def shift_curve(
    shifts: Sequence[int],
    probabilities: np.ndarray,
    class_names: Sequence[str],
    *,
    selected: int,
    unit: str = "positions",
) -> VegaFigure:
    """The probability of one class when all positions are shifted: the class that is most probable at the first of
    the `shifts`. A dot is filled where this class is still the most probable.

    `probabilities` are [shift, class]. A vertical line marks the shift `selected`. A click on a dot sets the point
    selection `shift`, field `shift`. `unit` is the unit of the shifts.
    """
    leading = probabilities.argmax(axis=1) if len(shifts) else np.zeros(0, int)
    followed = int(leading[0]) if len(shifts) else 0
    name = class_names[followed]
    columns = [
        Column("shift", list(shifts), "shift k"),
        Column("probability", probabilities[:, followed], "", ".4f", f"probability of {name}"),
        Column(
            "says",
            [class_names[index] for index in leading],
            "the classifier says",
            "",
            "most probable class",
        ),
    ]
    scale = alt.Scale(domain=[0, value("last")], nice=False)
    x = alt.X("shift:Q", title=f"shift k, in {unit}", scale=scale, axis=WHOLE)
    y = alt.Y("probability:Q", title=f"probability of {name}", **probability_axis())
    line, points = lines(
        {"x": x, "y": y},
        columns,
        {"strokeWidth": 1.5, "color": NEUTRAL, "aria": False},
        {"size": 60, "cursor": "pointer", "stroke": EMPHASIS, "filled": False, "fillOpacity": 1},
        click=("shift", "shift"),
        fill=conditional_value("datum.kept", EMPHASIS, "transparent"),
        description="name:N",
    )
    return chart(
        columns,
        line,
        vertical_line("shift"),
        points,
        drawing={"kept": leading == followed, "name": [f"shift {shift}" for shift in shifts]},
        values={"last": max([*shifts, 1])},
        frames={CHOSEN: {"shift": [selected]}},
        height=260,
        description=f"Probability of {name} at {len(shifts)} shifts of all positions.",
    )


_ROW_HEIGHT = 70  # pixels


def shuffle_strip(
    probabilities: Mapping[str, np.ndarray],
    unshuffled: Mapping[str, float],
    *,
    class_name: str,
    selected: int | None,
) -> VegaFigure:
    """Dots of the probability of `class_name` for shuffled inputs, one for each seed: `probabilities` maps the name
    of each condition, a row, to its values [seed].

    A bar in each row marks the probability for the input in its own order, in `unshuffled` by condition. Seeds count
    from 0; the dots of the seed `selected` are larger. A click on a dot sets the point selection `seed`, field
    `seed`.
    """
    pairs = [(condition, seed) for condition, values in probabilities.items() for seed in range(len(values))]
    is_selected = [seed == selected for _, seed in pairs]
    columns = [
        Column("condition", [condition for condition, _ in pairs]),
        Column("seed", [seed for _, seed in pairs]),
        Column(
            "probability", [float(probabilities[condition][seed]) for condition, seed in pairs], format=".6f"
        ),
    ]
    channels = {
        "x": alt.X("probability:Q", title=f"probability of {class_name}", **probability_axis()),
        "y": alt.Y(
            "condition:N", title=None, sort=None, axis=alt.Axis(labelLimit=0, domain=False, ticks=False)
        ),
    }
    in_order_tips = {"tooltip": [tip("condition:N"), tip("probability:Q", ".6f", "in order")]}
    # Spread over the row, or equal dots would hide each other.
    spread = {"yOffset": alt.YOffset("seed:Q", scale=alt.Scale(padding=0.15))}
    bar: Kwargs = {"thickness": 2, "size": _ROW_HEIGHT * 0.8, "color": INK, "aria": False}
    return chart(
        columns,
        layer("tick", channels | in_order_tips, "in_order", **bar),
        dots(channels | spread, columns, ("seed", "seed"), sizes=(160, 45), mark="circle", opacity=0.75),
        drawing={
            "selected": is_selected,
            "name": [f"{condition}, seed {seed}" for condition, seed in pairs],
        },
        last=np.array(is_selected, bool),
        frames={"in_order": {"condition": list(unshuffled), "probability": list(unshuffled.values())}},
        height=_ROW_HEIGHT * max(len(probabilities), 1),
        description=f"Probability of {class_name} for {len(pairs)} shuffled inputs; a bar marks the input in order.",
    )


def neighbour_bars(
    names: Sequence[str], cosines: Sequence[float], *, word: str, positions: Sequence[int | None] = ()
) -> VegaFigure:
    """Horizontal bars of the `cosines` between the embedding of a `word` and those of its neighbours `names`, in the
    given order.

    `positions` are the neighbours' positions in the input, None for a word that is not in it.
    """
    positions = positions or [None] * len(names)
    suffixes = ["" if position is None else f" {position}" for position in positions]
    columns = [
        Column("rank", np.arange(1, len(names) + 1)),
        Column("name", [visible(name) for name in names], "neighbour"),
        Column("cosine", [float(cosine) for cosine in cosines], format=".4f"),
    ]
    # Two neighbours may have one name, so a bar is told by its rank.
    base = {"y": alt.Y("rank:O", axis=None), "tooltip": [tip("rank:O"), *columns[1:]]}
    x: Kwargs = {
        "title": "cosine similarity",
        # beyond 1, for the number behind a full bar and the sign in the corner
        "scale": alt.Scale(domain=[value("lowest"), 1.6], nice=False, rangeMin=_NAME_WIDTH),
        "axis": alt.Axis(values=[-1, -0.5, 0, 0.5, 1], grid=False),
    }
    text: Kwargs = {"align": "left", "fontSize": MIDDLE, "color": INK}
    number = {"x": alt.X("end:Q", **x), "text": alt.Text("cosine:Q", format=".3f")}
    return chart(
        columns,
        layer("bar", base | {"x": alt.X("cosine:Q", **x)}, color=EMPHASIS),
        layer(
            "text", base | {"x": alt.value(0), "text": "label:N"}, font=FONT, limit=_NAME_WIDTH - 8, **text
        ),
        layer("text", base | number, calculate={"end": "max(datum.cosine, 0)"}, dx=5, **text),
        drawing={"label": [label(name, 14) + suffix for name, suffix in zip(names, suffixes, strict=True)]},
        values={"lowest": float(min(0.0, *cosines)) if len(cosines) else 0.0},
        height=_BAR_HEIGHT * max(len(names), 1),
        description=f"The {len(names)} nearest neighbours of {visible(word)} by cosine similarity.",
    )


_LAYER_HEIGHT = 22  # pixels a layer
SEES, HOLDS = "the layer sees", "after it, the token can hold information from"


def reach_bars(sees: np.ndarray, holds: np.ndarray, *, axis_end: int, names: Sequence[str]) -> VegaFigure:
    """A row for each layer with two bars: dark, the positions to which the layer's mask lets a token attend (`sees`);
    faint, the positions from which information can have reached the token by the end of the layer (`holds`).

    `sees` and `holds` [layer, 2] are numbers of positions before and after the token. The x axis goes from
    -`axis_end` to `axis_end`, and `names` are those of the layers.
    """
    columns = [
        Column("layer", [*names, *names]),
        Column("bar", [HOLDS] * len(names) + [SEES] * len(names), "what"),
        Column("before", np.concatenate((-holds[:, 0], -sees[:, 0])), format="d"),
        Column("after", np.concatenate((holds[:, 1], sees[:, 1])), format="+d"),
    ]
    axis = alt.Axis(format="d", tickMinStep=1, tickCount=10)  # few enough that 0 keeps its label
    scale = alt.Scale(domain=[alt.ExprRef("-half"), value("half")], nice=False)
    bars = {
        "x": alt.X("before:Q", title="positions before and after the token", scale=scale, axis=axis),
        "x2": "after:Q",
        "y": alt.Y("layer:N", sort=list(names), title="layer", axis=alt.Axis(ticks=False, domain=False)),
        **encodings_by_kind("bar:N", (SEES, HOLDS), color=(EMPHASIS, NEUTRAL)),
        "opacity": conditional_value(f"datum.bar == '{SEES}'", 1, 0.3),
        "size": conditional_value(f"datum.bar == '{SEES}'", 6, 15),
        "tooltip": columns,
    }
    return chart(
        columns,
        layer("bar", bars),
        values={"half": axis_end},
        height=_LAYER_HEIGHT * len(names),
        description=f"How far each of {len(names)} layers sees, and from how far a token can hold information after it, in positions",
    )


def map_shares(sizes: Mapping[str, np.ndarray], *, head: int) -> VegaFigure:
    """A bar for each head, split by the shares of several maps in the sum of their `sizes` [head], by the name of the
    map.

    The bar of the chosen `head` is framed. A click on a bar sets the point selection `head`, field `head`.
    """
    names, total = list(sizes), np.sum(list(sizes.values()), axis=0)
    n_heads = len(next(iter(sizes.values())))
    by_head = np.stack(list(sizes.values()), axis=1)
    columns = [
        Column("head", np.repeat(np.arange(n_heads), len(names)), None),
        Column("map", names * n_heads),
        Column("size", by_head, "mean size", ".4f"),
        Column("share", by_head / total[:, None], format=".1%"),
    ]
    x = alt.X("head:O", title=None, axis=head_axis("H", orient="bottom"))
    axis = alt.Axis(format="%", tickCount=3)
    bars = {
        "x": x,
        "y": alt.Y("share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=axis),
        **encodings_by_kind("map:N", names, color=CATEGORIES),
        "tooltip": [tip("head:O"), *columns],
    }
    frame: Kwargs = {"fill": None, "stroke": ACCENT, "strokeWidth": 2.5, "aria": False}
    return chart(
        columns,
        layer("bar", bars, cursor="pointer", click=("head", "head")),
        layer("bar", {"x": x, "y": "from:Q", "y2": "to:Q"}, "chosen", **frame),
        frames={"chosen": {"head": [head], "from": [0], "to": [1]}},
        height=150,
        description=f"Shares of {', '.join(names)} in the scores of {n_heads} heads; head {head} is chosen",
    )
