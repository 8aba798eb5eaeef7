import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.capture import capture
from model.experiments.residual_stream import (
    cka_by_chance,
    cosine_by_stage,
    digit_states,
    linear_cka,
    mean_norms,
    predicted_probability,
    residual_stream,
    shares,
    skip_terms,
    sublayer_outputs,
    sublayer_shares,
    uniformity,
)
from model.inputs import prepare
from model.measures.changes import largest_change
from tests.model import tiny
from tests.tolerance import encoder_rounding, rounding

TEXT = "not great film"
VARIANTS = {
    "pre": tiny.TEXT,
    "post": replace(tiny.TEXT, norm_placement="post", final_norm=False),
    "mean": replace(tiny.TEXT, pooling="mean"),
    "max": replace(tiny.TEXT, pooling="max", norm_placement="post"),
    "deepnorm": replace(tiny.TEXT, norm_placement="deepnorm"),
    "b2t": replace(tiny.TEXT, norm_placement="b2t"),
    "without residual": replace(tiny.TEXT, residual=False),
}


@pytest.fixture(params=VARIANTS)
def loaded(request):
    return tiny.loaded(VARIANTS[request.param])


def test_mean_norms_are_over_the_positions():
    assert mean_norms(np.array([[[3.0, 4.0], [0.0, 2.0]], [[0.0, 1.0], [0.0, 0.0]]])).tolist() == [3.5, 0.5]


def test_the_residual_stream_is_that_of_the_record(loaded):
    result = residual_stream(loaded, [TEXT, "film not a"])
    for example, text in enumerate((TEXT, "film not a")):
        expected = capture(loaded, text).residual
        apart = encoder_rounding(loaded.config, np.abs(expected).max())
        np.testing.assert_allclose(result[:, example], expected, atol=apart)


@pytest.mark.rest_is_slow
def test_the_shares_of_an_input_are_measured_on_what_its_record_holds(loaded):
    past = skip_terms(loaded.model, capture(loaded, TEXT).residual).astype(float)
    outputs = sublayer_outputs(loaded, TEXT).reshape(past.shape).astype(float)
    x, f = (np.sqrt((array**2).sum(axis=2)) for array in (past, outputs))
    np.testing.assert_allclose(sublayer_shares(loaded, TEXT), (f / (x + f)).mean(axis=1), rtol=1e-5)


def test_shares_by_hand():
    past = np.array([[[3.0, 4.0]], [[6.0, 8.0]]])
    outputs = np.array([[[[5.0, 0.0]], [[0.0, 30.0]]]])
    assert shares(past, outputs) == pytest.approx([5 / (5 + 5), 30 / (10 + 30)])
    # of two tokens the mean
    past = np.array([[[1.0], [1.0]], [[1.0], [1.0]]])
    outputs = np.array([[[[1.0], [3.0]], [[0.0], [0.0]]]])
    assert shares(past, outputs) == pytest.approx([(0.5 + 0.75) / 2, 0])


def test_uniformity_by_hand():
    alike = [[1.0, 2.0], [1.0, 2.0]]
    opposite = [[1.0, 0.0], [-1.0, 0.0]]
    apart = [[2.0, 0.0], [0.0, 0.0]]  # mean (1, 0), so each is 1 away, of a norm of 2
    assert uniformity(np.array([alike, opposite, apart])) == pytest.approx([0, 1, math.sqrt(2) / 2])


def test_the_sublayers_outputs_and_what_goes_past_them_make_the_stream(loaded):
    record, outputs = capture(loaded, TEXT), sublayer_outputs(loaded, TEXT)
    summed = skip_terms(loaded.model, record.residual) + outputs.reshape(-1, *outputs.shape[2:])
    if loaded.config.norm_placement != "pre":
        norms_of = [(block.norm_attention, block.norm_feed_forward) for block in loaded.model.blocks]
        with torch.inference_mode():
            pairs = zip(sum(norms_of, ()), torch.from_numpy(summed), strict=True)
            summed = torch.stack([norm(state) for norm, state in pairs])
    np.testing.assert_allclose(summed, record.residual[1:], atol=1e-5)


@pytest.mark.rest_is_slow
def test_logits_by_layer_are_those_of_a_truncated_encoder(loaded):
    """An encoder of the first layers alone, rebuilt from the weights: no hook, no captured state."""
    record = capture(loaded, TEXT)
    inputs, _ = prepare(loaded, TEXT)
    for n_layers in range(1, loaded.config.n_layers + 1):
        shallow = tiny.build(replace(loaded.config, n_layers=n_layers))
        kept = {
            name: value for name, value in loaded.model.state_dict().items() if name in shallow.state_dict()
        }
        shallow.load_state_dict(kept)
        for block, same in zip(shallow.blocks, loaded.model.blocks, strict=False):
            block.skip = same.skip  # DeepNorm's α is that of all layers
        with torch.inference_mode():
            logits = shallow(inputs)[0]
        np.testing.assert_allclose(record.logits_by_layer[2 * n_layers], logits, atol=1e-5)
    assert largest_change(record.logits_by_layer[-1], record.logits) <= encoder_rounding(
        loaded.config, np.abs(record.residual).max()
    )


