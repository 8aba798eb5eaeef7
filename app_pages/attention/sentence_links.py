"""Links between the words of a treebank's sentence (such as verb to object), drawn over the chosen head's map, and how many of
them the head follows.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from app_pages.controls.attention_controls import ALL_RELATIONS, LINK_DIRECTION, LINK_RELATION, LINKS
from app_pages.controls.head_choice import HeadChoice
from app_pages.subject.cache import of
from app_pages.subject.linked_sentences import linked_sentence
from app_pages.subject.subject import LiveSubject, Subject
from app_pages.toolkit.markdown import first_names, plain
from model.atlas.linked_inputs import TO_HEAD
from model.atlas.strongest_words import LinkCells, link_cells
from model.inputs import Text
from model.record import AttentionRecord
from viz.attention.matrix_links import MatrixLink
from viz.builders.number_format import head_name

MOST_NAMED = 8  # relations, in the sentence on how many links a head follows


class Outlines(NamedTuple):
    """Links as cells (row, column) of a shown map, and a note for downloaded files that explains the outlines."""

    links: Sequence[MatrixLink]
    note: str  # "" where there are none


NO_OUTLINES = Outlines((), "")


def choose_outlines(subject: Subject, head: HeadChoice, record: AttentionRecord) -> Outlines | None:
    """Draws the choice of the links to outline in the maps of `record`, a view of the subject's record, and a sentence on how many
    of them the chosen head follows. Only a text that is a sentence of the project's treebank or coreference file has links.

    Returns `NO_OUTLINES` while outlines are switched off, and None for other inputs.
    """
    text = subject.model_input
    sentence = linked_sentence(text) if isinstance(text, Text) else None
    if sentence is None or not isinstance(subject, LiveSubject):
        return None
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="bar_links"):
        if not LINKS.choose():
            return NO_OUTLINES
        counts = Counter(link.relation for link in sentence.links)
        relations = [relation for relation, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
        relation = LINK_RELATION.choose((ALL_RELATIONS, *relations))
        direction = LINK_DIRECTION.choose()
    links = [
        link
        for link in of(link_cells, subject.checkpoint, sentence, direction)
        if relation in (ALL_RELATIONS, link.relation)
    ]
    n_chosen = counts.total() if relation == ALL_RELATIONS else counts[relation]
    row, column = ("dependent", "head word") if direction == TO_HEAD else ("head word", "dependent")
    st.caption(
        f"{_hits_sentence(links, head.layer, head.head)}{_left_out_sentence(n_chosen - len(links))} Outlined: from the {row} "
        f"(row) to its {column} (column), solid where the row gives that word more weight than any other word."
    )
    outlined = _matrix_links(links, record)
    note = f"outlined: links from {row} to {column}, solid where the head follows them"
    return Outlines(outlined, note) if outlined else NO_OUTLINES


def _matrix_links(links: Sequence[LinkCells], record: AttentionRecord) -> list[MatrixLink]:
    """The links as rows and columns of `record`, whose word pieces may be merged and whose special tokens may be hidden.

    A link to a word that is not a row of its own in the record is left out.
    """
    indices = {record.number(index): index for index in range(len(record))}
    result = []
    for link in links:
        rows, columns = (
            [indices[position] for position in positions if position in indices]
            for positions in (link.queries, link.keys)
        )
        if rows and columns:
            result.append(
                MatrixLink(
                    range(min(rows), max(rows) + 1),
                    range(min(columns), max(columns) + 1),
                    f"{link.relation}: {link.words[0]} → {link.words[1]}",
                    link.hits,
                )
            )
    return result


def _hits_sentence(links: Sequence[LinkCells], layer: int, head: int) -> str:
    """Sentence on how many of the links a head follows, in total and by relation."""
    n_links = Counter(link.relation for link in links)
    n_hits = Counter(link.relation for link in links if link.hits[layer, head])
    name = head_name(layer, head)
    if len(n_links) == 1:
        (relation,) = n_links
        noun = "link" if n_links[relation] == 1 else "links"
        return f"**{name} follows {n_hits[relation]} of the {n_links[relation]} {noun} of the relation {plain(relation)}.**"
    clauses = [f"{plain(relation)} {n_hits[relation]} of {n}" for relation, n in n_links.most_common()]
    total = f"**{name} follows {n_hits.total()} of the {n_links.total()} links**"
    return f"{total}: {first_names(clauses, MOST_NAMED)}." if clauses else f"{total}."


def _left_out_sentence(n: int) -> str:
    """Sentence on `n` links that cannot be drawn; "" if there are none."""
    if not n:
        return ""
    return f" {n} more {'has a word' if n == 1 else 'have words'} that the tokenizer joins with another, or that is not read."
