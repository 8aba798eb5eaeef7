import numpy as np
import pytest
import streamlit as st

from app_pages.sections.inside_a_head.chosen import as_input, chosen_query
from app_pages.state import DIGIT_SHAPE
from model.capture import capture
from tests.model import tiny


@pytest.mark.parametrize(("held", "query"), [({}, 0), ({"query": 2}, 2), ({"query": 99}, 4)])
def test_the_query_is_what_the_box_holds_within_the_text(monkeypatch, held, query):
    monkeypatch.setattr(st, "session_state", held)
    assert chosen_query(capture(tiny.loaded(tiny.TEXT), "not great film")) == query


def test_a_text_stays_and_a_digit_becomes_its_picture():
    assert as_input("great film") == "great film"
    image = np.arange(784, dtype=np.uint16).astype(np.uint8).reshape(DIGIT_SHAPE)
    np.testing.assert_array_equal(as_input(image.tobytes()), image)
