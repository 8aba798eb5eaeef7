"""A table with a row for each head: sorted by any column, filtered by layer, role or search; a click chooses the head."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, take_head
from app_pages.controls.heads_controls import ANY, HERE, LAYERS, NONE, ROLE, SEARCH, SORT
from app_pages.heads.columns import COLUMNS
from app_pages.heads.head_line import say_head
from app_pages.heads.numbers import Numbers, choose_numbers, explained, in_words, say_source
from app_pages.show.html_table import HtmlTable, TableCell, TableHeading, TableRow
from app_pages.subject.subject import Subject
from model.measures.head_roles import HeadRole, possible_roles
from viz.builders.number_format import head_name

_table = HtmlTable("heads_table", Path(__file__).with_suffix(".css"))


class Head(NamedTuple):
    layer: int
    head: int
    roles: tuple[HeadRole, ...]

    @property
    def name(self) -> str:
        return head_name(self.layer, self.head)


def table(subject: Subject, slots: Slots, chosen: HeadChoice) -> None:
    numbers = choose_numbers(subject, slots)
    all_heads = [Head(*index, numbers.roles(*index)) for index in np.ndindex(numbers.shape)]
    with slots.controls:
        searched = SEARCH.choose()
    with slots.more, st.popover("Filter", key="heads_filter"):
        layers, role = _choose_filter(numbers, all_heads)
    rows = found(all_heads, searched, layers, role)
    say_head(subject, chosen)
    sort = SORT.read()
    if rows:
        _draw_table(chosen, numbers, ordered(rows, numbers.values, sort), sort)
    else:
        st.info("No head matches the search and the filter.", icon=":material/filter_alt:")
    if len(rows) < len(all_heads):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{len(rows)} of {len(all_heads)} heads.", width="content")
            st.button("Show all", type="tertiary", key="heads_all", on_click=_show_all)
    if numbers.spreads:
        mean = f"mean ± standard deviation over {numbers.data}"
        st.caption(
            f"Large: this input; small: {mean}."
            if numbers.first == HERE
            else f"Large: {mean}; small: this input."
        )
    say_source(subject, numbers)
    explained(numbers)


def found(heads: Iterable[Head], searched: str, layers: Sequence[int], role: str) -> list[Head]:
    """Heads in `layers` (all if empty) with this `role` that match every word of `searched`."""
    words = re.findall(r"\S+", searched.lower())
    return [
        head
        for head in heads
        if (not layers or head.layer in layers)
        and (role == ANY or (role == NONE and not head.roles) or role in [one.name for one in head.roles])
        and all(_matches(head, word) for word in words)
    ]


def _matches(head: Head, word: str) -> bool:
    if match := re.fullmatch(r"(?:l(\d+))?(?:h(\d+))?", word):
        layer, number = match.groups()
        return layer in (None, str(head.layer)) and number in (None, str(head.head))
    return any(word in role.name for role in head.roles)


def ordered(heads: Sequence[Head], values: dict[str, np.ndarray], sort: str) -> list[Head]:
    """Heads sorted by the column in `sort`, those without a number last; unchanged if it names no column."""
    column = sort.removeprefix("-")
    if column == "head":
        return sorted(heads, key=lambda each: (each.layer, each.head), reverse=True)
    if column not in values:
        return list(heads)
    sign = -1 if sort.startswith("-") else 1

    def sort_key(each: Head) -> tuple[bool, float]:
        value = float(values[column][each.layer, each.head])
        return (True, 0.0) if np.isnan(value) else (False, sign * value)

    return sorted(heads, key=sort_key)


def next_sort(sort: str, column: str) -> str:
    """Sort order after a click on a column's heading: descending, then ascending, then none."""
    if column == "head":
        return "" if sort == "-head" else "-head"
    return {f"-{column}": column, column: ""}.get(sort, f"-{column}")


def _choose_filter(numbers: Numbers, all_heads: Sequence[Head]) -> tuple[list[int], str]:
    layers = LAYERS.choose(range(numbers.shape[0]))
    names = [each.name for each in possible_roles(numbers.record)]
    role = ROLE.choose((ANY, *names, NONE))
    counts = {name: sum(name in [role.name for role in each.roles] for each in all_heads) for name in names}
    counted = [f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items() if count]
    st.caption(f"Found: {', '.join(counted)}." if counted else "None of these roles was found.")
    return layers, role


def _show_all() -> None:
    SEARCH.take("")
    LAYERS.take([])
    ROLE.take(ANY)


def _draw_table(chosen: HeadChoice, numbers: Numbers, rows: Sequence[Head], sort: str) -> None:
    _table.draw(
        _headings(numbers, sort),
        _rows(numbers, rows, (chosen.layer, chosen.head)),
        key="heads_table",
        take_row=lambda head: take_head(*head),
        take_column=lambda column: SORT.take(next_sort(sort, column)),
    )


def _headings(numbers: Numbers, sort: str) -> list[TableHeading]:
    def sortable(name: str, title: str, words: str) -> TableHeading:
        order = {name: "ascending", f"-{name}": "descending"}.get(sort, "none")
        return {"name": name, "title": title, "help": f"{words}. Click to sort.", "sorted": order}

    return [
        sortable("head", "head", "Layer and head"),
        {
            "name": "roles",
            "title": "role",
            "help": "What the head is called after what it does. Point at a name for its rule.",
        },
        *(sortable(name, COLUMNS[name].title, _capital(in_words(numbers, name))) for name in numbers.values),
    ]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _rows(numbers: Numbers, rows: Sequence[Head], chosen: tuple[int, int]) -> list[TableRow]:
    values = numbers.values
    largest = {
        name: 1.0 if COLUMNS[name].is_share else float(np.nanmax(column, initial=0)) or 1.0
        for name, column in values.items()
    }
    return [
        {
            "key": [row.layer, row.head],
            "current": (row.layer, row.head) == chosen,
            "cells": [
                {"name": "head", "text": row.name, "is_header": True, "is_button": True},
                {
                    "name": "roles",
                    "text": "",
                    "terms": [{"text": role.name, "help": role.rule} for role in row.roles],
                },
                *(_number_cell(numbers, name, row, largest[name]) for name in values),
            ],
        }
        for row in rows
    ]


def _number_cell(numbers: Numbers, name: str, head: Head, largest: float) -> TableCell:
    column, index = COLUMNS[name], (head.layer, head.head)
    value = float(numbers.values[name][index])
    spread = numbers.spreads.get(name)
    mean = (
        "" if spread is None else f"{column.written(spread.mean[index])} ± {column.written(spread.sd[index])}"
    )
    here = column.written(float(numbers.here[name][index])) if name in numbers.here else ""
    text, small = (here, mean) if numbers.first == HERE else (mean, here)
    share = min(max(value / largest, 0), 1) if np.isfinite(value) else 0
    return {"name": "number", "text": text, "small": small, "bar": round(share, 4)}
