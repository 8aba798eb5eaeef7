"""Curves over positions, offsets between them, and shifts of all of them."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.curves import CHOSEN, WHOLE, curves, encodings_by_kind, long_table, probability_axis, rule
from ..builders.figure import VegaFigure, click_on, data, either, form, need_shape, tip, value
from ..builders.palette import CATEGORIES, EMPHASIS, NEUTRAL
from ..builders.theme import FIT
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
    series = {name: (range(len(tokens)), values) for name, values in norms.items()}
    frame = long_table(series, "vector", "position", "norm")
    frame["token"] = [visible(token) for token in tokens] * len(norms)
    return _lengths_form(tuple(norms), len(tokens) <= _MOST_POINTS).with_data(
        frame,
        values={"last": max(len(tokens) - 1, 1)},
        description=f"Lengths of {', '.join(norms)} at {len(tokens)} positions.",
    )


@form
def _lengths_form(kinds: tuple[str, ...], few: bool) -> alt.TopLevelMixin:
    n_kinds = len(kinds)
    scale = alt.Scale(domain=[0, value("last")], nice=False)
    layers = curves(
        alt.X("position:Q", title="position", scale=scale, axis=WHOLE),
        alt.Y("norm:Q", title="Euclidean length", scale=alt.Scale(domainMin=0)),
        encodings_by_kind(
            "vector:N", kinds, color=_THREE[-n_kinds:], shape=_POINTS[-n_kinds:], legend={"columns": 1}
        ),
        tooltip=["vector:N", "position:Q", "token:N", tip("norm:Q", ".4f", "length")],
        line={"strokeWidth": 1, "opacity": 0.6},
        points={"size": 45 if few else 12},
    )
    return alt.layer(*layers).properties(height=320, autosize=FIT)


def error_curves(errors: Mapping[str, np.ndarray]) -> VegaFigure:
    """Curves of errors [position] of up to three maps, by the names of the maps; errors are not negative.

    Raises ValueError for more than three maps.
    """
    if len(errors) > len(_MAPS):
        raise ValueError(f"at most {len(_MAPS)} curves can be told apart here, got {len(errors)}")
    series = {name: (range(len(values)), values) for name, values in errors.items()}
    return _errors_form(tuple(errors)).with_data(
        long_table(series, "map", "t", "error"),
        in_file={"t": "position"},
        description=f"Error over the position of {', '.join(errors)}",
    )


@form
def _errors_form(maps: tuple[str, ...]) -> alt.Chart:
    (lines,) = curves(
        alt.X("t:Q", title="position t", scale=alt.Scale(nice=False)),
        alt.Y("error:Q", title="root mean square error"),
        encodings_by_kind("map:N", maps, color=_MAPS, legend={"direction": "vertical"}),
        tooltip=[tip("map:N"), tip("t:Q", title="position t"), tip("error:Q", ".3~g")],
        line={"strokeWidth": 1.8},
    )
    return lines.properties(height=340)


def offset_curve(
    offsets: np.ndarray, measured: np.ndarray, formula: np.ndarray, *, what: str, law: str
) -> VegaFigure:
    """Dots for `measured` and a line for `formula`, both [offset]; `what` is the title of the y axis, `law` names the
    formula.

    Raises ValueError where the lengths differ.
    """
    need_shape((len(offsets),), measured=measured, formula=formula)
    columns = {"offset": offsets, "measured": measured, "formula": formula, "deviation": measured - formula}
    return _offsets_form(what, law, len(offsets) <= _FEW).with_data(
        columns, description=f"{what} over the offset of two positions: measured as dots, {law} as a line"
    )


@form
def _offsets_form(what: str, law: str, few: bool) -> alt.TopLevelMixin:
    channels = encodings_by_kind(
        "kind:N",
        (_SEEN, law),
        color=(NEUTRAL, EMPHASIS),
        legend={"direction": "vertical", "symbolOpacity": 1},
    )
    axis = alt.Axis(format="d", tickMinStep=1)
    x = alt.X("offset:Q", title="offset φ = t − s (positions)", scale=alt.Scale(nice=False), axis=axis)
    base = alt.Chart(data()).encode(x=x, **channels)
    tooltip = [
        tip("offset:Q", title="offset φ"),
        *(tip(f"{field}:Q", ".6f") for field in ("measured", "formula")),
        tip("deviation:Q", ".1e"),
    ]
    dots = base.transform_calculate(kind=f"'{_SEEN}'").mark_circle(opacity=0.6, size=60 if few else 22)
    line = base.transform_calculate(kind=f"'{law}'").mark_line(strokeWidth=1.8, aria=False, tooltip=None)
    return alt.layer(
        dots.encode(y=alt.Y("measured:Q", title=what), tooltip=tooltip), line.encode(y="formula:Q")
    ).properties(height=340)


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
    frame = {
        "shift": list(shifts),
        "probability": probabilities[:, followed].astype(float),
        "says": [class_names[index] for index in leading],
        "kept": leading == followed,
        "name": [f"shift {shift}" for shift in shifts],
    }
    return _shifts_form(class_names[followed], unit).with_data(
        frame,
        in_file={
            "probability": f"probability of {class_names[followed]}",
            "says": "most probable class",
            "kept": None,
            "name": None,
        },
        values={"last": max([*shifts, 1])},
        frames={CHOSEN: {"shift": [selected]}},
        description=f"Probability of {class_names[followed]} at {len(shifts)} shifts of all positions.",
    )


@form
def _shifts_form(name: str, unit: str) -> alt.TopLevelMixin:
    scale = alt.Scale(domain=[0, value("last")], nice=False)
    line, points = curves(
        alt.X("shift:Q", title=f"shift k, in {unit}", scale=scale, axis=WHOLE),
        alt.Y("probability:Q", title=f"probability of {name}", **probability_axis()),
        {},
        tooltip=[
            tip("shift:Q", title="shift k"),
            tip("probability:Q", ".4f"),
            tip("says:N", title="the classifier says"),
        ],
        line={"strokeWidth": 1.5, "color": NEUTRAL, "aria": False},
        points={"size": 60, "cursor": "pointer", "stroke": EMPHASIS, "filled": False, "fillOpacity": 1},
        click=click_on("shift", "shift"),
    )
    point_fill = either("datum.kept", EMPHASIS, "transparent")
    points = points.encode(fill=point_fill, description="name:N")
    return alt.layer(line, rule("shift"), points).properties(height=260, autosize=FIT)
