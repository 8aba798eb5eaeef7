"""Which head follows which relation between words (such as verb to object), measured over a treebank: the best head for each
relation, and example sentences with its links.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from app_pages.controls.attention_controls import (
    HEAD,
    LINK_DIRECTION,
    LINK_RELATION,
    LINKS,
    MATRIX,
    OVER_HEADS,
    VIEW,
)
from app_pages.controls.control_bar import bar
from app_pages.controls.head_choice import HeadChoice, take_head, take_query
from app_pages.controls.heads_controls import DIRECTION, EITHER, RELATION
from app_pages.controls.input_controls import TEXT
from app_pages.controls.map_controls import LENS
from app_pages.controls.pages import ATTENTION, go_to
from app_pages.heads.numbers import choose_head_of_encoder, link_head, measuring_command
from app_pages.show.show import clickable, show
from app_pages.subject.as_python import encoder
from app_pages.subject.cache import Checkpoint, loaded, of
from app_pages.subject.linked_sentences import TREEBANK, treebank_sentences
from app_pages.subject.stored_results import examples_phrase, results_expression, table_of
from app_pages.toolkit.callbacks import callback
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import counted, plain
from model.atlas.linked_inputs import TO_HEAD, Link, LinkedText
from model.atlas.parquet import DataSource
from model.atlas.relations import FEWEST, left_out_clause, valid_relation_rows
from model.atlas.results import RELATIONS, ResultTable, read_rows
from model.atlas.strongest_words import link_cells, strongest_words
from model.lenses import ATTENTION as WEIGHTS
from viz.builders.number_format import format_number, head_name, percent
from viz.heads.relation_charts import (
    BestHead,
    LinkExample,
    best_heads,
    fits_into_line,
    link_arcs,
    relation_dots,
)

MOST = 5  # sentences with a link
MOST_TRIED = 40  # sentences that are read to find them


def draw_relations() -> None:
    """Draws the best heads, shares and examples of a chosen encoder; the tab needs no input."""
    controls, more = bar("controls")
    name, config, chosen = choose_head_of_encoder(controls)
    table = relation_table(name, config.n_layers, config.n_heads)
    if table is None or not len(table.rows):
        st.info(_how_to_measure(name, config.is_text), icon=":material/database:")
        return
    rows, source = table.rows, table.source
    with more.popover("View", key="more"):
        direction = DIRECTION.choose()
    shown_rows = rows if direction == EITHER else rows[rows["direction"] == direction]
    # Where no relation has enough links to be tested, all are shown.
    fewest = FEWEST if (shown_rows["n"] >= FEWEST).any() else 0
    best = best_heads(shown_rows[shown_rows["n"] >= fewest])
    relations = [head.relation for head in best]
    with controls:
        relation = RELATION.choose(relations)
        link_head()
    stored = results_expression(name, RELATIONS, read_rows).rows
    chosen_rows = f"n >= {fewest}" if direction == EITHER else f"n >= {fewest} and direction == {direction!r}"
    shown_table = call(call(valid_relation_rows, stored, config.n_layers, config.n_heads).query, chosen_rows)
    best_expression = named("best", call(best_heads, shown_table), lambda: best)
    _draw_best_heads(best_expression, relation, chosen, source, rows["relation"].nunique())
    _say_shares(rows, chosen, relation)
    _draw_examples(name, shown_rows, chosen, relation)


def relation_table(name: str, n_layers: int, n_heads: int) -> ResultTable | None:
    """The stored rows of the encoder's heads that have all their numbers; None if nothing is stored."""
    stored = table_of(name, RELATIONS)
    if stored is None:
        return None
    return replace(stored, rows=valid_relation_rows(stored.rows, n_layers, n_heads))


