import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.capture import capture
from model.capture.intervention import (
    Intervention,
    MaskChoice,
    at_temperature,
    masked,
    repositioned,
    without_keys,
)
from model.capture.replacements import Zeroed
from model.experiments import batching
from model.experiments.ablation import ablate_heads
from model.experiments.batching import batch_size
from model.experiments.probabilities import probabilities
from model.experiments.residual_stream import residual_stream, sublayer_outputs
from model.hooks import hook_points, watch
from model.inputs import prepare
from model.record import Role
from model.theory.permutation_equivariance import shuffled_order
from tests.model import tiny
from tests.model.tiny import CLOSE, encoders

TEXT = "not great film"  # five tokens, with [CLS] and [SEP]


def one_by_one(loaded, given_input, interventions) -> list[np.ndarray]:
    return [capture(loaded, given_input, intervention).probabilities for intervention in interventions]


def of_every_kind(roles: tuple[Role, ...]) -> list[Intervention]:
    """Not in the order of the layers in which they begin."""
    return [
        at_temperature(0.3, layer=1, head=0),
        without_keys(2),
        Intervention(),
        repositioned(shift=2),
        at_temperature(math.inf),
        masked(MaskChoice(kind="causal", layers=(1,), heads=(1,))),
        repositioned(order=shuffled_order(roles, 3), zeroed=True),
        masked(MaskChoice(kind="causal"), "zeroed"),
        at_temperature(0.0, layer=1),
        masked(MaskChoice(kind="cells", cells=((0, 1),)), "added", -3.0) + at_temperature(2.0, layer=0),
        Intervention(replacements=(("blocks.1.resid_mid", Zeroed()),)),
        Intervention(replacements=(("logits", Zeroed()),)),
    ]


@pytest.mark.rest_is_slow
@encoders
def test_many_interventions_are_those_of_single_forwards(loaded, given_input, monkeypatch):
    """In batches that share the layers before the first change; however few of them share a batch."""
    interventions = of_every_kind(capture(loaded, given_input).roles)
    expected = one_by_one(loaded, given_input, interventions[:-1])
    expected.append(np.full(loaded.config.n_classes, 1 / loaded.config.n_classes))
    for numbers in (batching.NUMBERS_AT_ONCE, 300, 1):
        monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", numbers)
        result = probabilities(loaded, [given_input], interventions)
        assert result.shape == (1, len(interventions), loaded.config.n_classes)
        np.testing.assert_allclose(result[0], expected, **CLOSE)


def test_many_texts_under_many_interventions(text_loaded, monkeypatch):
    texts = ["not great film", "film", "a b not", "great [PAD] film", "great film great film"]
    interventions = [without_keys(1), Intervention(), at_temperature(0.5, layer=1)]
    expected = [one_by_one(text_loaded, text, interventions) for text in texts]
    for numbers in (batching.NUMBERS_AT_ONCE, 2000, 1):
        monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", numbers)
        result = probabilities(text_loaded, texts, interventions)
        np.testing.assert_allclose(result, expected, **CLOSE)


def test_padding_is_appended_where_an_intervention_says_so(text_loaded):
    interventions = [
        masked(MaskChoice(kind="padding", n_padding=n), method)
        for n, method in ((2, "ignored"), (0, "encoder"), (3, "ignored"), (2, "encoder"), (2, "replaced"))
    ]
    result = probabilities(text_loaded, [TEXT], interventions)[0]
    np.testing.assert_allclose(result, one_by_one(text_loaded, TEXT, interventions), **CLOSE)


def test_the_layers_before_the_first_change_are_run_once(text_loaded):
    seen = {name: [] for name in hook_points(text_loaded.model)}
    keep = {name: lambda x, name=name: seen[name].append(len(x)) for name in seen}
    changes = [at_temperature(t, layer=1) for t in (0.0, 0.5, 2.0)]
    with watch(text_loaded.model, keep):
        probabilities(text_loaded, [TEXT], changes)
    assert seen["embedding.output"] == seen["blocks.0.resid_post"] == [1]
    assert seen["blocks.1.resid_post"] == seen["logits"] == [3]


