"""How many inputs of each class were given each class as the answer: a row for each label, a column for each answer."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import BARE_AXIS, cells, strong
from ..builders.figure import VegaFigure, click_on, form, need_shape, tip
from ..builders.number_format import abbreviated
from ..builders.theme import MIDDLE, SMALL
from ..builders.vega_colours import ENDS, colour_legend

_SIDE, _NARROWEST, _WIDEST, _LOWEST, _HIGHEST = (
    340,
    22,
    84,
    22,
    34,
)  # pixels, of the cells together and of one
_LARGE_CELL = 30  # pixels; in narrower cells the letters are smaller
_LONGEST_NAME = 110  # pixels
_LETTER = 8  # pixels, the width of one


def confusion_matrix(
    counts: np.ndarray, names: Sequence[str], *, selected: tuple[int, int] | None
) -> VegaFigure:
    """A grid of counts [label, answer], in the order of the class `names`; the `selected` (label, answer) is framed.

    A click on a cell sets the point selection `cell`, fields `label`, `answer` (both indices) and `selected`, so that a
    second click differs from the first. Raises ValueError unless counts has a row and a column for each name.
    """
    need_shape((len(names), len(names)), counts=counts)
    pairs = sorted(
        np.ndindex(counts.shape), key=lambda pair: pair == selected
    )  # a frame lies on its neighbours
    values = np.array([counts[pair] for pair in pairs], float)
    frame = {
        "label": [label for label, _ in pairs],
        "answer": [answer for _, answer in pairs],
        "label_name": [names[label] for label, _ in pairs],
        "answer_name": [names[answer] for _, answer in pairs],
        "value": values,
        "share": values / np.maximum([counts[label].sum() for label, _ in pairs], 1),
        "written": [abbreviated(int(count)) for count in values],
        "strong": strong(values, max(values.max(initial=0), 1), signed=False),
        "name": [f"{names[label]}, answered {names[answer]}" for label, answer in pairs],
        "selected": [pair == selected for pair in pairs],
    }
    width = int(np.clip(_SIDE // max(len(names), 1), _NARROWEST, _WIDEST))
    longest = max(map(len, names), default=0) * _LETTER
    return _chart_form(small=width < _LARGE_CELL, upright=longest > width).with_data(
        frame,
        in_file={
            "label": None,
            "answer": None,
            "label_name": "label",
            "answer_name": "answer",
            "value": "inputs",
            "share": "share of the inputs with this label",
        },
        values={"largest": max(float(values.max(initial=0)), 1.0), "class_names": list(names)},
        width=width * len(names),
        height=int(np.clip(width, _LOWEST, _HIGHEST)) * len(names),
        description=f"Confusion matrix of {int(values.sum()):,} inputs: a row for each of {len(names)} labels, a column for each answer",
    )


@form
def _chart_form(*, small: bool, upright: bool) -> alt.TopLevelMixin:
    axis = BARE_AXIS | {
        "labelExpr": "class_names[datum.value]",
        "labelLimit": _LONGEST_NAME,
        "labelFlush": False,
    }
    angle = -90 if upright else 0
    return cells(
        alt.X("answer:O", title="answer", axis=alt.Axis(orient="top", labelAngle=angle, **axis)),
        alt.Y("label:O", title="label", axis=alt.Axis(orient="left", **axis)),
        tooltip=[
            tip("label_name:N", title="label"),
            tip("answer_name:N", title="answer"),
            tip("value:Q", ",", "inputs"),
            tip("share:Q", ".1%", "of this label"),
        ],
        signed=False,
        legend=colour_legend("number of inputs", ENDS, format=",d"),
        selectable=click_on("cell", "label", "answer", "selected"),
        font_size=SMALL if small else MIDDLE,
    ).properties(autosize="pad")
