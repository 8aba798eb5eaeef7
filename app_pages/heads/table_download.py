"""The table of heads as a file: CSV with all numbers, or LaTeX with the compared measures."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from app_pages.controls.heads_controls import HERE
from app_pages.heads.columns import COLUMNS
from app_pages.heads.numbers import ABLATION_COLUMNS, Head, HeadNumbers
from app_pages.show.download import name_parts
from app_pages.subject.stored_results import examples_phrase
from viz.builders.number_format import format_number, percent
from viz.export.safe_text import file_name
from viz.export.save import MIME, frame_csv, latex_table

CSV, LATEX = "CSV", "LaTeX"
_SUFFIXES = {CSV: "csv", LATEX: "tex"}


@dataclass(frozen=True)
class TableFile:
    """The content of a file of the table: a row for each of `heads`, in this order; in LaTeX, a column for each of `measures`.

    `measured_over` names the data on which the relations of the heads were measured, such as "250 sentences of UD English PUD";
    "" if they were not, and then there is no column of them. `encoder` is its name, "" for a record from a file.
    """

    numbers: HeadNumbers
    heads: Sequence[Head]
    measures: Sequence[str]
    measured_over: str = ""
    encoder: str = ""

    def csv(self) -> bytes:
        """The table with all numbers of the heads as CSV, in UTF-8."""
        return frame_csv(self.every_number())

    def latex(self) -> bytes:
        """The table with the chosen measures in LaTeX, in UTF-8."""
        return f"{latex_table(self.compared_numbers(), note=self.note)}\n".encode()

    @property
    def note(self) -> str:
        """Plain text on what was measured, for the note below the LaTeX table."""
        values = "Numbers of one input"
        if self.numbers.chosen_data != HERE and self.numbers.stored is not None:
            values = f"Means over {examples_phrase(self.numbers.stored.source)}"
        note = f"{values}{f', encoder {self.encoder}' * bool(self.encoder)}."
        if self.measured_over:
            note += f" Relation: share of its links that the head follows, over {self.measured_over}."
        return note

    def every_number(self) -> pd.DataFrame:
        """A row for each head: layer, head, roles, relations if they were measured, and each measure. A measure that was also
        taken over a data set has three columns: on this input, mean over the data set, standard deviation over it.

        A relation stands with its direction and its share of links, from 0 to 1: "case to head 0.8812".
        """
        columns: dict[str, list] = {
            "layer": [head.layer for head in self.heads],
            "head": [head.head for head in self.heads],
            "role": [", ".join(head.role_names) for head in self.heads],
        }
        if self.measured_over:
            columns["relation"] = [
                ", ".join(
                    f"{best.relation} {best.direction} {format_number(best.share, '.4f')}"
                    for best in head.relations
                )
                for head in self.heads
            ]
        for name in COLUMNS:
            title, spread = self._title(name), self.numbers.spreads.get(name)
            if name in self.numbers.on_this_input:
                is_fall = name in ABLATION_COLUMNS and self.numbers.answer.is_signed
                here = f"{title} (fall of the answer)" if is_fall else title
                here += ", this input" if self.numbers.spreads else ""
                columns[here] = self._of_heads(self.numbers.on_this_input[name])
            if spread is not None:
                mean = "mean size" if name in ABLATION_COLUMNS else "mean"  # on this input a fall has a sign
                columns[f"{title}, {mean}"] = self._of_heads(spread.mean)
                columns[f"{title}, standard deviation"] = self._of_heads(spread.sd)
        return pd.DataFrame(columns)

    def compared_numbers(self) -> pd.DataFrame:
        """A row for each head: name, roles (without the word "head"), the relation with its largest share of links, and the
        measures, on the data that the page shows.
        """
        columns: dict[str, list] = {
            "head": [head.name for head in self.heads],
            "role": [", ".join(head.role_names).replace(" head", "") for head in self.heads],
        }
        if self.measured_over:
            columns["relation"] = [
                "".join(
                    f"{best.relation} {percent(best.share, 0, brief=True)}" for best in head.relations[:1]
                )
                for head in self.heads
            ]
        for name in self.measures:
            columns[self._title(name)] = self._of_heads(self.numbers.values[name])
        return pd.DataFrame(columns)

    def _of_heads(self, values: np.ndarray) -> list[float]:
        return [float(values[head.layer, head.head]) for head in self.heads]

    def _title(self, name: str) -> str:
        unit = f" ({self.numbers.record.units})" if name == "distance" else ""
        return f"{COLUMNS[name].title}{unit}"


def choose_table_file(file: TableFile) -> None:
    """Draws the menu that downloads the rows of the table."""
    with st.popover("Download", key="heads_file", icon=":material/download:", on_change="rerun") as menu:
        if menu.open:
            _draw_menu(file)


@st.fragment
def _draw_menu(file: TableFile) -> None:
    kind = st.segmented_control(
        "Format",
        tuple(_SUFFIXES),
        default=CSV,
        required=True,
        key="heads_file_kind",
        label_visibility="collapsed",
    )
    suffix = _SUFFIXES[kind or CSV]
    if suffix == "csv":
        st.caption("All digits, one row a head.")
    else:
        values = "this input" if file.numbers.chosen_data == HERE else f"the means over {file.numbers.data}"
        st.caption(f"The columns of the table, of {values}, for the package booktabs, in small letters.")
    name = file_name(*name_parts("heads_table"), suffix=suffix)
    st.download_button(
        "Download",
        file.csv if suffix == "csv" else file.latex,
        file_name=name,
        mime=MIME[suffix],
        key="heads_file_button",
        on_click="ignore",
        type="primary",
        icon=":material/download:",
    )
    st.caption(name)
