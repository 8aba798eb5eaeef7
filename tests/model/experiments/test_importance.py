from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.capture import capture
from model.experiments import batching
from model.experiments.importance import importance
from model.hooks import watch
from model.inputs import prepare
from model.loaded import Loaded
from tests.model import tiny
from tests.model.experiments.known_heads import GIVEN_STREAM, silence, uniform_encoder
from tests.model.huggingface.folders import encoder
from tests.model.tiny import DIGIT, TEXT, encoders

SENTENCE = "not great film a b"
TEXTS = [SENTENCE, "film", "great [PAD] film", "a b c", "great film [PAD]"]


def by_differences(loaded: Loaded, given_input, label: int | None) -> np.ndarray:
    """|dL/ds| at s = 1 of each head's z times s, from the loss a little above and below, in float64.

    z times 1 + ε is z + ε z, so the slope in ε is zᵀ ∂L/∂z.
    """
    config, step = loaded.config, 1e-4
    double = in_double(loaded)
    result = np.zeros((config.n_layers, config.n_heads))

    def loss(layer: int, head: int, scale: float) -> float:
        def scaled(z: torch.Tensor) -> torch.Tensor:
            z = z.clone()
            z[:, head] *= scale
            return z

        with watch(double.model, {f"blocks.{layer}.attention.z": scaled}), torch.inference_mode():
            inputs = inputs_of(double, given_input)
            if not config.chooses_class:
                states = double.model.encode(inputs)
                return double.model.pool(states, inputs).norm().log().item()
            logits = double.model(inputs)[0]
            index = int(capture(loaded, given_input).logits.argmax()) if label is None else label
            return -logits.log_softmax(dim=-1)[index].item()

    for layer in range(config.n_layers):
        for head in range(config.n_heads):
            above, below = loss(layer, head, 1 + step), loss(layer, head, 1 - step)
            result[layer, head] = abs(above - below) / (2 * step)
    return result


def inputs_of(loaded: Loaded, given_input) -> torch.Tensor:
    inputs = prepare(loaded, given_input)[0]
    return inputs.double() if inputs.is_floating_point() else inputs


def in_double(loaded: Loaded) -> Loaded:
    return replace(loaded, model=deepcopy(loaded.model).double())


@encoders
@pytest.mark.parametrize("label", [None, 0, 1])
def test_it_is_the_slope_of_the_loss(loaded, given_input, label):
    result = importance(loaded, [given_input], None if label is None else [label])
    np.testing.assert_allclose(result[0], by_differences(loaded, given_input, label), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("architecture", ["BertModel", "MPNetModel", "AlbertForSequenceClassification"])
def test_imported_encoders(tmp_path, architecture):
    loaded = encoder(tmp_path, architecture)
    result = importance(loaded, [SENTENCE])
    np.testing.assert_allclose(result[0], by_differences(loaded, SENTENCE, None), rtol=1e-3, atol=1e-5)


def test_inputs_in_one_batch_do_not_mix(text_loaded, monkeypatch):
    labels = [0, 1, 1, 0, 1]
    alone = [importance(text_loaded, [text], [label])[0] for text, label in zip(TEXTS, labels, strict=True)]
    for numbers in (batching.NUMBERS_AT_ONCE, 1000, 1):
        monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", numbers)
        np.testing.assert_allclose(importance(text_loaded, TEXTS, labels), alone, rtol=1e-4, atol=1e-7)


def test_by_hand_with_two_tokens():
    """p = mean of the stream = x̄ + z_0 + z_1, logits p; L = −ln softmax(p)_0, whose slope in p is softmax(p) − (1, 0)."""
    loaded = uniform_encoder(n_heads=2)
    with watch(loaded.model, GIVEN_STREAM):
        result = importance(loaded, ["a b"], [0])[0, 0]
    # uniform attention: z_0 = 0.5 and z_1 = 1 at both tokens; p = (0.5, 1) + (0.5, 1) = (1, 2)
    second = 1 / (1 + np.exp(-1))  # softmax(1, 2)_1
    # ∂L/∂z at each of the two tokens is half the slope in p, so the sum over both is the whole of it
    np.testing.assert_allclose(result, [0.5 * second, 1.0 * second], rtol=1e-5)


@given(seed=st.integers(0, 1000), layer=st.integers(0, 1), head=st.integers(0, 1), picture=st.booleans())
def test_a_head_that_puts_out_nothing_has_none(seed, layer, head, picture):
    loaded = tiny.loaded(DIGIT if picture else TEXT, seed)
    inputs = np.random.default_rng(seed).integers(0, 256, (8, 8), dtype=np.uint8) if picture else SENTENCE
    silence(loaded, layer, head)
    result = importance(loaded, [inputs])[0]
    assert result[layer, head] == 0
    assert (np.delete(result.ravel(), layer * 2 + head) > 0).all()


def test_no_gradient_is_left_on_the_encoder(text_loaded):
    with torch.inference_mode():  # as inside a page that measures more
        importance(text_loaded, [SENTENCE])
    assert all(parameter.grad is None for parameter in text_loaded.model.parameters())


def test_labels_must_be_classes_one_an_input(text_loaded):
    with pytest.raises(ValueError, match=r"0 to 1, got \[2\]"):
        importance(text_loaded, [SENTENCE], [2])
    with pytest.raises(ValueError, match="2 inputs need as many labels, got 1"):
        importance(text_loaded, [SENTENCE, SENTENCE], [1])
    without = tiny.loaded(replace(TEXT, class_names=()))
    with pytest.raises(ValueError, match="does not choose"):
        importance(without, [SENTENCE], [0])
