"""Heads: what each head does, on this input and over a data set, and whether it matters."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.head_choice import choose_head, take_query
from app_pages.controls.heads_controls import ABLATE, PART, PATCH, RELATIONS, TABLE
from app_pages.controls.input_controls import DIGIT
from app_pages.controls.pages import ATTENTION, go_to
from app_pages.heads.ablate import draw_ablation
from app_pages.heads.numbers import choose_head_of_encoder, link_head, measuring_sentence
from app_pages.heads.patch import draw_patching
from app_pages.heads.relations_tab import draw_relations
from app_pages.heads.table import draw_heads
from app_pages.inputs.digit_input import take_digit
from app_pages.inputs.row import choose_input, choose_input_or_record
from app_pages.show.show import clickable
from app_pages.subject import encoders, shipped_inputs
from app_pages.subject.cache import Checkpoint
from app_pages.subject.stored_results import examples_phrase, table_of
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import plain
from model.atlas.dataset_examples import DIGITS, OWN_NAME, own_texts
from model.atlas.results import EXAMPLES
from model.config import ModelConfig
from model.inputs import digits
from viz.builders.number_format import format_number
from viz.inputs.image_gallery import digit_examples

Row = Mapping[Any, Any]  # of the stored table, by column
MEASURE = "examples"
N_DIGIT_COLUMNS = 6  # digits in a row
MOST_EXAMPLES = 12


def draw() -> None:
    part = PART.choose()
    if part == TABLE:
        shown, slots = choose_input_or_record()  # it needs no encoder
        # behind View, since a click on a row chooses its head
        draw_heads(
            shown,
            slots,
            choose_head(shown, slots, with_colours=False, with_roles=False, container=slots.view),
        )
    elif part == ABLATE:
        draw_ablation()
    elif part == PATCH:
        subject, slots = choose_input()
        draw_patching(subject, slots, choose_head(subject, slots, with_colours=False, with_roles=False))
    else:
        (draw_relations if part == RELATIONS else draw_examples)()


def draw_examples() -> None:
    """Draws the examples on which a chosen head has its largest weights; the tab needs no input."""
    controls, _ = bar("controls")
    name, config, chosen = choose_head_of_encoder(controls)
    with controls:
        link_head()
    stored = table_of(name, EXAMPLES)
    if stored is None:
        st.info(measuring_sentence(name, f"--with {MEASURE}"), icon=":material/database:")
        return
    rows = stored.rows
    rows = rows[(rows["layer"] == chosen.layer) & (rows["head"] == chosen.head)].sort_values("rank")
    if not len(rows):
        st.info("None of the examples has a weight of this head between two words.", icon=":material/info:")
        return
    st.caption(
        f"Where this head looks most: its largest weights from one {'word' if config.is_text else 'patch'} (the query, framed) to "
        f"another (the key, filled), over {plain(examples_phrase(stored.source, MEASURE))}, at most one from each. Special tokens are left out."
    )
    if config.is_text:
        texts = own_texts() if stored.source.data == OWN_NAME else {}
        lines = "".join(
            _row_html(row, _number_link(name, row, texts.get(row["number"])))
            for row in rows.to_dict("records")
        )
        head = "<thead><tr><th>weight</th><th>in context</th><th>example</th></tr></thead>"
        st.html(f'<table class="liked">{head}<tbody>{lines}</tbody></table>')
    elif stored.source.data == DIGITS:
        _draw_digits(config, rows)
    else:
        st.info(
            f"The pictures of {plain(stored.source.data)} are not part of the app.", icon=":material/info:"
        )


def _number_link(name: Checkpoint, row: Row, text: str | None) -> str:
    """Number of the example as HTML; if its text is known, as a link that opens it with this head and query."""
    number = f"{row['number']:,}"
    if text is None:
        return number
    query = {"kind": encoders.TEXT, "text": text, "checkpoint": name}
    query |= {
        "layer": row["layer"],
        "head": row["head"],
        "query": f"{row['query']} {row['query_token']}",
    }
    return f'<a href="./?{escape(urlencode(query))}" title="open in Attention">{number}</a>'


def _row_html(row: Row, number: str) -> str:
    """A row of the table as HTML: weight, text with query and key marked, and `number`, the HTML of the example's number."""
    query = f'<b title="query">{escape(row["query_token"])}</b>'
    key = f'<mark title="key">{escape(row["key_token"])}</mark>'
    if row["query"] == row["key"]:
        words = f'<b title="query and key"><mark>{escape(row["key_token"])}</mark></b>'
    else:
        earlier, later = (query, key) if row["query"] < row["key"] else (key, query)
        words = f"{earlier}{escape(row['between'])}{later}"
    text = f"{escape(_without_half_words(row['before']))}{words}{escape(_without_half_words(row['after']))}"
    weight = format_number(row["weight"], ".2f")
    return f'<tr><td>{weight}</td><td dir="auto">{text}</td><td>{number}</td></tr>'


def _without_half_words(cut: str) -> str:
    """A text that was cut, without the half words beside its "…": "…rible film wi…" becomes "… film …"."""
    return re.sub(r"^…\S*\s+(?=\S)|(?<=\S)\s+\S*…$", lambda match: "… " if match.start() == 0 else " …", cut)


def _draw_digits(config: ModelConfig, rows: pd.DataFrame) -> None:
    images, _ = shipped_inputs.test_digits()
    assert config.patch_grid is not None
    rows = rows[(rows["number"] >= 1) & (rows["number"] <= len(images))].head(MOST_EXAMPLES)
    numbers = (rows["number"] - 1).tolist()  # of the data from 1, of the gallery from 0
    queries, keys = rows["query"].tolist(), rows["key"].tolist()
    figure = call(
        digit_examples,
        call(digits.examples)[0][numbers],
        [_patch_at(config, query) for query in queries],
        [_patch_at(config, key) for key in keys],
        rows["weight"].tolist(),
        numbers=numbers,
        patch_grid=config.patch_grid,
        columns=N_DIGIT_COLUMNS,
    )
    query_of = dict(zip(numbers, queries, strict=True))

    def take(example: dict) -> None:
        digit = int(example["number"])
        take_digit({"id": digit})
        take_query(query_of[digit])
        go_to(ATTENTION, DIGIT.to(digit))

    clickable(figure, key="heads_examples", chosen=None, selection="example", take=take, width="content")
    st.caption("A click on a digit opens it on the page Attention, with this head and query.")


def _patch_at(config: ModelConfig, position: int) -> int | None:
    """Index of the patch at `position`; None for the class token."""
    return position - config.n_before_patches if position >= config.n_before_patches else None
