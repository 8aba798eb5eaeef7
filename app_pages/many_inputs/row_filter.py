"""Which rows of the table are shown: those that contain a text, stand in a cell of the confusion matrix, or are wrong."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from app_pages.controls.many_inputs_controls import CELL, CONTAINED, WRONG_ONLY
from app_pages.inputs.input_list import Item
from app_pages.many_inputs.predictions import Prediction, Predictions
from app_pages.toolkit.markdown import plain

Cell = tuple[int, int]  # the classes of the label and of the answer


@dataclass(frozen=True, kw_only=True)
class RowFilter:
    """What the shown rows have in common."""

    contained: str = ""
    cell: Cell | None = None
    wrong_only: bool = False

    def matches(self, item: Item, line: Prediction) -> bool:
        """Whether this line of the table, of the input `item`, is shown.

        Upper and lower case are the same. Of pairs of texts either one contains `contained`, of a picture its name.
        """
        if self.wrong_only and line.is_right is not False:
            return False
        if self.cell is not None and (line.label, line.predicted) != self.cell:
            return False
        texts = [item.name] if item.text is None else [item.text.text, item.text.second or ""]
        return any(self.contained.casefold() in text.casefold() for text in texts)

    def conditions(self, classes: Sequence[str]) -> str:
        """What it asks for, in Markdown, such as "containing “good”, wrong ones only"; "" if it shows all."""
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
    """The cell of the confusion matrix in the address; None if there is none, or it is not of this encoder's classes."""
    code = CELL.read()
    if not predictions.n_labelled or not re.fullmatch(CELL.pattern, code):  # an address may hold anything
        return None
    label, answer = map(int, code.split("-"))
    return (label, answer) if max(label, answer) < len(predictions.classes) else None


def take_cell(cell: Cell | None) -> None:
    """Callback: shows the rows of this cell alone; None shows those of all cells."""
    CELL.take("" if cell is None else f"{cell[0]}-{cell[1]}")


def say_filter(row_filter: RowFilter, n_shown: int, predictions: Predictions) -> None:
    """Writes how many rows match and why the others are hidden; draws a button that shows all, which is always there."""
    conditions = row_filter.conditions(predictions.classes)
    if conditions:
        st.markdown(f"**{n_shown:,} of {len(predictions.lines):,}** match: {conditions}.", width="content")
    st.button(
        "Show all",
        key="many_show_all",
        icon=":material/filter_alt_off:",
        type="tertiary",
        disabled=not conditions,
        on_click=_show_all,
    )


def _show_all() -> None:
    CONTAINED.take("")
    WRONG_ONLY.take(False)
    take_cell(None)