def test_the_answer_by_stage(loaded):
    record = capture(loaded, TEXT)
    by_stage = torch.from_numpy(record.logits_by_layer.copy()).double().softmax(dim=-1)
    assert predicted_probability(record) == pytest.approx(
        by_stage[:, int(record.logits.argmax())].numpy(), rel=1e-5
    )
    assert predicted_probability(record)[-1] == pytest.approx(float(record.probabilities.max()), rel=1e-4)


def gram_form(x, y):
    """CKA as HSIC(K, L) / sqrt(HSIC(K, K) HSIC(L, L)), tr(K H L H) over Gram matrices (Kornblith et al., 3.1)."""
    n = len(x)
    centring = np.eye(n) - np.ones((n, n)) / n

    def hsic(k, other):
        return np.trace(k @ centring @ other @ centring)

    k, other = x @ x.T, y @ y.T
    return hsic(k, other) / math.sqrt(hsic(k, k) * hsic(other, other))


@given(st.integers(0, 2**32), st.integers(3, 12), st.integers(1, 6), st.integers(1, 6))
def test_cka_agrees_with_its_gram_form(seed, n, width, other_width):
    random = np.random.default_rng(seed)
    first, second = random.normal(size=(2, n, width)) + 3, random.normal(size=(3, n, other_width))
    result = linear_cka(first, second)
    expected = [[gram_form(x, y) for y in second] for x in first]
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    assert ((result >= 0) & (result <= 1 + 1e-9)).all()


def test_cka_by_hand():
    # One feature each: the squared correlation of (1, 2, 3) and (1, 2, 1), which is 0; and of (1, 2, 3), (1, 3, 2).
    x = np.array([[[1.0], [2.0], [3.0]]])
    assert linear_cka(x, np.array([[[1.0], [2.0], [1.0]]])) == pytest.approx(0)
    assert linear_cka(x, np.array([[[1.0], [3.0], [2.0]]])) == pytest.approx(0.25)


def test_cka_of_states_that_are_all_alike_is_not_a_number():
    random = np.random.default_rng(0).normal(size=(1, 9, 4)).astype(np.float32)
    alike = np.full((1, 9, 4), 0.1, np.float32)  # whose mean is not 0.1 in float32
    result = linear_cka(np.concatenate((alike, random)), random)
    assert np.isnan(result[0, 0])
    assert result[1, 0] == pytest.approx(1, rel=rounding(9 * 4))


def test_cosines_by_hand():
    residual = np.array([[[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [0.0, -3.0]]])
    between = (math.sqrt(0.5) - 1) / 2
    np.testing.assert_allclose(cosine_by_stage(residual), [[1, between], [between, 1]])


@pytest.mark.parametrize("pooling", ["class", "mean"])
def test_the_states_of_digits_are_pooled_one_by_one(pooling):
    positions = tiny.DIGIT.n_patches + (pooling == "class")
    loaded = tiny.loaded(replace(tiny.DIGIT, pooling=pooling, n_positions=positions))
    images = np.random.default_rng(0).integers(0, 256, (3, 8, 8), dtype=np.uint8)
    result = digit_states(loaded, images)
    for number, image in enumerate(images):
        residual = capture(loaded, image).residual
        expected = residual[:, 0] if pooling == "class" else residual.mean(axis=1)
        apart = encoder_rounding(loaded.config, np.abs(residual).max())
        np.testing.assert_allclose(result[:, number], expected, atol=apart)


def test_by_chance_two_unrelated_sides_are_as_alike_as_they_are():
    first, second = np.random.default_rng(0).normal(size=(2, 2, 40, 3))
    shuffled = second[:, np.random.default_rng(0).permutation(40)]
    pairs = [
        np.corrcoef(
            (x - x.mean(0)).dot((x - x.mean(0)).T).ravel(), (y - y.mean(0)).dot((y - y.mean(0)).T).ravel()
        )
        for x in first
        for y in shuffled
    ]
    # Of centred Gram matrices the mean is 0, so that CKA is their correlation.
    assert cka_by_chance(first, second) == pytest.approx(max(pair[0, 1] for pair in pairs))
