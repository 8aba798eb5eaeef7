"""Scores as sums of products of the parts of query and key."""

from dataclasses import replace

import numpy as np
import pytest

from model.capture import activations, capture
from model.decompositions.score_parts import score_parts
from tests.model import tiny
from tests.model.decompositions.hand_made import TEXT, previous_token_encoder
from tests.model.decompositions.held import without_part
from tests.model.huggingface import folders

SENTENCE = "great film not a x y"
QUERY, KEY = 3, 1


def test_a_head_that_reads_the_previous_token_is_the_whole_score():
    loaded = previous_token_encoder()
    pattern = capture(loaded, TEXT).pattern[0, 0]
    assert np.diag(pattern, -1).min() > 1 - 1e-6
    for query in (1, 2, 3, 4):
        parts = score_parts(loaded, TEXT, layer=1, head=0, query=query, key=query - 1)
        product = parts.frame.loc["L0 H0", "token"]
        assert product == pytest.approx(parts.recorded, abs=1e-6)
        assert product > 1
        assert parts.strongest(1).loc["L0 H0", "token"] == product
        others = parts.frame.to_numpy().sum() - product
        assert others == pytest.approx(0, abs=1e-6)
        by_token = score_parts(loaded, TEXT, layer=1, head=0, query=query, key=query - 1, by_token=True)
        name = f"L0 H0 from {capture(loaded, TEXT).labels[query - 1]}"
        assert by_token.frame.loc[name, "token"] == pytest.approx(parts.recorded, abs=1e-6)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("placement", ["pre", "post", "deepnorm", "b2t"])
@pytest.mark.parametrize(
    ("part", "activation", "index"),
    [
        ("L0 H1", "blocks.0.attention.z", (0, 1)),
        ("L1 H0", "blocks.1.attention.z", (0, 0)),
        ("L0 feed-forward", "blocks.0.feed_forward_out", (0,)),
        ("token", "embedding.content", (0,)),
    ],
)
def test_without_a_part_the_score_changes_by_its_products(placement, part, activation, index):
    loaded = tiny.loaded(replace(tiny.TEXT, n_layers=3, norm_placement=placement))
    parts = score_parts(loaded, SENTENCE, layer=2, head=1, query=QUERY, key=KEY)
    products = parts.frame
    row, column = products.loc[part].sum(), products[part].sum()
    expected = {(QUERY,): row, (KEY,): column, (QUERY, KEY): row + column - products.loc[part, part]}
    for positions, change in expected.items():
        with without_part(loaded, SENTENCE, activation, (*index, list(positions))) as without:
            (scores,) = activations(without, [SENTENCE], ["blocks.2.attention.scores"]).values()
        assert abs(change) > 1e-3
        assert parts.recorded - float(scores[0, 1, QUERY, KEY]) == pytest.approx(change, abs=5e-6)


def test_values_are_sums_of_products():
    parts = score_parts(tiny.loaded(tiny.TEXT), SENTENCE, layer=1, head=0, query=QUERY, key=KEY)
    products = parts.frame
    assert list(parts.query["part"]) == ["token", "position", "L0 H0", "L0 H1", "L0 feed-forward", "biases"]
    np.testing.assert_allclose(products.sum(axis=1)[parts.query["part"]], parts.query["value"], atol=1e-12)
    np.testing.assert_allclose(products.sum()[parts.key["part"]], parts.key["value"], atol=1e-12)
    assert products.index[0] == parts.query["part"][parts.query["value"].abs().idxmax()]
    strongest = parts.strongest(2)
    assert list(strongest.index) == [*products.index[:2], "all others"]
    np.testing.assert_allclose(strongest.iloc[:2, :2], products.iloc[:2, :2])
    np.testing.assert_allclose(strongest.to_numpy().sum(), parts.total)
    assert parts.gap == abs(parts.total - parts.recorded) < 1e-6


def test_a_heads_part_by_token_sums_to_it():
    loaded = tiny.loaded(tiny.TEXT)
    whole = score_parts(loaded, SENTENCE, layer=1, head=0, query=QUERY, key=KEY)
    by_token = score_parts(loaded, SENTENCE, layer=1, head=0, query=QUERY, key=KEY, by_token=True)
    for side in ("query", "key"):
        rows = getattr(by_token, side)
        sums = rows.groupby(["kind", "layer", "head"], dropna=False)["value"].sum()
        expected = getattr(whole, side).groupby(["kind", "layer", "head"], dropna=False)["value"].sum()
        np.testing.assert_allclose(sums, expected, atol=1e-6)
    n = len(capture(loaded, SENTENCE))
    assert list(by_token.query["read_from"].dropna()) == [*range(n), *range(n)]


def test_a_bias_by_distance_is_a_part(tmp_path):
    loaded = folders.encoder(tmp_path, "T5EncoderModel")
    parts = score_parts(loaded, folders.SENTENCE, layer=1, head=2, query=QUERY, key=KEY)
    (added,) = activations(loaded, [folders.SENTENCE], ["blocks.1.attention.scores.added"]).values()
    bias = float(added[0, 2, QUERY, KEY])
    relative = parts.frame.loc["relative position"]
    assert relative["relative position"] == pytest.approx(bias)
    assert relative.sum() == pytest.approx(bias)
    assert parts.frame["relative position"].sum() == pytest.approx(bias)
    assert parts.strongest(1).to_numpy().sum() == pytest.approx(parts.recorded, abs=1e-6)


def test_debertas_terms_go_by_the_parts_of_query_and_key(tmp_path):
    loaded = folders.encoder(tmp_path, "DebertaV2Model")
    parts = score_parts(loaded, folders.SENTENCE, layer=1, head=2, query=QUERY, key=KEY)
    names = ("content_to_content", "content_to_position", "position_to_content")
    terms = activations(loaded, [folders.SENTENCE], [f"blocks.1.attention.{name}" for name in names])
    c2c, c2p, p2c = (float(term[0, 2, QUERY, KEY]) for term in terms.values())
    products = parts.frame
    assert products.loc["relative position", "relative position"] == pytest.approx(0, abs=1e-12)
    assert products["relative position"].sum() == pytest.approx(c2p, abs=1e-6)
    assert products.loc["relative position"].sum() == pytest.approx(p2c, abs=1e-6)
    assert products.drop("relative position").drop(
        columns="relative position"
    ).to_numpy().sum() == pytest.approx(c2c, abs=1e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"layer": 2}, "layer is from 0 to 1, got 2"),
        ({"head": -1}, "head is from 0 to 1, got -1"),
        ({"query": 20}, "query is from 0 to 7, got 20"),
        ({"key": 10}, "key is from 0 to 7, got 10"),
    ],
)
def test_a_score_that_there_is_not_is_refused(wrong, message):
    arguments = {"layer": 0, "head": 0, "query": 0, "key": 0} | wrong
    with pytest.raises(ValueError, match=message):
        score_parts(tiny.loaded(tiny.TEXT), SENTENCE, **arguments)
