"""The numbers of all heads: a table that can be sorted, filtered and searched, and any two of its columns as a scatter plot."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from app_pages.controls import heads_controls as controls
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, take_head
from app_pages.heads.columns import COLUMNS
from app_pages.heads.numbers import (
    ABLATION_COLUMNS,
    Head,
    HeadNumbers,
    choose_numbers,
    explain_numbers,
    numbers_expression,
    say_head,
    say_source,
)
from app_pages.heads.relations_tab import followed_relations, relation_table
from app_pages.heads.table_download import TableFile, choose_table_file
from app_pages.show.all_heads import clickable_heads
from app_pages.show.html_table import HtmlTable, TableCell, TableHeading, TableRow
from app_pages.subject.stored_results import examples_phrase
from app_pages.subject.subject import LiveSubject, Subject
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import sentence
from model.measures.head_roles import possible_roles
from viz.builders.number_format import format_distinct, head_name, percent
from viz.heads.head_scatter import head_scatter
from viz.heads.relation_charts import BestHead, linked_words

# Beside head, role and relation: in LaTeX there is no room for more in the text of an article.
FIRST_COLUMNS = tuple(COLUMNS[name].title for name in ("entropy", "distance", "importance", "zero"))
_RELATION_HEADING: TableHeading = {
    "name": "relations",
    "title": "relation",
    "help": "Pairs of words that belong together in grammar, such as noun → determiner: in how many of them the head looks "
    "most from the first word to the second. Named only if that is more than by always looking the same number of words "
    "away. The tab Relations has examples.",
}
# What a small or a large value means, by the columns that a name alone does not explain.
_RANGE_SENTENCES = {
    "entropy": "Entropy 0: all on one key; 1: spread evenly.",
    "importance": "Importance: how much it matters, estimated by gradient.",
    "zero": "Zeroed: measured without the head.",
}
_COLOUR_SENTENCE = "Gold: the head helps the answer; purple: it works against it."
_table = HtmlTable("heads_table", Path(__file__).with_suffix(".css"))


def draw_heads(subject: Subject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws the numbers of all heads as a table or a scatter plot; a click on a row or point chooses its head."""
    numbers = choose_numbers(subject, slots)
    with slots.controls:
        is_scatter = controls.SCATTER.choose()
    (_draw_scatter if is_scatter else _draw_table)(subject, slots, chosen, numbers)
    say_source(subject, numbers)
    explain_numbers(numbers)


def _draw_table(subject: Subject, slots: Slots, chosen: HeadChoice, numbers: HeadNumbers) -> None:
    """Draws a row for each head that matches the search box and the filters."""
    relations = None
    if isinstance(subject, LiveSubject):
        relations = relation_table(subject.checkpoint, *numbers.record.pattern.shape[:2])
    followed = {} if relations is None else followed_relations(relations.rows)
    all_heads = [
        Head(layer, head, numbers.roles(layer, head), tuple(followed.get((layer, head), ())))
        for layer, head in numbers.heads
    ]
    with slots.view:
        searched = controls.SEARCH.choose()
        # All columns are offered, also those that this input has not, so that a choice is kept from one input to another.
        columns = controls.MEASURES.choose([column.title for column in COLUMNS.values()], FIRST_COLUMNS)
        layers, role = _choose_filter(numbers, all_heads)
        relation = controls.ANY_RELATION
        if names := sorted({name for head in all_heads for name in head.relation_names}):
            relation = controls.FOLLOWED.choose((controls.ANY_RELATION, *names))
    sort = controls.SORT.read()
    values = {name: array for name, array in numbers.values.items() if COLUMNS[name].title in columns}
    measures = list(values)
    rows = sorted_heads(matching_heads(all_heads, searched, layers, role, relation), values, sort)
    if rows:
        with slots.controls:
            choose_table_file(
                TableFile(
                    numbers,
                    rows,
                    measures,
                    "" if relations is None else examples_phrase(relations.source),
                    subject.checkpoint if isinstance(subject, LiveSubject) else "",
                )
            )
    with slots.controls:
        say_head(subject, chosen)
        fall = numbers.values.get("zero")
        if fall is not None and np.isfinite(fall).all():
            index = divmod(int(np.abs(fall).argmax()), fall.shape[1])
            change = "changes most"
            if numbers.is_signed("zero"):
                change = numbers.as_text("zero", fall[index]).replace(" by ", " most, by ")
            st.markdown(f"Without **{head_name(*index)}** the answer {change}.", width="content")
    if rows:
        headings = _headings(numbers, measures, sort, has_relations=relations is not None)
        _table.draw(
            headings,
            [_table_row(numbers, row, chosen, headings) for row in rows],
            key="heads_table",
            take_row=lambda head: take_head(*head),
            take_column=lambda column: controls.SORT.take(next_sort(sort, column)),
        )
        words = [words for name, words in _RANGE_SENTENCES.items() if name in measures]
        if any(map(numbers.is_signed, measures)):
            words.append(_COLOUR_SENTENCE)
        if words:
            in_nats = any("nats" in numbers.filled_in(name, COLUMNS[name].unit) for name in measures)
            halved = (
                f"0.69 nats: {'odds' if numbers.answer.word is None else 'a probability'} doubled or halved."
            )
            st.caption(" ".join([*words, *[halved] * in_nats]))
    else:
        st.info("No head matches the search and the filter.", icon=":material/filter_alt:")
    if len(rows) < len(all_heads):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{len(rows)} of {len(all_heads)} heads.", width="content")
            st.button("Show all", type="tertiary", key="heads_all", on_click=_show_all_heads)
    if numbers.chosen_data == controls.OVER:
        st.caption(f"Mean ± standard deviation over {numbers.data}.")


