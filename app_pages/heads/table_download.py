"""The table of heads as a file: CSV with all its numbers, or LaTeX with those that are compared."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st

from app_pages.controls.heads_controls import HERE
from app_pages.heads.columns import COLUMNS
from app_pages.heads.numbers import Numbers
from app_pages.show.download import name_parts
from app_pages.subject.stored_results import over
from viz.builders.number_format import format_number, head_name, percent
from viz.export.safe_text import file_name
from viz.export.save import MIME, frame_csv, latex_table
from viz.heads.relation_charts import BestHead

CSV, LATEX = "CSV", "LaTeX"
_SUFFIXES = {CSV: "csv", LATEX: "tex"}


class Followed(NamedTuple):
    """Relations that heads follow beyond any fixed offset."""

    by_head: Mapping[tuple[int, int], Sequence[BestHead]]  # by layer and head, the largest share first
    measured_over: str  # such as "250 sentences of UD English PUD"


def choose_table_file(
    numbers: Numbers,
    heads: Sequence[tuple[int, int]],
    measures: Sequence[str],
    followed: Followed | None,
    encoder: str,
) -> None:
    """Draws the menu that downloads the rows of the table: `heads` as (layer, head), in the order in which they stand, and
    in LaTeX the `measures` that are its columns.

    `followed` is None where relations were not measured; the files then have no column for them. `encoder` is its name, "" for a
    record.
    """
    with st.popover("Download", key="heads_file", icon=":material/download:", on_change="rerun") as menu:
        if menu.open:
            _draw_menu(numbers, heads, measures, followed, encoder)


@st.fragment
def _draw_menu(
    numbers: Numbers,
    heads: Sequence[tuple[int, int]],
    measures: Sequence[str],
    followed: Followed | None,
    encoder: str,
) -> None:
    kind = st.segmented_control(
        "Format",
        tuple(_SUFFIXES),
        default=CSV,
        required=True,
        key="heads_file_kind",
        label_visibility="collapsed",
    )
    suffix = _SUFFIXES[kind or CSV]
    content = partial(csv_bytes, numbers, heads, followed)
    if suffix == "csv":
        st.caption("All digits, one row a head.")
    else:
        content = partial(latex_bytes, numbers, heads, measures, followed, encoder)
        values = "this input" if numbers.first == HERE else f"the means over {numbers.data}"
        st.caption(f"The columns of the table, of {values}, for the package booktabs, in small letters.")
    name = file_name(*name_parts("heads_table"), suffix=suffix)
    st.download_button(
        "Download",
        content,
        file_name=name,
        mime=MIME[suffix],
        key="heads_file_button",
        on_click="ignore",
        type="primary",
        icon=":material/download:",
    )
    st.caption(name)


def csv_bytes(numbers: Numbers, heads: Sequence[tuple[int, int]], followed: Followed | None = None) -> bytes:
    """The table with all that is known of the heads as CSV, in UTF-8."""
    return frame_csv(every_number(numbers, heads, followed))


def latex_bytes(
    numbers: Numbers,
    heads: Sequence[tuple[int, int]],
    measures: Sequence[str],
    followed: Followed | None = None,
    encoder: str = "",
) -> bytes:
    """The table with the given measures in LaTeX, in UTF-8."""
    table = compared_numbers(numbers, heads, measures, followed)
    return f"{latex_table(table, note=note(numbers, followed, encoder))}\n".encode()


def note(numbers: Numbers, followed: Followed | None = None, encoder: str = "") -> str:
    """What was measured, in plain text, as it stands below the table in LaTeX."""
    values = "Numbers of one input"
    if numbers.first != HERE and numbers.stored is not None:
        values = f"Means over {over(numbers.stored.source)}"
    sentences = [f"{values}{f', encoder {encoder}' * bool(encoder)}."]
    if followed is not None:
        sentences.append(
            f"Relation: share of its links that the head follows, over {followed.measured_over}."
        )
    return " ".join(sentences)


def every_number(
    numbers: Numbers, heads: Sequence[tuple[int, int]], followed: Followed | None = None
) -> pd.DataFrame:
    """A row for each of the heads: layer, head, role, relations where they were measured (`followed`), and each measure. A measure
    that was taken over a data set too has three columns: on this input, mean and standard deviation over the data set.

    A relation stands with its direction and its share of links, from 0 to 1: "case to head 0.8812".
    """
    columns: dict[str, list] = {
        "layer": [layer for layer, _ in heads],
        "head": [head for _, head in heads],
        "role": [_role(numbers, *index) for index in heads],
    }
    if followed is not None:
        columns["relation"] = [
            ", ".join(
                f"{best.relation} {best.direction} {format_number(best.share, '.4f')}"
                for best in followed.by_head.get(index, ())
            )
            for index in heads
        ]
    for name in COLUMNS:
        title = _title(numbers, name)
        if name in numbers.here:
            columns[f"{title}, this input" if numbers.spreads else title] = [
                float(numbers.here[name][index]) for index in heads
            ]
        if spread := numbers.spreads.get(name):
            columns[f"{title}, mean"] = [float(spread.mean[index]) for index in heads]
            columns[f"{title}, standard deviation"] = [float(spread.sd[index]) for index in heads]
    return pd.DataFrame(columns)


def compared_numbers(
    numbers: Numbers,
    heads: Sequence[tuple[int, int]],
    measures: Sequence[str],
    followed: Followed | None = None,
) -> pd.DataFrame:
    """A row for each of the heads: its name, its roles without the word head, the relation that it follows most, with the share
    of links, and the given measures, on the data that the page compares.
    """
    columns: dict[str, list] = {
        "head": [head_name(*index) for index in heads],
        "role": [_role(numbers, *index).replace(" head", "") for index in heads],
    }
    if followed is not None:
        columns["relation"] = [
            ", ".join(
                f"{best.relation} {percent(best.share, 0, brief=True)}"
                for best in list(followed.by_head.get(index, ()))[:1]
            )
            for index in heads
        ]
    for name in measures:
        columns[_title(numbers, name)] = [float(numbers.values[name][index]) for index in heads]
    return pd.DataFrame(columns)


def _role(numbers: Numbers, layer: int, head: int) -> str:
    return ", ".join(role.name for role in numbers.roles(layer, head))


def _title(numbers: Numbers, name: str) -> str:
    return f"{COLUMNS[name].title} ({numbers.record.units})" if name == "distance" else COLUMNS[name].title