def followed_relations(rows: pd.DataFrame) -> dict[tuple[int, int], list[BestHead]]:
    """The relations that each head (layer, head) follows more often than the best fixed offset does, largest share of links
    first. A relation that a head follows in both directions counts once.
    """
    return {
        (int(layer), int(head)): sorted(best_heads(own_rows), key=lambda best: -best.share)
        for (layer, head), own_rows in rows[rows["beyond"].astype(bool)].groupby(["layer", "head"])
    }


def _draw_best_heads(
    best_expression: Expression, relation: str, chosen: HeadChoice, source: DataSource, n_relations: int
) -> None:
    def take(clicked: dict) -> None:
        take_head(int(clicked["layer"]), int(clicked["head"]))
        RELATION.take(str(clicked["relation"]))

    best: Sequence[BestHead] = best_expression()
    figure = call(
        relation_dots,
        best_expression,
        relation=relation,
        selected=(chosen.layer, chosen.head),
        source=examples_phrase(source),
    )
    chosen_dot = (relation, chosen.layer, chosen.head)
    clickable(figure, key="relation_dots", chosen=chosen_dot, selection="relation", take=take)
    left_out = left_out_clause(source.samples)
    st.caption(
        "A link is a pair of words in this relation; the number after the relation counts them. The best of many heads was partly "
        "lucky: on other sentences it does a little worse. "
        f"{_fewer_links_sentence(best, n_relations)} A click on a dot chooses its head and relation. "
        f"{f'{left_out}. ' if left_out else ''}`docs/relations.md` describes the test."
    )


def _fewer_links_sentence(best: Sequence[BestHead], n_relations: int) -> str:
    """Sentence on how many of the `n_relations` have too few links to be shown."""
    if best[0].n < FEWEST:
        return f"No relation has the {FEWEST} links that a test needs."
    n_left_out = n_relations - len(best)
    return (
        f"Left out, with fewer than {FEWEST} links: {counted(n_left_out, 'relation')}." if n_left_out else ""
    )


def _say_shares(rows: pd.DataFrame, chosen: HeadChoice, relation: str) -> None:
    own_rows = rows[
        (rows["layer"] == chosen.layer) & (rows["head"] == chosen.head) & (rows["relation"] == relation)
    ]
    clauses = []
    for row in own_rows.to_dict("records"):
        interval = f"{format_number(100 * row['low'], '.0f')} to {percent(row['high'], 0)}"
        clauses.append(
            f"{_direction_text(row['direction'])} {percent(row['share'], 0)} ({interval}), {comparison_clause(row['beyond'], row['p'])} always looking "
            f"{_distance_text(row['offset'])} ({percent(row['baseline'], 0)})"
        )
    name = f"**{head_name(chosen.layer, chosen.head)}** on **{plain(relation)}**"
    if not clauses:
        st.markdown(f"{name}: this head has no numbers in the file.")
        return
    st.markdown(f"{name}, {int(own_rows['n'].iloc[0]):,} links: {'; '.join(clauses)}.")


def _direction_text(direction: str) -> str:
    """The direction of a link; a head there is a word of the sentence, not one of the encoder's."""
    return "to the head word" if direction == TO_HEAD else direction


def comparison_clause(is_beyond: bool, p: float | None) -> str:
    """What stands before the share of the best fixed distance: whether the head follows the relation clearly more often.

    If `p` is None, there were too few links for a test.
    """
    if pd.isna(p):
        return "too few to compare with"
    return "clearly more than" if is_beyond else "not clearly more than"


def _distance_text(offset: int) -> str:
    return f"{counted(abs(offset), 'word')} {'back' if offset < 0 else 'ahead'}"


