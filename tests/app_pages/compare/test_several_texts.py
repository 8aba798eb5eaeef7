"""One query, several texts: their ranking, and by which words of the query two of them differ."""

import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app_pages.compare import several_texts
from app_pages.inputs import parse_texts
from app_pages.inputs.input_list import EnteredList
from app_pages.subject import cache, encoders
from app_pages.subject.shipped_inputs import sentences
from model.similarity.ranked_texts import rank_texts, similarity_difference
from model.similarity.similarity_parts import similarity_parts
from tests.app_pages.charts import table
from tests.app_pages.compare.test_similar_pairs import save_encoder_of_zeros
from tests.app_pages.shown_text import page_text

Open = Callable[..., AppTest]
pytestmark = pytest.mark.usefixtures("own")
VIEW = {"compare_part": "Similarity", "compare_what": "two inputs", "similarity_view": "several texts"}
QUERY, TEXTS = "the film is not bad", ("a long slow story", "the film", "it is unbelievable", "it end", "all")
FIRST, SECOND = "similarity_text", "similarity_with"


@pytest.fixture
def open_ranking(open_compare: Open) -> Open:
    """Opens the view with these lines as the list that was entered in the session; None: with no list."""

    def opened(pasted: str | None = "\n".join(TEXTS), **query: str) -> AppTest:
        listed = None if pasted is None else parse_texts.from_text(pasted)
        session = {"entered_lists": {encoders.TEXT: EnteredList(listed)}}
        app = open_compare(**VIEW | {"checkpoint": "own", "text": QUERY} | query, session=session)
        assert not app.exception
        return app

    return opened


def ranking(app: AppTest) -> list[tuple[str, float]]:
    frame = table(app, "Texts by their cosine similarity", "rank", "text", "cosine")
    return list(zip(frame["text"], frame["cosine"], strict=True))


def ranked_texts(app: AppTest) -> list[str]:
    return [text for text, _ in ranking(app)]


def test_the_texts_of_the_list_are_ranked_by_the_cosines_of_the_library(open_ranking):
    app = open_ranking()
    expected = rank_texts(cache.loaded("own"), QUERY, TEXTS)
    assert ranked_texts(app) == [TEXTS[index] for index in expected.order]
    assert [cosine for _, cosine in ranking(app)] == pytest.approx(sorted(expected.cosines)[::-1], abs=1e-6)


def test_without_a_list_the_second_text_and_the_examples_are_ranked(open_ranking):
    app = open_ranking(None, compare_text="a long story")
    texts = {"a long story", *sentences().values()}
    assert {text[:40] for text in ranked_texts(app)} == {text[:40] for text in texts}
    assert len(ranking(app)) == 1 + len(sentences())


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", ["own", "imdb-pre-ln"])
def test_the_words_of_the_query_add_up_to_the_difference_of_the_two_best(open_ranking, name):
    app = open_ranking(checkpoint=name)
    (one, first), (two, second), *_ = ranking(app)
    parts = (similarity_parts(cache.loaded(name), QUERY, text).by_word() for text in (one, two))
    expected = similarity_difference(*parts)
    values = table(app, f"The {len(expected.query)} ", "position", "value")
    assert values["value"].to_numpy() == pytest.approx(expected.values, abs=1e-6)
    (sums,) = re.findall(r"is (\S+) − (\S+) = (\S+)\*\*", page_text(app).replace("−0.", "-0."))
    assert [*map(float, sums)] == pytest.approx([first, second, first - second], abs=1e-4)
    assert Decimal(sums[0]) - Decimal(sums[1]) == Decimal(sums[2])  # as they are written
    assert ("“its own state”" in page_text(app)) == (name == "imdb-pre-ln")
    assert first - second == pytest.approx(expected.total, abs=1e-6)


