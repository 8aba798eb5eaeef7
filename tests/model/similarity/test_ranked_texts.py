"""Texts ranked by their cosine with a query, and the difference of two cosines by the words of the query."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from model.capture import capture
from model.loaded import Loaded
from model.similarity.ranked_texts import rank_texts, ranking_from_states, similarity_difference
from model.similarity.similarity_parts import OWN_STATE, similarity_parts
from tests.model import tiny
from tests.model.huggingface import folders

QUERY, TEXTS = "films not", ("great film", "not", "films not great film", "not", "a")
ENCODERS = {
    "class token": tiny.TEXT,
    "mean": replace(tiny.TEXT, pooling="mean", class_names=()),
    "maximum": replace(tiny.TEXT, pooling="max"),
}


@pytest.fixture(params=[*ENCODERS])
def loaded(request: pytest.FixtureRequest) -> Loaded:
    return tiny.loaded(ENCODERS[request.param])


def test_cosines_are_those_of_pooled_states_and_the_largest_comes_first(loaded):
    result = rank_texts(loaded, QUERY, TEXTS)
    query, *texts = (capture(loaded, text).pooled[None] for text in (QUERY, *TEXTS))
    expected = cosine_similarity(query, np.concatenate(texts))[0]
    np.testing.assert_allclose(result.cosines, expected, atol=1e-6)
    assert sorted(result.order) == [0, 1, 2, 3, 4]
    assert (np.diff(result.cosines[[*result.order]]) <= 0).all()
    assert result.order.index(1) + 1 == result.order.index(3)  # of equal texts the first one stands first


def test_one_text_is_ranked_and_the_query_itself_has_the_cosine_1(loaded):
    result = rank_texts(loaded, QUERY, [QUERY])
    assert result.cosines == pytest.approx([1], abs=1e-6)


def test_texts_of_an_encoder_without_padding_are_ranked(tmp_path):
    loaded = folders.encoder(tmp_path, "CLIPTextModel")
    texts = ["a long slow story", "the film", folders.SENTENCE]
    query, *others = (capture(loaded, text).pooled[None] for text in ("the end", *texts))
    expected = cosine_similarity(query, np.concatenate(others))[0]
    np.testing.assert_allclose(rank_texts(loaded, "the end", texts).cosines, expected, atol=1e-6)


@pytest.mark.parametrize("n", [0, 21])
def test_no_text_and_more_than_twenty_are_refused(n):
    with pytest.raises(ValueError, match=f"1 to 20 texts are ranked, got {n}"):
        rank_texts(tiny.loaded(tiny.TEXT), QUERY, ["film"] * n)


@pytest.mark.parametrize("number", [0.0, np.nan])
def test_a_state_without_a_direction_is_refused(number):
    states = np.array([[1.0, 2.0], [number, 0.0]])
    with pytest.raises(ValueError, match=r"makes a pooled state of length (0|nan) of this input"):
        ranking_from_states(tiny.loaded(tiny.TEXT), states)


@pytest.mark.rest_is_slow
def test_words_and_all_else_add_up_to_the_difference_of_the_cosines(loaded):
    parts = [similarity_parts(loaded, QUERY, text).by_word() for text in TEXTS[:2]]
    result = similarity_difference(*parts)
    cosines = rank_texts(loaded, QUERY, TEXTS[:2]).cosines
    assert result.query.tokens == ("[CLS]", "films", "not", "[SEP]")
    assert result.recorded == pytest.approx(cosines[0] - cosines[1], abs=1e-6)
    assert result.gap < 1e-6
    assert result.total == pytest.approx(result.values.sum() + result.elsewhere)
    by_row = parts[0].values.sum(axis=1) - parts[1].values.sum(axis=1)
    np.testing.assert_allclose(result.values, by_row[:4], atol=1e-12)
    assert result.elsewhere == pytest.approx(by_row[4:].sum(), abs=1e-12)
    assert result.others == ((OWN_STATE,) if loaded.config.pooling == "class" else ())
    assert np.abs(result.values).max() > 1e-4


def test_of_equal_texts_nothing_differs(loaded):
    parts = similarity_parts(loaded, QUERY, "not")
    result = similarity_difference(parts, parts)
    assert not result.values.any()
    assert (result.elsewhere, result.recorded, result.gap) == (0, 0, 0)


def test_parts_of_two_queries_are_refused():
    loaded = tiny.loaded(tiny.TEXT)
    first, second = (similarity_parts(loaded, query, "not") for query in ("film", "great"))
    with pytest.raises(
        ValueError, match=r"the queries differ: '\[CLS\] film \[SEP\]' and '\[CLS\] great \[SEP\]'"
    ):
        similarity_difference(first, second)