def _draw_examples(name: Checkpoint, rows: pd.DataFrame, chosen: HeadChoice, relation: str) -> None:
    own_rows = rows[
        (rows["layer"] == chosen.layer) & (rows["head"] == chosen.head) & (rows["relation"] == relation)
    ]
    if not len(own_rows):
        return
    direction = own_rows.sort_values("share", ascending=False)["direction"].iloc[0]
    sentences = [
        (sentence, link)
        for sentence in treebank_sentences()
        for link in [link for link in sentence.links if link.relation == relation][:1]
    ]
    if not loaded(name).config.is_text or not sentences:
        st.caption("The app has no sentences with this relation to show.")
        return
    examples = _link_examples(name, sentences[:MOST_TRIED], chosen, direction)
    if not examples:
        st.caption("No sentence with this relation fits into a line and into what this encoder reads.")
        return
    index = chosen.layer, chosen.head
    figure = call(
        link_arcs,
        [
            call(
                LinkExample,
                example.words,
                example.query,
                example.other_end,
                call(strongest_words, encoder(name), sentence)[*index, example.query],
            )
            for sentence, example in examples
        ],
        title=f"{head_name(chosen.layer, chosen.head)} on {relation}, {_direction_text(direction)}",
    )
    show(figure, key="link_arcs", width="content")
    _draw_buttons(name, examples, chosen, relation, direction)
    st.caption(
        f"The first sentences of UD English PUD with this relation whose link fits into a line, {MOST} at most, computed now. "
        "Licence of the sentences: CC BY-SA 3.0 (`NOTICE`)."
    )


def _draw_buttons(
    name: Checkpoint,
    examples: Sequence[tuple[LinkedText, LinkExample]],
    chosen: HeadChoice,
    relation: str,
    direction: str,
) -> None:
    """Draws a button for each sentence, which opens it on Attention with the links of this relation outlined in the head's
    map.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="link_buttons"):
        st.html("Open in Attention:", width="content")
        for number, (sentence, example) in enumerate(examples):
            st.button(
                f"{plain(example.words[example.query])} → {plain(example.words[example.other_end])}",
                key=f"open_link_{number}",
                type="tertiary",
                on_click=callback(
                    f"open_link_{number}",
                    partial(_open_sentence, name, sentence, chosen, relation, direction),
                ),
            )


def _open_sentence(
    name: Checkpoint, sentence: LinkedText, chosen: HeadChoice, relation: str, direction: str
) -> None:
    """Callback: opens the sentence on Attention at this head, with the first link's query chosen."""
    links = of(link_cells, name, sentence, direction)
    query = next((link.queries[0] for link in links if link.relation == relation), 0)
    take_head(chosen.layer, chosen.head)
    take_query(query)
    TEXT.take(sentence.text)
    choices = (LINKS.to(True), LINK_RELATION.to(relation), LINK_DIRECTION.to(direction))
    as_matrix = (LENS.to(WEIGHTS), VIEW.to(MATRIX), OVER_HEADS.to(HEAD))
    go_to(ATTENTION, *choices, *as_matrix)


def _link_examples(
    name: Checkpoint, sentences: Sequence[tuple[LinkedText, Link]], chosen: HeadChoice, direction: str
) -> list[tuple[LinkedText, LinkExample]]:
    examples: list[tuple[LinkedText, LinkExample]] = []
    for sentence, link in sentences:
        query, other_end = (
            (link.dependent, link.head) if direction == TO_HEAD else (link.head, link.dependent)
        )
        words = tuple(sentence.text[start:end] for start, end in sentence.words)
        # before the forward pass, which a link that is too long does not need
        if not fits_into_line(LinkExample(words, query, other_end, other_end)):
            continue
        strongest = int(of(strongest_words, name, sentence)[chosen.layer, chosen.head, query])
        example = LinkExample(words, query, other_end, strongest)
        if strongest >= 0 and fits_into_line(example):
            examples.append((sentence, example))
        if len(examples) == MOST:
            break
    return examples


def _how_to_measure(name: Checkpoint, is_text: bool) -> str:
    file = TREEBANK if is_text else "FILE.csv"
    command = measuring_command(name).removesuffix(" --data FILE.csv")
    return (
        f"Which relations the heads follow was not measured for this encoder: `{command} --relations {file}` measures it; "
        "`docs/relations.md` describes the test."
    )
