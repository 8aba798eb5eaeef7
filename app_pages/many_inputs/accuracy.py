"""How many inputs are classified correctly, in all and by class, and which classes are confused."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from app_pages.controls.many_inputs_controls import CELL, CONTAINED, WRONG_ONLY
from app_pages.inputs.input_list import Item
from app_pages.many_inputs.predictions import Prediction, Predictions
from app_pages.show.show import clickable
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import plain
from model.measures.predicted_classes import confusion_counts
from model.measures.significance import wilson_interval
from viz.builders.number_format import format_number, percent
from viz.inputs.confusion_matrix import confusion_matrix

Cell = tuple[int, int]  # the classes of the label and of the answer

LEAST_INPUTS = 10  # inputs; of fewer no percentage is written
MOST_CLASSES = 15  # rows of the matrix


def accuracy_text(n_right: int, n: int) -> str:
    """The accuracy as Markdown: a percentage, or a phrase that `n` is too small for one."""
    if n < LEAST_INPUTS:
        return f"too few for a percentage (n = {n:,})"
    return f"accuracy **{percent(n_right / n)}**"


def draw_accuracy(predictions: Predictions, cell: Cell | None) -> None:
    """Draws the confusion matrix, where a click on a cell filters the table, with `cell` marked, and the accuracy of each
    class.
    """
    counts = _confusion_counts(predictions)
    shown_classes, n_hidden = _shown_classes(counts)
    names = [predictions.classes[index] for index in shown_classes]
    framed_cell = (
        None
        if cell is None or not set(cell) <= set(shown_classes)
        else (shown_classes.index(cell[0]), shown_classes.index(cell[1]))
    )

    def take(point: Mapping[str, int]) -> None:
        chosen = shown_classes[point["label"]], shown_classes[point["answer"]]
        take_cell(None if chosen == cell else chosen)

    clickable(
        call(confusion_matrix, counts[np.ix_(shown_classes, shown_classes)], names, selected=framed_cell),
        key="many_confusion",
        chosen=cell,
        selection="cell",
        take=take,
        width="content",
    )
    note = "A click on a cell shows its inputs alone; a second click shows all again."
    if n_hidden:
        note += f" These are the {len(shown_classes)} classes with most labels and answers; {n_hidden:,} more {'is' if n_hidden == 1 else 'are'} not drawn."
    st.caption(note)
    st.markdown(_class_table(counts, predictions.classes))
    st.caption(
        "The 95 % intervals are those of Wilson (1927), as if the inputs were drawn independently of each other. "
        f"Of fewer than {LEAST_INPUTS} inputs no percentage is written."
    )


def _confusion_counts(predictions: Predictions) -> np.ndarray:
    """Number of inputs by label and predicted class, int [label, predicted]."""
    pairs = [(line.label, line.predicted) for line in predictions.lines if line.label is not None]
    labels, answers = np.array(pairs, int).reshape(-1, 2).T
    return confusion_counts(labels, answers, len(predictions.classes))


def _shown_classes(counts: np.ndarray) -> tuple[list[int], int]:
    """The classes that the matrix shows, in order (those that occur most often as label or prediction), and the number of other
    classes that occur.
    """
    occurrences = counts.sum(axis=0) + counts.sum(axis=1)
    occurring = np.flatnonzero(occurrences) if len(counts) > MOST_CLASSES else np.arange(len(counts))
    most_frequent = occurring[np.argsort(-occurrences[occurring], kind="stable")][:MOST_CLASSES]
    return sorted(most_frequent.tolist()), len(occurring) - len(most_frequent)


def _class_table(counts: np.ndarray, names: tuple[str, ...]) -> str:
    """Markdown table with the number of inputs, and how many are classified correctly: of all, and of each class that is a
    label.
    """
    rows = ["| label | right | accuracy | 95 % interval |", "|:--|--:|--:|--:|"]
    right, n_by_class = np.diag(counts).tolist(), counts.sum(axis=1).tolist()
    lines = [("all", sum(right), sum(n_by_class)), *zip(map(plain, names), right, n_by_class, strict=True)]
    for name, n_right, n in lines:
        if n:
            low, high = map(float, wilson_interval(np.array(n_right), np.array(n)))
            shares = f"{percent(n_right / n, brief=True)} | {format_number(100 * low, '.1f')} to {percent(high, brief=True)}"
            rows.append(f"| {name} | {n_right:,} of {n:,} | {'too few | ' if n < LEAST_INPUTS else shares} |")
    return "\n".join(rows)


@dataclass(frozen=True, kw_only=True)
class RowFilter:
    """Which rows of the table are shown: those that meet all of these conditions."""

    contained: str = ""
    cell: Cell | None = None
    wrong_only: bool = False

    def matches(self, item: Item, line: Prediction) -> bool:
        """Whether the row `line` of the input `item` meets the conditions.

        Case does not matter. `contained` may be in either text of a pair, or in a picture's name.
        """
        if self.wrong_only and line.is_right is not False:
            return False
        if self.cell is not None and (line.label, line.predicted) != self.cell:
            return False
        texts = [item.name] if item.text is None else [item.text.text, item.text.second or ""]
        return any(self.contained.casefold() in text.casefold() for text in texts)

    def conditions(self, classes: Sequence[str]) -> str:
        """The conditions as Markdown, such as "containing “good”, wrong ones only"; "" if there are none."""
        conditions = []
        if self.contained:
            conditions.append(f"containing “{plain(self.contained)}”")
        if self.cell is not None:
            label, answer = (plain(classes[index]) for index in self.cell)
            conditions.append(f"labelled {label} and answered {answer}")
        if self.wrong_only:
            conditions.append("wrong ones only")
        return ", ".join(conditions)


def chosen_cell(predictions: Predictions) -> Cell | None:
    """The cell of the confusion matrix that the address names; None without one, or if this encoder lacks its classes."""
    code = CELL.read()
    if not predictions.n_labelled or not re.fullmatch(CELL.pattern, code):  # an address may hold anything
        return None
    label, answer = map(int, code.split("-"))
    return (label, answer) if max(label, answer) < len(predictions.classes) else None


def take_cell(cell: Cell | None) -> None:
    """Callback: shows only the rows in this `cell` of the confusion matrix, (label, predicted class); None: all rows."""
    CELL.take("" if cell is None else f"{cell[0]}-{cell[1]}")


def say_filter(row_filter: RowFilter, n_shown: int, predictions: Predictions) -> None:
    """Writes how many rows are shown and which conditions hide the others; draws a button that shows all rows (always
    present).
    """
    conditions = row_filter.conditions(predictions.classes)
    if conditions:
        st.markdown(f"**{n_shown:,} of {len(predictions.lines):,}** match: {conditions}.", width="content")
    st.button(
        "Show all",
        key="many_show_all",
        icon=":material/filter_alt_off:",
        type="tertiary",
        disabled=not conditions,
        on_click=_show_all_rows,
    )


def _show_all_rows() -> None:
    CONTAINED.take("")
    WRONG_ONLY.take(False)
    take_cell(None)
