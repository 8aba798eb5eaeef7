from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from model.capture import capture
from model.experiments.embeddings import embedding_parts
from model.theory.add_or_concatenate import position_sums, query_key_weights
from tests.model import tiny

SIZES = st.integers(1, 6)
VALUES = st.floats(-4, 4, width=32)


@st.composite
def products(draw: st.DrawFn) -> tuple[np.ndarray, ...]:
    """X, P, W1 and W2 whose shapes fit."""
    n, d_model, d_out = (draw(SIZES) for _ in range(3))
    shapes = ((n, d_model), (n, d_model), (d_model, d_out), (d_model, d_out))
    return tuple(draw(arrays(np.float64, shape, elements=VALUES)) for shape in shapes)


def test_the_sums_by_hand():
    x, p = np.array([[1.0, 2.0]]), np.array([[3.0, -4.0]])
    w1, w2 = np.array([[1.0], [10.0]]), np.array([[100.0], [1000.0]])
    result = position_sums(x, p, w1, w2)
    assert (result.content.tolist(), result.positions.tolist(), result.whole.tolist()) == (
        [[21]],
        [[-3700]],
        [[-3679]],
    )
    assert (result.largest, result.from_sum) == (3679, 0)
    assert result.from_adding == abs(-3679 - (4 - 20))
    assert position_sums(x, p, w1, w1).from_adding == 0


@given(products())
def test_concatenating_is_adding_two_products(given_):
    x, p, w1, w2 = given_
    result = position_sums(*given_)
    np.testing.assert_allclose(result.whole, x @ w1 + p @ w2, atol=1e-12)
    assert result.from_sum < 1e-12
    assert result.largest == np.abs(result.whole).max()
    assert result.from_adding == pytest.approx(np.abs(p @ (w2 - w1)).max(), abs=1e-12)


@given(products())
def test_with_tied_weights_it_is_adding_first(given_):
    x, p, w, _ = given_
    np.testing.assert_allclose(position_sums(x, p, w, w).whole, (x + p) @ w, atol=1e-12)
    assert position_sums(x, p, w, w).from_adding < 1e-12


@pytest.mark.parametrize("head", [0, 1])
def test_the_weights_are_those_of_the_head(head: int):
    """Where no norm comes first, x W + b is the q and k that the encoder computed."""
    post = tiny.loaded(replace(tiny.TEXT, norm_placement="post", final_norm=False))
    record, total = capture(post, "not great"), embedding_parts(post, "not great").total
    attention, of_head = post.model.blocks[0].attention, slice(4 * head, 4 * head + 4)
    for weights, part, seen in zip(
        query_key_weights(post.model, 0, head),
        (attention.w_q, attention.w_k),
        (record.q, record.k),
        strict=True,
    ):
        bias = part.bias.detach().numpy()[of_head]
        np.testing.assert_allclose(total @ weights + bias, seen[0, head], atol=1e-5)
