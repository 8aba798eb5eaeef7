"""Curves over positions, offsets between them and shifts of all of them, and dots for shuffled orders."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, dots, layer, lines
from ..builders.curves import CHOSEN, WHOLE, encodings_by_kind, long_columns, probability_axis, rule
from ..builders.figure import Kwargs, VegaFigure, either, need_shape, tip, value
from ..builders.palette import CATEGORIES, EMPHASIS, NEUTRAL
from ..builders.theme import INK
from ..builders.token_label import visible

_THREE = (NEUTRAL, *CATEGORIES[:2])
_POINTS = ("triangle-up", "circle", "square")
_MOST_POINTS = 100  # positions; beyond, the marks would run into each other, and the lines say it all
_MAPS = CATEGORIES[:3]
_FEW = 130  # offsets; of more the dots are smaller
_SEEN = "measured, mean over all pairs"


def norm_curves(norms: Mapping[str, np.ndarray], tokens: Sequence[str]) -> VegaFigure:
    """Curves of vector norms [position] for up to three kinds of vectors, by the kind's name.

    Raises ValueError where a kind does not have one length for each token.
    """
    need_shape((len(tokens),), **norms)
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
    y = alt.Y("norm:Q", title="Euclidean length", scale=alt.Scale(domainMin=0))
    by_kind = encodings_by_kind(
        "vector:N", kinds, color=_THREE[-n_kinds:], shape=_POINTS[-n_kinds:], legend={"columns": 1}
    )
    return chart(
        columns,
        *lines(
            {"x": x, "y": y, **by_kind},
            columns,
            {"strokeWidth": 1, "opacity": 0.6},
            {"size": 45 if len(tokens) <= _MOST_POINTS else 12},
        ),
        values={"last": max(len(tokens) - 1, 1)},
        height=320,
        description=f"Lengths of {', '.join(norms)} at {len(tokens)} positions.",
    )


def error_curves(errors: Mapping[str, np.ndarray]) -> VegaFigure:
    """Curves of errors [position] of up to three maps, by the names of the maps; errors are not negative.

    Raises ValueError for more than three maps.
    """
    if len(errors) > len(_MAPS):
        raise ValueError(f"at most {len(_MAPS)} curves can be told apart here, got {len(errors)}")
    columns = long_columns(
        {name: (range(len(values)), values) for name, values in errors.items()},
        Column("map", ()),
        Column("t", (), "position t", in_file="position"),
        Column("error", (), format=".3~g"),
    )
    x = alt.X("t:Q", title="position t", scale=alt.Scale(nice=False))
    y = alt.Y("error:Q", title="root mean square error")
    by_map = encodings_by_kind("map:N", tuple(errors), color=_MAPS, legend={"direction": "vertical"})
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
    """Dots for `measured` and a line for `formula`, both [offset]; `what` is the title of the y axis, `law` names the
    formula.

    Raises ValueError where the lengths differ.
    """
    need_shape((len(offsets),), measured=measured, formula=formula)
    columns = [
        Column("offset", offsets, "offset φ"),
        Column("measured", measured, format=".6f"),
        Column("formula", formula, format=".6f"),
        Column("deviation", measured - formula, format=".1e"),
    ]
    axis = alt.Axis(format="d", tickMinStep=1)
    x = alt.X("offset:Q", title="offset φ = t − s (positions)", scale=alt.Scale(nice=False), axis=axis)
    legend = {"direction": "vertical", "symbolOpacity": 1}
    base = {"x": x, **encodings_by_kind("kind:N", (_SEEN, law), color=(NEUTRAL, EMPHASIS), legend=legend)}
    return chart(
        columns,
        layer(
            "circle",
            base | {"y": alt.Y("measured:Q", title=what), "tooltip": columns},
            calculate={"kind": f"'{_SEEN}'"},
            opacity=0.6,
            size=60 if len(offsets) <= _FEW else 22,
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
    """A curve over shifts of the probability of the class that is most probable at the first shift; its dots are filled
    where that class is still the most probable.

    `probabilities` are [shift, class]. A vertical line marks the shift `selected`. A click on a dot sets the point
    selection `shift`, field `shift`. Shifts are counted in `unit`. Raises ValueError where the shapes do not fit each other.
    """
    need_shape((len(shifts), len(class_names)), probabilities=probabilities)
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
        fill=either("datum.kept", EMPHASIS, "transparent"),
        description="name:N",
    )
    return chart(
        columns,
        line,
        rule("shift"),
        points,
        drawing={"kept": leading == followed, "name": [f"shift {shift}" for shift in shifts]},
        values={"last": max([*shifts, 1])},
        frames={CHOSEN: {"shift": [selected]}},
        height=260,
        description=f"Probability of {name} at {len(shifts)} shifts of all positions.",
    )


_ROW = 70  # pixels


def shuffle_strip(
    probabilities: Mapping[str, np.ndarray],
    in_order: Mapping[str, float],
    *,
    class_name: str,
    selected: int | None,
) -> VegaFigure:
    """Dots of the probability [seed] of `class_name`, a row for each condition; a bar marks the input in its own
    order.

    Seeds count from 0; the dots of the `selected` one stand out. A click on a dot sets the point selection `seed`,
    field `seed`.
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
    bar: Kwargs = {"thickness": 2, "size": _ROW * 0.8, "color": INK, "aria": False}
    return chart(
        columns,
        layer("tick", channels | in_order_tips, "in_order", **bar),
        dots(channels | spread, columns, ("seed", "seed"), sizes=(160, 45), mark="circle", opacity=0.75),
        drawing={
            "selected": is_selected,
            "name": [f"{condition}, seed {seed}" for condition, seed in pairs],
        },
        last=np.array(is_selected, bool),
        frames={"in_order": {"condition": list(in_order), "probability": list(in_order.values())}},
        height=_ROW * max(len(probabilities), 1),
        description=f"Probability of {class_name} for {len(pairs)} shuffled inputs; a bar marks the input in order.",
    )
