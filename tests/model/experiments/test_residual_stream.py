import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.capture import capture
from model.experiments.residual_stream import (
    mean_norms,
    norms,
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
from tests.tolerance import encoder_rounding

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


def test_norms_by_hand():
    assert norms(np.array([[[3.0, 4.0], [0.0, 2.0]]])).tolist() == [[5, 2]]


def test_mean_norms_are_over_the_positions():
    assert mean_norms(np.array([[[3.0, 4.0], [0.0, 2.0]], [[0.0, 1.0], [0.0, 0.0]]])).tolist() == [3.5, 0.5]


def test_the_residual_stream_is_that_of_the_record(loaded):
    result = residual_stream(loaded, [TEXT, "film not a"])
    for example, text in enumerate((TEXT, "film not a")):
        expected = capture(loaded, text).residual
        apart = encoder_rounding(loaded.config, np.abs(expected).max())
        np.testing.assert_allclose(result[:, example], expected, atol=apart)


def test_the_shares_of_an_input_are_measured_on_what_its_record_holds(loaded):
    past = skip_terms(loaded.model, capture(loaded, TEXT).residual).astype(float)
    outputs = sublayer_outputs(loaded, TEXT).reshape(past.shape).astype(float)
    x, f = (np.sqrt((array**2).sum(axis=2)) for array in (past, outputs))
    np.testing.assert_allclose(sublayer_shares(loaded, TEXT), (f / (x + f)).mean(axis=1), rtol=1e-5)


def test_shares_by_hand():
    past = np.array([[[3.0, 4.0]], [[6.0, 8.0]]])
    outputs = np.array([[[[5.0, 0.0]], [[0.0, 30.0]]]])
    assert shares(past, outputs) == pytest.approx([5 / (5 + 5), 30 / (10 + 30)])


def test_shares_are_means_over_the_tokens():
    past = np.array([[[1.0], [1.0]], [[1.0], [1.0]]])
    outputs = np.array([[[[1.0], [3.0]], [[0.0], [0.0]]]])
    assert shares(past, outputs) == pytest.approx([(0.5 + 0.75) / 2, 0])


def test_uniformity_by_hand():
    alike = [[1.0, 2.0], [1.0, 2.0]]
    opposite = [[1.0, 0.0], [-1.0, 0.0]]
    apart = [[2.0, 0.0], [0.0, 0.0]]  # mean (1, 0), so each is 1 away, of a norm of 2
    assert uniformity(np.array([alike, opposite, apart])) == pytest.approx([0, 1, math.sqrt(2) / 2])


def test_where_nothing_goes_past_the_sublayers_are_all_there_is():
    loaded = tiny.loaded(VARIANTS["without residual"])
    past = skip_terms(loaded.model, capture(loaded, TEXT).residual)
    assert shares(past, sublayer_outputs(loaded, TEXT)).tolist() == [1.0] * 2 * loaded.config.n_layers


def test_the_sublayers_outputs_and_what_goes_past_them_make_the_stream(loaded):
    record, outputs = capture(loaded, TEXT), sublayer_outputs(loaded, TEXT)
    summed = skip_terms(loaded.model, record.residual) + outputs.reshape(-1, *outputs.shape[2:])
    if loaded.config.norm_placement != "pre":
        norms_of = [(block.norm_attention, block.norm_feed_forward) for block in loaded.model.blocks]
        with torch.inference_mode():
            pairs = zip(sum(norms_of, ()), torch.from_numpy(summed), strict=True)
            summed = torch.stack([norm(state) for norm, state in pairs])
    np.testing.assert_allclose(summed, record.residual[1:], atol=1e-5)


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
