import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.capture import capture
from model.capture.intervention import MaskChoice, masked
from model.lenses.rollout import reachable_keys, rollout
from model.record.from_arrays import from_arrays
from tests.model.lenses.lens_encoders import TEXT, read_by


def test_by_hand():
    pattern = np.array([[[[0.5, 0.5], [0, 1]]], [[[0, 1], [1, 0]]]])
    first = [[0.75, 0.25], [0, 1]]
    both = [[0.375, 0.625], [0.375, 0.625]]  # ½ and ½ of the rows above
    np.testing.assert_allclose(rollout(from_arrays(pattern, ["a", "b"])).pattern[:, 0], [first, both])


def by_definition(pattern):
    """Abnar & Zuidema's equation 1, number by number."""
    n_layers, n_heads, n, _ = pattern.shape
    result = [np.eye(n)]
    for layer in range(n_layers):
        made = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    mean = sum(float(pattern[layer, head, i, k]) for head in range(n_heads)) / n_heads
                    made[i, j] += (0.5 * mean + 0.5 * (i == k)) * result[-1][k, j]
        result.append(made)
    return np.stack(result[1:])


shapes = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 5))


@given(shapes, st.integers(0, 99), st.booleans())
def test_rows_sum_to_1(shape, seed, blind):
    layers, heads, n = shape
    rng = np.random.default_rng(seed)
    pattern = rng.dirichlet(np.ones(n), (layers, heads, n))
    mask = np.ones(pattern.shape, bool)
    if blind:  # the first query attends to nothing, in one layer
        pattern[0, :, 0], mask[0, :, 0] = 0, False
    record = from_arrays(pattern, [str(index) for index in range(n)], mask=mask)
    result = rollout(record).pattern
    np.testing.assert_allclose(result.sum(axis=-1), 1, rtol=1e-5)
    if not blind:
        np.testing.assert_allclose(result[:, 0], by_definition(pattern), rtol=1e-4, atol=1e-6)


@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 99))
def test_what_cannot_be_reached_is_zero(n, layers, seed):
    rng = np.random.default_rng(seed)
    mask = np.tril(np.ones((layers, 2, n, n), bool))
    pattern = mask * rng.random(mask.shape)
    pattern /= pattern.sum(axis=-1, keepdims=True)
    record = from_arrays(pattern, [str(index) for index in range(n)], mask=mask)
    np.testing.assert_array_equal(reachable_keys(record), mask[:, :1])
    assert not rollout(record).pattern[~mask[:, :1]].any()


def test_padding_gets_nothing_of_the_others(tmp_path):
    loaded, _ = read_by("pre", tmp_path)
    padded = rollout(capture(loaded, TEXT, masked(MaskChoice(kind="padding", n_padding=2)))).pattern
    assert not padded[..., :-2, -2:].any()
    np.testing.assert_allclose(padded[..., :-2, :-2], rollout(capture(loaded, TEXT)).pattern, rtol=1e-4)


def test_two_inputs_cannot_be_followed():
    cross = from_arrays(np.full((1, 1, 2, 3), 1 / 3), ["a", "b"], keys=["x", "y", "z"])
    with pytest.raises(ValueError, match="queries and keys differ"):
        rollout(cross)


def test_the_largest_weight_of_the_heads_by_hand() -> None:
    pattern = np.array([[[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]]])
    # largest weights (1, ½) and (½, 1), with the identity (2, ½) and (½, 2), rows divided by 2½
    result = rollout(from_arrays(pattern, ["a", "b"]), heads="maximum").pattern
    np.testing.assert_allclose(result, [[[[0.8, 0.2], [0.2, 0.8]]]])


def test_from_a_later_layer_it_is_the_rollout_of_the_layers_from_there() -> None:
    pattern = np.random.default_rng(0).dirichlet(np.ones(4), (3, 2, 4))
    tokens = list("abcd")
    result = rollout(from_arrays(pattern, tokens), first_layer=1).pattern
    np.testing.assert_array_equal(result[0, 0], np.eye(4))
    np.testing.assert_allclose(result[1:], rollout(from_arrays(pattern[1:], tokens)).pattern)
    for layer in (-1, 3):
        with pytest.raises(IndexError, match=f"there is no layer {layer}"):
            rollout(from_arrays(pattern, tokens), first_layer=layer)