def _draw_scatter(subject: Subject, slots: Slots, chosen: HeadChoice, numbers: HeadNumbers) -> None:
    """Draws one chosen measure of the heads against another."""
    names, values = {COLUMNS[name].title: name for name in numbers.values}, numbers.values
    if len(names) < 2:
        st.info("Rows that do not sum to 1 leave these heads fewer than two numbers.", icon=":material/info:")
        return
    first, second = ("entropy", "distance") if "distance" in values else list(values)[:2]
    with slots.controls:
        x = controls.ACROSS.choose(names, COLUMNS[first].title)
        y = controls.UP.choose(names, COLUMNS[second].title)
        say_head(subject, chosen)
    units = {
        COLUMNS[name].title: "nats; + the answer falls, − it rises"
        if name in ABLATION_COLUMNS and numbers.is_signed(name)
        else numbers.filled_in(name, COLUMNS[name].unit)
        for name in values
        if not COLUMNS[name].is_share
    }
    x_title, y_title = (f"{title} ({units[title]})" if title in units else title for title in (x, y))
    written = numbers_expression(subject, numbers)
    chart = call(
        head_scatter,
        written[names[x]],
        written[names[y]],
        titles=(x_title, y_title),
        selected=(chosen.layer, chosen.head),
        roles=[", ".join(role.name for role in numbers.roles(*index)) for index in numbers.heads],
        source="this input" if numbers.chosen_data == controls.HERE else f"means over {numbers.data}",
    )
    clickable_heads(chart, key="heads_plot", chosen=(chosen.layer, chosen.head), width="stretch")


def matching_heads(
    heads: Iterable[Head],
    searched: str,
    layers: Sequence[int],
    role: str,
    relation: str = controls.ANY_RELATION,
) -> list[Head]:
    """The heads that lie in `layers` (all if empty), have the `role`, follow the `relation`, and match every word of
    `searched`.
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
    relations = (f"{best.relation} {linked_words(best.relation, best.direction)}" for best in head.relations)
    return any(word in name for name in (*head.role_names, *relations))


def sorted_heads(heads: Sequence[Head], values: dict[str, np.ndarray], sort: str) -> list[Head]:
    """The heads sorted by the column that `sort` names (ascending; after a minus sign descending), NaN last; in the given order
    if it names none.
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
    """The `sort` after a click on the heading of `column`: descending, then ascending, then unsorted."""
    if column == "head":
        return "" if sort == "-head" else "-head"
    return {f"-{column}": column, column: ""}.get(sort, f"-{column}")