def test_two_texts_are_chosen_and_the_best_two_begin(open_ranking):
    app = open_ranking()
    order = rank_texts(cache.loaded("own"), QUERY, TEXTS).order
    assert [app.selectbox(key=key).value for key in (FIRST, SECOND)] == [*order[:2]]
    app.selectbox(key=FIRST).set_value(order[3]).run()
    assert "The cosine with text 4 minus that with text 2" in page_text(app)
    app.selectbox(key=FIRST).set_value(order[1]).run()  # the two differ
    assert [app.selectbox(key=key).value for key in (FIRST, SECOND)] == [order[1], order[0]]


def test_the_second_text_is_compared_at_first_and_stays_when_it_is_changed(open_ranking):
    app = open_ranking(None, compare_text="a long story")
    for second in ("a long story", "the film"):
        app.text_area(key="compare_text").set_value(second).run()
        rank = ranked_texts(app).index(second) + 1
        assert f"The cosine with text {rank} minus that with text" in page_text(app)


def test_a_click_compares_a_text_with_the_one_that_was_chosen_last(open_ranking, monkeypatch):
    def as_buttons(*_figure: Any, take: Callable[[dict], None], **_options: Any) -> None:
        for rank in range(1, 6):
            st.button(f"click {rank}", on_click=partial(take, {"rank": rank}))

    monkeypatch.setattr(several_texts, "clickable", as_buttons)
    app = open_ranking()
    order = rank_texts(cache.loaded("own"), QUERY, TEXTS).order
    for rank, ranks in ((5, (2, 5)), (3, (5, 3)), (3, (5, 3)), (5, (3, 5))):
        chosen = [order[number - 1] for number in ranks]
        next(button for button in app.button if button.label == f"click {rank}").click().run()
        assert [app.selectbox(key=key).value for key in (FIRST, SECOND)] == chosen
    assert "The cosine with text 3 minus that with text 5" in page_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("pasted", "n", "sentence"),
    [
        ("a long story", 1, "With one text there is nothing to compare"),
        (
            "\n".join(f"a {'long ' * n}story" for n in range(21)),
            20,
            "There are 21 different texts, of which the first 20 are ranked.",
        ),
        ("the film\nit\nthe film", 2, "1 text left out that stands in the list already."),
        ("<script>alert(1)</script>\nthe film", 2, "adds to its cosine with text 1"),
        ("film " * 20_000 + "\nthe film", 2, "1 text too long for this encoder"),
    ],
)
def test_what_is_left_out_is_said_in_one_sentence(open_ranking, pasted, n, sentence):
    app = open_ranking(pasted)
    assert len(ranking(app)) == n
    assert sentence in page_text(app)


def test_of_twenty_long_texts_it_is_said_that_they_are_cut(open_ranking):
    app = open_ranking("\n".join("film story " * 250 + f"{'a ' * n}" for n in range(20)))
    assert len(ranking(app)) == 20
    assert "20 texts too long for this encoder" in page_text(app)


def test_a_list_is_pasted_and_an_empty_one_is_refused(open_ranking):
    app = open_ranking(None)
    for pasted in ("it end\nthe film", " "):
        app.text_area(key="several_paste_0" if pasted.strip() else "several_paste_1").set_value(pasted)
        next(button for button in app.button if button.label == "Use these texts").click().run()
        assert sorted(ranked_texts(app)) == ["it end", "the film"]
    assert [warning.value for warning in app.warning] == ["What was pasted is empty."]


def test_texts_in_which_there_is_no_token_are_left_out(open_ranking, monkeypatch):
    monkeypatch.setattr(several_texts, "readable_inputs", lambda *_: ({}, [], {}))
    app = open_ranking()
    assert [info.value for info in app.info] == ["The encoder finds no token in any of these texts."]


def test_a_vector_of_zeros_is_said_in_one_sentence(open_ranking, checkpoints):
    save_encoder_of_zeros(checkpoints / "zero")
    app = open_ranking("film\nnot", checkpoint="zero")
    assert [info.value for info in app.info] == [
        "Zero makes a pooled state of length 0 of this input, which has no cosine."
    ]
    assert not app.get("vega_lite_chart")
