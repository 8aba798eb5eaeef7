"""How many inputs with each label got each class as the answer: a row for each label, a column for each answer."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import BARE_AXIS, grid
from ..builders.chart import Column
from ..builders.figure import VegaFigure
from ..builders.number_format import format_count
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

    Colours show where answers are wrong: the share of the inputs with a label that were given another answer, up to the largest.
    Right answers have no colour, and wrong ones that do not occur no number.
    A click on a cell sets the point selection `cell`, fields `label`, `answer` (both indices) and `selected`, so that a
    second click differs from the first.
    """
    label, answer = np.indices(counts.shape).reshape(2, -1)
    shares = counts.ravel() / np.maximum(counts.sum(axis=1), 1)[label]
    wrong_shares = np.where(label == answer, 0, shares)
    pairs = list(np.ndindex(counts.shape))
    width = int(np.clip(_SIDE // max(len(names), 1), _NARROWEST, _WIDEST))
    axis = BARE_AXIS | {
        "labelExpr": "class_names[datum.value]",
        "labelLimit": _LONGEST_NAME,
        "labelFlush": False,
    }
    angle = -90 if max(map(len, names), default=0) * _LETTER > width else 0
    return grid(
        [
            Column("label_name", [names[index] for index in label], "label", in_file="label"),
            Column("answer_name", [names[index] for index in answer], "answer", in_file="answer"),
            Column("value", counts.astype(float), "inputs", ",", "inputs"),
            Column(
                "share",
                shares,
                "of this label",
                ".1%",
                "share of the inputs with this label",
            ),
            Column("name", [f"{names[row]}, answered {names[column]}" for row, column in pairs], None),
        ],
        alt.X("answer:O", title="answer", axis=alt.Axis(orient="top", labelAngle=angle, **axis)),
        alt.Y("label:O", title="label", axis=alt.Axis(orient="left", **axis)),
        colour_of="wrong_share",
        largest=float(wrong_shares.max(initial=0)) or 1.0,
        signed=False,
        written=[
            format_count(int(count)) if count or is_right else ""
            for count, is_right in zip(counts.flat, label == answer, strict=True)
        ],
        font_size=SMALL if width < _LARGE_CELL else MIDDLE,
        legend=colour_legend("wrong answers, share of the label", ENDS, format=".0%"),
        click=("cell", "label", "answer", "selected"),
        selected=[pair == selected for pair in pairs],
        drawing={"label": label, "answer": answer, "wrong_share": wrong_shares},
        values={"class_names": list(names)},
        width=width * len(names),
        height=int(np.clip(width, _LOWEST, _HIGHEST)) * len(names),
        description=f"Confusion matrix of {int(counts.sum()):,} inputs: a row for each of {len(names)} labels, a column for each answer",
    )
