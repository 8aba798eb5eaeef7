import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.capture import activations, capture
from model.capture.intervention import MaskChoice, masked
from model.hooks import watch
from model.lenses import RELEVANCE, through
from model.lenses.rollout import gradient_weighted_attention, reachable_keys, relevance, rollout
from model.record.from_arrays import from_arrays
from tests.model.lenses.lens_encoders import IMPORTED, PLACEMENTS, TEXT, by_hand, read_by
from tests.model.tiny import changed_at


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


def test_two_layers_by_hand():
    record = from_arrays(np.full((2, 1, 2, 2), 0.5), ["a", "b"])
    first, second = [[0.2, 0.4], [0.0, 0.1]], [[0.0, 1.0], [0.0, 0.0]]
    # R = I + Ā0, then R + Ā1 R: its first row gains (0, 1 + 0.1)
    expected = np.array([[[0.2, 0.4], [0, 0.1]], [[0.2, 1.5], [0, 0.1]]])
    expected /= np.array([0.4, 1.5])[:, None, None]
    result = relevance(record, np.array([first, second])).pattern
    np.testing.assert_allclose(result[:, 0], expected, rtol=1e-6)


@pytest.mark.parametrize(("number", "row"), [(0, [1, 0]), (1, [0, 1])])
def test_the_gradient_by_hand(number, row):
    loaded, _ = by_hand()
    model = loaded.model
    with torch.no_grad():
        model.embedding.class_token.copy_(
            torch.tensor([1.0, 0])
        )  # its LayerNorm is (1, −1), and so is its value
        model.embedding.patches.bias.copy_(torch.tensor([0.0, 3]))  # (−1, 1)
        model.classifier.weight.copy_(torch.tensor([[2.0, 1], [0, 1]]))
    # A is ½ everywhere. Only the class token is classified: class 0 gains 2 − 1 by the weight on it and loses as much by
    # that on the patch, class 1 the other way round.
    made = gradient_weighted_attention(loaded, np.zeros((2, 2), np.uint8), number)
    np.testing.assert_allclose(made, [[np.array(row) / 2, [0, 0]]], atol=1e-6)
    result = through(RELEVANCE, loaded, np.zeros((2, 2), np.uint8), number).pattern
    np.testing.assert_allclose(result[0, 0], [row, [0, 0]], atol=1e-6)


def relevance_by_definition(loaded, model_input, score, step=1e-5):
    """Chefer et al. 2021, equations 5 and 6, with the gradient as a difference of two forwards."""
    layers = range(loaded.config.n_layers)
    names = [f"blocks.{layer}.attention.pattern" for layer in layers]
    patterns = [pattern[0].numpy() for pattern in activations(loaded, [model_input], names).values()]
    result = [np.eye(patterns[0].shape[-1])]
    for name, pattern in zip(names, patterns, strict=True):
        gradient = np.zeros(pattern.shape)
        for cell in np.ndindex(pattern.shape):
            ends = []
            for sign in (1, -1):
                moved = changed_at((0, *cell), lambda weight, sign=sign: weight + sign * step)
                with watch(loaded.model, {name: moved}):
                    ends.append(score(activations(loaded, [model_input], ["logits"])["logits"][0].numpy()))
            gradient[cell] = (ends[0] - ends[1]) / (2 * step)
        cam = np.maximum(gradient * pattern, 0).mean(axis=0)
        result.append(result[-1] + cam @ result[-1])
    return np.stack(result[1:]) - result[0]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("number", [None, 0])
@pytest.mark.parametrize("name", ["pre", "post", "mean", "without classes"])
def test_as_the_paper_defines_it(name, number, tmp_path):
    loaded, model_input = read_by(name, tmp_path)
    record = capture(loaded, model_input)
    loaded.model.double()  # or the differences were of rounding
    answer = activations(loaded, [model_input], ["logits"])["logits"][0].numpy()
    chosen = int(answer.argmax()) if number is None else number

    def score(values):
        return float(values @ answer if name == "without classes" else values[chosen])

    expected = relevance_by_definition(loaded, model_input, score)
    expected /= expected.max(axis=(1, 2), keepdims=True)
    result = relevance(record, gradient_weighted_attention(loaded, model_input, number)).pattern[:, 0]
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-6)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", [*PLACEMENTS, *IMPORTED])
def test_rows_keep_their_sizes(name, tmp_path):
    loaded, model_input = read_by(name, tmp_path)
    result = through(RELEVANCE, loaded, model_input)
    assert result.pattern.shape[:2] == (loaded.config.n_layers, 1)
    assert (result.pattern >= 0).all()
    np.testing.assert_allclose(result.pattern.max(axis=(1, 2, 3)), 1)


def test_nothing_flows_into_the_last_layer_but_where_the_class_is_read(tmp_path):
    loaded, model_input = read_by("pre", tmp_path)
    assert not gradient_weighted_attention(loaded, model_input)[-1, 1:].any()
    assert gradient_weighted_attention(loaded, model_input)[-1, 0].any()


@pytest.mark.parametrize("number", [-1, 2])
def test_a_class_that_is_not_there(number, tmp_path):
    loaded, model_input = read_by("pre", tmp_path)
    with pytest.raises(IndexError, match="none of the 2 classes"):
        through(RELEVANCE, loaded, model_input, number)


def test_the_record_is_that_of_the_input(tmp_path):
    loaded, model_input = read_by("pre", tmp_path)
    assert through(RELEVANCE, loaded, model_input).tokens == capture(loaded, model_input).tokens