def _choose_filter(numbers: HeadNumbers, all_heads: Sequence[Head]) -> tuple[list[int], str]:
    layers = controls.LAYERS.choose(range(len(numbers.record.pattern)))
    names = [role.name for role in possible_roles(numbers.record)]
    role = controls.ROLE.choose((controls.ANY, *names, controls.NONE))
    counts = {name: sum(name in head.role_names for head in all_heads) for name in names}
    roles = [f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items() if count]
    st.caption(f"Found: {', '.join(roles)}." if roles else "None of these roles was found.")
    return layers, role


def _show_all_heads() -> None:
    controls.SEARCH.take("")
    controls.LAYERS.take([])
    controls.ROLE.take(controls.ANY)
    controls.FOLLOWED.take(controls.ANY_RELATION)


def beyond_clause(best: BestHead) -> str:
    """Clause with the share of a relation's links that a head follows, and that of the best fixed distance, which is smaller."""
    share, baseline = format_distinct(best.share, best.baseline, ".0%")
    return f"{best.direction}: {share} of {best.n:,} links, where always looking the same number of words away hits {baseline}"


def _headings(
    numbers: HeadNumbers, measures: Sequence[str], sort: str, *, has_relations: bool
) -> list[TableHeading]:
    def sortable(name: str, title: str, words: str) -> TableHeading:
        order = {name: "ascending", f"-{name}": "descending"}.get(sort, "none")
        return {"name": name, "title": title, "help": f"{sentence(words)} Click to sort.", "sorted": order}

    return [
        sortable("head", "head", "Layer and head"),
        {
            "name": "roles",
            "title": "role",
            "help": "What the head is called after where it looks. Point at a name for its rule; –: no rule fits.",
        },
        *([_RELATION_HEADING] if has_relations else []),
        *(
            sortable(name, COLUMNS[name].title, numbers.filled_in(name, COLUMNS[name].description))
            | {"small": numbers.filled_in(name, COLUMNS[name].unit)}
            for name in measures
        ),
    ]


def _table_row(
    numbers: HeadNumbers, head: Head, chosen: HeadChoice, headings: Sequence[TableHeading]
) -> TableRow:
    cells: dict[str, TableCell] = {
        "head": {"name": "head", "text": head.name, "is_header": True, "is_button": True},
        "roles": _words_or_dash(
            "roles", [{"text": role.name, "help": role.rule} for role in head.roles], "no role"
        ),
        "relations": _words_or_dash(
            "relations",
            [
                {
                    "text": f"{linked_words(best.relation, best.direction)} {percent(best.share, 0, brief=True)}",
                    "help": f"{best.relation}, {beyond_clause(best)}",
                }
                for best in head.relations
            ],
            "no relation",
        ),
    }
    names = [heading["name"] for heading in headings]
    return {
        "key": [head.layer, head.head],
        "current": (head.layer, head.head) == (chosen.layer, chosen.head),
        "cells": [cells.get(name) or _number_cell(numbers, name, head) for name in names],
    }


def _words_or_dash(name: str, words: list[dict[str, str]], meaning: str) -> TableCell:
    """A cell of words, each with its tooltip; without words a dash, with the tooltip `meaning`."""
    return {
        "name": name,
        "text": "" if words else "–",
        "help": "" if words else meaning,
        "terms": words,
    }


def _number_cell(numbers: HeadNumbers, name: str, head: Head) -> TableCell:
    column, values, index = COLUMNS[name], numbers.values[name], (head.layer, head.head)
    value = float(values[index])
    text = numbers.as_text(name, value)
    if numbers.chosen_data == controls.OVER:
        text += f" ± {column.as_text(numbers.spreads[name].sd[index])}"
    largest = 1.0 if column.is_share else float(np.nanmax(np.abs(values), initial=0)) or 1.0
    share = min(abs(value) / largest, 1) if np.isfinite(value) else 0
    sign = ("below" if value < 0 else "above") if numbers.is_signed(name) else ""
    return {"name": f"number {sign}".strip(), "text": text, "bar": round(share, 4)}
