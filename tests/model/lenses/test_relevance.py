import numpy as np
import pytest
import torch

from model.capture import activations, capture
from model.hooks import watch
from model.lenses import RELEVANCE, through
from model.lenses.relevance import gradient_weighted_attention, relevance
from model.record.from_arrays import from_arrays
from tests.model.lenses.lens_encoders import IMPORTED, PLACEMENTS, TEXT, by_hand, read_by
from tests.slow import first_of


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


def by_definition(loaded, given, score, step=1e-5):
    """Chefer et al. 2021, equations 5 and 6, with the gradient as a difference of two forwards."""
    layers = range(loaded.config.n_layers)
    names = [f"blocks.{layer}.attention.pattern" for layer in layers]
    patterns = [pattern[0].numpy() for pattern in activations(loaded, [given], names).values()]
    result = [np.eye(patterns[0].shape[-1])]
    for name, pattern in zip(names, patterns, strict=True):
        gradient = np.zeros(pattern.shape)
        for cell in np.ndindex(pattern.shape):
            ends = []
            for sign in (1, -1):

                def moved(seen, cell=cell, sign=sign):
                    seen = seen.clone()
                    seen[(0, *cell)] += sign * step
                    return seen

                with watch(loaded.model, {name: moved}):
                    ends.append(score(activations(loaded, [given], ["logits"])["logits"][0].numpy()))
            gradient[cell] = (ends[0] - ends[1]) / (2 * step)
        cam = np.maximum(gradient * pattern, 0).mean(axis=0)
        result.append(result[-1] + cam @ result[-1])
    return np.stack(result[1:]) - result[0]


@pytest.mark.parametrize("number", first_of([None, 0]))
@pytest.mark.parametrize("name", ["pre", "post", "mean", "without classes"])
def test_as_the_paper_defines_it(name, number, tmp_path):
    loaded, given = read_by(name, tmp_path)
    record = capture(loaded, given)
    loaded.model.double()  # or the differences were of rounding
    answer = activations(loaded, [given], ["logits"])["logits"][0].numpy()
    chosen = int(answer.argmax()) if number is None else number

    def score(values):
        return float(values @ answer if name == "without classes" else values[chosen])

    expected = by_definition(loaded, given, score)
    expected /= expected.max(axis=(1, 2), keepdims=True)
    result = relevance(record, gradient_weighted_attention(loaded, given, number)).pattern[:, 0]
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name", [*PLACEMENTS, *IMPORTED])
def test_rows_keep_their_sizes(name, tmp_path):
    loaded, given = read_by(name, tmp_path)
    result = through(RELEVANCE, loaded, given)
    assert result.pattern.shape[:2] == (loaded.config.n_layers, 1)
    assert (result.pattern >= 0).all()
    np.testing.assert_allclose(result.pattern.max(axis=(1, 2, 3)), 1)


@pytest.mark.parametrize("name", ["pre", "post"])
def test_a_head_without_output_has_no_relevance(name, tmp_path):
    loaded, _ = read_by(name, tmp_path)
    with torch.no_grad():
        for block in loaded.model.blocks:
            block.attention.w_o.weight.zero_()
    assert not through(RELEVANCE, loaded, TEXT).pattern.any()


def test_nothing_flows_into_the_last_layer_but_where_the_class_is_read(tmp_path):
    loaded, given = read_by("pre", tmp_path)
    assert not gradient_weighted_attention(loaded, given)[-1, 1:].any()
    assert gradient_weighted_attention(loaded, given)[-1, 0].any()


@pytest.mark.parametrize("number", [-1, 2])
def test_a_class_that_is_not_there(number, tmp_path):
    loaded, given = read_by("pre", tmp_path)
    with pytest.raises(IndexError, match="none of the 2 classes"):
        through(RELEVANCE, loaded, given, number)


def test_the_record_is_that_of_the_input(tmp_path):
    loaded, given = read_by("pre", tmp_path)
    assert through(RELEVANCE, loaded, given).tokens == capture(loaded, given).tokens