def test_an_encoder_without_classes_answers_with_its_pooled_state():
    loaded = tiny.loaded(replace(tiny.TEXT, class_names=()))
    result = probabilities(loaded, [TEXT], [Intervention(), without_keys(1)])[0]
    with torch.inference_mode():
        state = loaded.model(prepare(loaded, TEXT)[0])[0]
    np.testing.assert_allclose(result[0], state, **CLOSE)
    assert np.abs(result[1] - result[0]).max() > 1e-4


def test_nothing_asked_is_nothing_answered(text_loaded):
    assert probabilities(text_loaded, [TEXT], []).shape == (1, 0, 2)
    assert probabilities(text_loaded, []).shape == (0, 1, 2)


@pytest.mark.parametrize(
    "experiment",
    [
        lambda loaded: probabilities(loaded, [TEXT], [without_keys(1)]),
        lambda loaded: ablate_heads(loaded, [TEXT]),
        lambda loaded: residual_stream(loaded, [TEXT]),
        lambda loaded: sublayer_outputs(loaded, TEXT),
    ],
    ids=["probabilities", "ablation", "residual stream", "outputs of sublayers"],
)
def test_a_model_in_training_is_measured_without_dropout_and_trained_on(experiment):
    loaded = tiny.loaded(replace(tiny.TEXT, dropout_sublayer=0.5))
    expected = experiment(loaded)
    loaded.model.train()
    np.testing.assert_array_equal(experiment(loaded), expected)
    assert loaded.model.training


def test_a_short_input_shares_its_batch_and_a_long_one_does_not():
    assert batch_size(tiny.small("mnist-pre-ln"), 50) >= 50
    assert batch_size(tiny.small("imdb-pre-ln"), 384) < 38
    assert batch_size(tiny.small("imdb-pre-ln"), 5000) == 1


# Keys that nobody looks at


@pytest.mark.parametrize(
    "config",
    [
        tiny.TEXT,
        replace(tiny.TEXT, norm_placement="post", final_norm=False),
        replace(tiny.TEXT, pooling="mean"),
    ],
)
def test_each_token_is_masked_out_of_the_keys_of_every_layer(config):
    loaded = tiny.loaded(config)
    inputs, _ = prepare(loaded, TEXT)
    result = probabilities(loaded, [TEXT], [without_keys(position) for position in range(5)])[0]
    for position in range(5):
        allowed = torch.ones(5, 5, dtype=torch.bool)
        allowed[:, position] = False
        with torch.inference_mode():
            expected = loaded.model(inputs, allowed).softmax(dim=-1)[0]
        np.testing.assert_allclose(result[position], expected, **CLOSE)
        assert not capture(loaded, TEXT, without_keys(position)).pattern[..., position].any()


def test_a_row_of_one_layer_by_hand():
    """The class token's state after attention, with the weights of the other keys made to sum to 1 again."""
    loaded = tiny.loaded(replace(tiny.TEXT, n_layers=1))
    record, block = capture(loaded, TEXT), loaded.model.blocks[0]
    weights = record.pattern[0, :, 0].copy()
    weights[:, 2] = 0
    weights /= weights.sum(axis=-1, keepdims=True)
    z = np.einsum("hk,hkd->hd", weights, record.v[0]).reshape(1, 1, -1)
    with torch.inference_mode():
        x = torch.tensor(record.residual[:1, :1]) + block.attention.w_o(torch.tensor(z))
        x = x + block.feed_forward(block.norm_feed_forward(x))
        by_hand = loaded.model.classifier(loaded.model.final_norm(x)).softmax(dim=-1)[0]
    np.testing.assert_allclose(probabilities(loaded, [TEXT], [without_keys(2)])[0], by_hand, **CLOSE)
