"""The numbers of all heads: a table that can be sorted, filtered and searched, and any two of its columns as a scatter plot."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls import heads_controls as controls
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, take_head
from app_pages.heads.columns import COLUMNS
from app_pages.heads.numbers import (
    Numbers,
    choose_numbers,
    column_description,
    explain_numbers,
    say_head,
    say_source,
)
from app_pages.heads.relations_tab import followed_relations, relation_table
from app_pages.heads.table_file import Followed, choose_table_file
from app_pages.show.all_heads import clickable_heads
from app_pages.show.html_table import HtmlTable, TableCell, TableHeading, TableRow
from app_pages.subject.stored_results import over
from app_pages.subject.subject import LiveSubject, Subject
from model.measures.head_roles import HeadRole, possible_roles
from viz.builders.number_format import head_name, percent, told_apart
from viz.heads.head_scatter import head_scatter
from viz.heads.relation_dots import BestHead

_RELATION_HEADING: TableHeading = {
    "name": "relations",
    "title": "relation",
    "help": "Relations between words of which this head hits more links than any fixed offset does: the tab Relations shows them. "
    "Point at a name for its numbers.",
}
_table = HtmlTable("heads_table", Path(__file__).with_suffix(".css"))


class Head(NamedTuple):
    layer: int
    head: int
    roles: tuple[HeadRole, ...]
    relations: tuple[BestHead, ...] = ()  # which it follows beyond a fixed offset

    @property
    def name(self) -> str:
        return head_name(self.layer, self.head)

    @property
    def role_names(self) -> list[str]:
        return [role.name for role in self.roles]

    @property
    def relation_names(self) -> list[str]:
        return [followed.relation for followed in self.relations]


def draw_table(subject: Subject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws a row for each head that matches the search and the filter; a click on a row chooses its head."""
    numbers = choose_numbers(subject, slots)
    relation_rows, relation_source = relation_table(subject)
    followed = followed_relations(relation_rows)
    all_heads = [
        Head(layer, head, numbers.roles(layer, head), tuple(followed.get((layer, head), ())))
        for layer, head in numbers.heads
    ]
    with slots.controls:
        searched = controls.SEARCH.choose()
    with slots.more, st.popover("Filter", key="heads_filter"):
        layers, role = _choose_filter(numbers, all_heads)
        relation = _choose_relation(all_heads)
    sort = controls.SORT.read()
    rows = sorted_heads(matching_heads(all_heads, searched, layers, role, relation), numbers.values, sort)
    if rows:
        with slots.controls:
            choose_table_file(
                numbers,
                [(row.layer, row.head) for row in rows],
                None if relation_source is None else Followed(followed, over(relation_source)),
                subject.checkpoint if isinstance(subject, LiveSubject) else "",
            )
    say_head(subject, chosen)
    if rows:
        _draw_table(chosen, numbers, rows, sort, has_relations=relation_source is not None)
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
            if numbers.first == controls.HERE
            else f"Large: {mean}; small: this input."
        )
    say_source(subject, numbers)
    explain_numbers(numbers)


