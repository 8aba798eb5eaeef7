import numpy as np
import pytest
import streamlit as st

from app_pages.controls.chosen_word import first_query, keep_query, take_word
from app_pages.controls.input_controls import TEXT
from app_pages.controls.map_controls import QUERY
from app_pages.controls.pages import ATTENTION, INSIDE_A_HEAD
from model.record import AttentionRecord, Role

ROLES: dict[str, Role] = {"[CLS]": "class", "[SEP]": "separator", "[PAD]": "padding", "[UNK]": "unknown"}


def record(*tokens: str, grid: tuple[int, int] | None = None) -> AttentionRecord:
    n = len(tokens)
    other: Role = "word" if grid is None else "patch"
    roles = [ROLES.get(token, "continuation" if token.startswith("##") else other) for token in tokens]
    pattern = np.full((1, 1, n, n), 1 / n, np.float32)
    mask = np.ones((1, 1, n, n), bool)
    return AttentionRecord(tokens=tokens, roles=tuple(roles), patch_grid=grid, pattern=pattern, mask=mask)


@pytest.mark.parametrize(
    ("tokens", "first"),
    [
        (("[CLS]", "not", "a", "good", "film", "[SEP]"), 3),  # the first of two as long
        (("[CLS]", "a", "##mazingly", "bad", "[SEP]", "[PAD]"), 3),  # no piece within a word
        (("[CLS]", "[UNK]", "[UNK]", "[SEP]"), 1),
        (("[CLS]", "[SEP]", "[PAD]"), 0),  # there is nothing else
    ],
)
def test_the_first_query_of_a_text_is_its_longest_word(tokens, first):
    assert first_query(record(*tokens)) == first


def test_the_first_query_of_a_picture_is_what_the_answer_is_read_from():
    assert first_query(record("[CLS]", "r0c0", "r0c1", "r1c0", "r1c1", grid=(2, 2))) == 0
    assert first_query(record("r0c0", "r0c1", "r1c0", "r1c1", grid=(2, 2))) == 2


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("before", "query", "after", "label"),
    [
        ("not great film", "2 great", "not not great film", "3 great"),
        ("great not great", "3 great", "not great film not great", "5 great"),  # the second one
        ("great not great", "3 great", "not great", "2 great"),  # of which there is no second one
        ("not great", "2 great", "not not film", "3 film"),  # the longest word
        ("not great", "0 [CLS]", "great film", "0 [CLS]"),  # it was chosen
    ],
)
def test_a_new_text_keeps_the_chosen_word(open_app, before, query, after, label):
    app = open_app(ATTENTION, TEXT.to(before), query=query)
    app.text_area(key="text").set_value(after).run()
    box = app.selectbox(key="query")
    assert box.options[box.index] == app.query_params["query"] == label


def test_a_position_that_is_taken_is_one_of_the_next_text(monkeypatch):
    session: dict[str, object] = {"query": 1}
    monkeypatch.setattr(st, "session_state", session)
    keep_query(record("[CLS]", "not", "great", "[SEP]"))
    take_word(QUERY, 1)
    keep_query(record("[CLS]", "a", "great", "film", "[SEP]"))
    assert session["query"] == 1
    keep_query(record("[CLS]", "great", "a", "[SEP]"))
    assert session["query"] == 2


def test_a_word_stays_chosen_though_the_run_that_moved_it_was_ended(monkeypatch):
    session: dict[str, object] = {"query": 2}
    monkeypatch.setattr(st, "session_state", session)
    monkeypatch.setattr(st, "query_params", {"query": "2 great"})
    keep_query(record("[CLS]", "not", "great", "[SEP]"))
    after = record("[CLS]", "not", "not", "great", "[SEP]")
    keep_query(after)
    session["query"] = None  # the address has no such word in this text
    keep_query(after)
    assert session["query"] == 3


def test_the_key_follows_its_word_too(open_app):
    app = open_app(INSIDE_A_HEAD, TEXT.to("not great film"), inside_key="3 film")
    app.text_area(key="text").set_value("great film").run()
    assert app.query_params["inside_key"] == "2 film"
    app.text_area(key="text").set_value("great").run()
    assert app.query_params["inside_key"] == "strongest"
