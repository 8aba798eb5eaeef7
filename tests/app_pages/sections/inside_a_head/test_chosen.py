import pytest
import streamlit as st

from app_pages.sections.inside_a_head.chosen import chosen_query
from model.capture import capture
from tests.model import tiny


@pytest.mark.parametrize(("held", "query"), [({}, 0), ({"query": 2}, 2), ({"query": 99}, 4)])
def test_the_query_is_what_the_box_holds_within_the_text(monkeypatch, held, query):
    monkeypatch.setattr(st, "session_state", held)
    assert chosen_query(capture(tiny.loaded(tiny.TEXT), "not great film")) == query