def draw_scatter(subject: Subject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws any two numbers of the heads against each other; a click on a point chooses its head."""
    numbers = choose_numbers(subject, slots)
    names, values = {COLUMNS[name].title: name for name in numbers.values}, numbers.values
    if len(names) < 2:
        st.info("Rows that do not sum to 1 leave these heads fewer than two numbers.", icon=":material/info:")
        return
    first, second = ("entropy", "distance") if "distance" in values else list(values)[:2]
    with slots.controls:
        x = controls.ACROSS.choose(names, COLUMNS[first].title)
        y = controls.UP.choose(names, COLUMNS[second].title)
    units = {COLUMNS["distance"].title: f" ({numbers.record.units})"}
    say_head(subject, chosen)
    chart = head_scatter(
        values[names[x]],
        values[names[y]],
        titles=(x + units.get(x, ""), y + units.get(y, "")),
        selected=(chosen.layer, chosen.head),
        roles=[", ".join(role.name for role in numbers.roles(*index)) for index in numbers.heads],
        source="this input" if numbers.first == controls.HERE else f"means over {numbers.data}",
    )
    clickable_heads(chart, key="heads_scatter", chosen=(chosen.layer, chosen.head), width="stretch")
    say_source(subject, numbers)
    explain_numbers(numbers)


def matching_heads(
    heads: Iterable[Head],
    searched: str,
    layers: Sequence[int],
    role: str,
    relation: str = controls.ANY_RELATION,
) -> list[Head]:
    """The heads of `layers` (all where that is empty) with the `role`, and which follow the `relation`, that match every word of
    the search.
    """
    words = re.findall(r"\S+", searched.lower())
    return [
        head
        for head in heads
        if (not layers or head.layer in layers)
        and (role == controls.ANY or role in (head.role_names or [controls.NONE]))
        and (relation == controls.ANY_RELATION or relation in head.relation_names)
        and all(_is_match(head, word) for word in words)
    ]


def _is_match(head: Head, word: str) -> bool:
    if match := re.fullmatch(r"(?:l(\d+))?(?:h(\d+))?", word):
        layer, head_index = match.groups()
        return layer in (None, str(head.layer)) and head_index in (None, str(head.head))
    return any(word in name for name in (*head.role_names, *head.relation_names))


def sorted_heads(heads: Sequence[Head], values: dict[str, np.ndarray], sort: str) -> list[Head]:
    """The heads sorted by the column that `sort` names (after a minus sign: largest first), NaN last; in the given
    order if it names none.
    """
    column = sort.removeprefix("-")
    if column == "head":
        return sorted(heads, key=lambda head: (head.layer, head.head), reverse=True)
    if column not in values:
        return list(heads)
    sign = -1 if sort.startswith("-") else 1

    def sort_key(head: Head) -> tuple[bool, float]:
        value = float(values[column][head.layer, head.head])
        return (True, 0.0) if np.isnan(value) else (False, sign * value)

    return sorted(heads, key=sort_key)


def next_sort(sort: str, column: str) -> str:
    """Sort order after a click on a column's heading: descending, then ascending, then none."""
    if column == "head":
        return "" if sort == "-head" else "-head"
    return {f"-{column}": column, column: ""}.get(sort, f"-{column}")


def _choose_filter(numbers: Numbers, all_heads: Sequence[Head]) -> tuple[list[int], str]:
    layers = controls.LAYERS.choose(range(len(numbers.record.pattern)))
    names = [role.name for role in possible_roles(numbers.record)]
    role = controls.ROLE.choose((controls.ANY, *names, controls.NONE))
    counts = {name: sum(name in head.role_names for head in all_heads) for name in names}
    roles = [f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items() if count]
    st.caption(f"Found: {', '.join(roles)}." if roles else "None of these roles was found.")
    return layers, role


def _choose_relation(all_heads: Sequence[Head]) -> str:
    """Draws the choice of a relation if a head follows one; returns what is chosen."""
    names = sorted({name for head in all_heads for name in head.relation_names})
    return controls.FOLLOWED.choose((controls.ANY_RELATION, *names)) if names else controls.ANY_RELATION


def _show_all() -> None:
    controls.SEARCH.take("")
    controls.LAYERS.take([])
    controls.ROLE.take(controls.ANY)
    controls.FOLLOWED.take(controls.ANY_RELATION)


def _draw_table(
    chosen: HeadChoice, numbers: Numbers, rows: Sequence[Head], sort: str, *, has_relations: bool
) -> None:
    headings, table_rows = (
        _headings(numbers, sort),
        _table_rows(numbers, rows, (chosen.layer, chosen.head)),
    )
    if has_relations:
        headings.insert(2, _RELATION_HEADING)
        for head, table_row in zip(rows, table_rows, strict=True):
            table_row["cells"].insert(2, _relation_cell(head))
    _table.draw(
        headings,
        table_rows,
        key="heads_table",
        take_row=lambda head: take_head(*head),
        take_column=lambda column: controls.SORT.take(next_sort(sort, column)),
    )


def _relation_cell(head: Head) -> TableCell:
    return {
        "name": "relations",
        "text": "",
        "terms": [
            {
                "text": f"{best.relation} {percent(best.share, 0, brief=True)}",
                "help": beyond_clause(best),
            }
            for best in head.relations
        ],
    }


def beyond_clause(best: BestHead) -> str:
    """The share of a relation's links that a head follows, beside that of the best fixed offset, which it exceeds."""
    share, baseline = told_apart(best.share, best.baseline, ".0%")
    return f"{best.direction}: {share} of {best.n:,} links, where the best fixed offset hits {baseline}"


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
        *(
            sortable(name, COLUMNS[name].title, _capitalised(column_description(numbers, name)))
            for name in numbers.values
        ),
    ]


def _capitalised(words: str) -> str:
    return words[:1].upper() + words[1:]


def _table_rows(numbers: Numbers, rows: Sequence[Head], chosen: tuple[int, int]) -> list[TableRow]:
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
    input_text = column.written(float(numbers.here[name][index])) if name in numbers.here else ""
    text, small_text = (input_text, mean) if numbers.first == controls.HERE else (mean, input_text)
    share = min(max(value / largest, 0), 1) if np.isfinite(value) else 0
    return {"name": "number", "text": text, "small": small_text, "bar": round(share, 4)}
