"""`model.capture.activations`; records are in `test_capture.py`."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.capture import BY_LAYER, activations, capture
from model.hooks import hook_points, watch
from model.inputs import prepare
from tests.model import tiny
from tests.model.tiny import CLOSE, TEXT, encoders


@encoders
def test_every_activation_of_a_batch_is_that_of_its_inputs(loaded, given_input):
    encoder, model_input = loaded, [given_input] * 2
    names = list(hook_points(encoder.model))
    seen = activations(encoder, model_input, names)
    assert list(seen) == names
    record = capture(encoder, model_input[0])
    for layer in range(encoder.config.n_layers):
        for name in BY_LAYER:
            both = seen[f"blocks.{layer}.attention.{name}"]
            np.testing.assert_allclose(both, [getattr(record, name)[layer]] * 2, **CLOSE)
    np.testing.assert_allclose(seen["logits"], [record.logits] * 2, **CLOSE)
    assert all(len(values) == 2 for values in seen.values())


@encoders
def test_watching_everything_leaves_the_logits_as_they_are(loaded, given_input):
    encoder = loaded
    inputs, _ = prepare(encoder, given_input)
    with torch.inference_mode():
        plain = encoder.model(inputs)
    seen = activations(encoder, [given_input], list(hook_points(encoder.model)))
    assert torch.equal(seen["logits"], plain)
    np.testing.assert_array_equal(capture(encoder, given_input).logits, plain[0])


def test_shorter_texts_are_padded_and_what_they_say_stays(text_loaded):
    texts = ["great film", "not", "a film not great"]
    seen = activations(text_loaded, texts, ["blocks.1.attention.pattern", "logits"])
    for text, pattern, logits in zip(texts, *seen.values(), strict=True):
        record = capture(text_loaded, text)
        n = len(record.tokens)
        np.testing.assert_allclose(pattern[:, :n, :n], record.pattern[1], **CLOSE)
        assert not pattern[:, :, n:].any()
        np.testing.assert_allclose(logits, record.logits, **CLOSE)


def test_texts_of_different_lengths_need_an_encoder_with_padding():
    encoder = tiny.loaded(replace(TEXT, padding_id=None))
    assert activations(encoder, ["great film", "not great"], ["logits"])["logits"].shape == (2, 2)
    with pytest.raises(ValueError, match="tiny knows no padding"):
        activations(encoder, ["great film", "not"], ["logits"])


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_gradients_are_those_of_a_forward_written_out(placement):
    """One layer, one text; the pattern and the scores are leaves of a forward in plain torch."""
    encoder = tiny.loaded(replace(TEXT, n_layers=1, norm_placement=placement, final_norm=placement == "pre"))
    prefix, names = "blocks.0.attention", ("q", "k", "v", "scores", "pattern", "z")
    seen = activations(
        encoder, ["great film"], [*(f"{prefix}.{name}" for name in names), "logits"], gradients=True
    )
    *result, logits = seen.values()
    gradients = torch.autograd.grad(logits[0, 1] - logits[0, 0], result)
    assert torch.equal(logits.detach(), encoder.model(prepare(encoder, "great film")[0]))

    model, block = encoder.model, encoder.model.blocks[0]
    x = model.embedding(prepare(encoder, "great film")[0])
    model_input = block.norm_attention(x) if placement == "pre" else x
    heads = [
        torch.stack(w(model_input).chunk(2, dim=-1), dim=1)
        for w in (block.attention.w_q, block.attention.w_k, block.attention.w_v)
    ]
    scores = heads[0] @ heads[1].mT / math.sqrt(TEXT.d_k)
    exponentials = scores.exp()
    pattern = exponentials / exponentials.sum(dim=-1, keepdim=True)
    z = pattern @ heads[2]
    out = block.attention.w_o(torch.cat(tuple(z.unbind(dim=1)), dim=-1))
    if placement == "pre":
        x = x + out
        x = model.final_norm(x + block.feed_forward(block.norm_feed_forward(x)))
    else:
        x = block.norm_attention(x + out)
        x = block.norm_feed_forward(x + block.feed_forward(x))
    logits = model.classifier(x[:, 0])
    expected = torch.autograd.grad(logits[0, 1] - logits[0, 0], [*heads, scores, pattern, z])
    for name, ours, theirs in zip(names, gradients, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, err_msg=name, **CLOSE)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_what_is_not_trained_has_a_gradient_too(text_loaded):
    seen = activations(
        text_loaded, ["great film"], ["embedding.positions", "embedding.output", "logits"], gradients=True
    )
    positions, output = torch.autograd.grad(
        seen["logits"][0, 1], [seen["embedding.positions"], seen["embedding.output"]]
    )
    assert positions.any()
    np.testing.assert_allclose(
        positions, output, **CLOSE
    )  # they are added, and this encoder has no norm there


def test_without_gradients_nothing_is_kept_for_them(text_loaded):
    assert not activations(text_loaded, ["film"], ["logits"])["logits"].requires_grad


def test_an_unknown_name_is_refused(text_loaded):
    with pytest.raises(KeyError, match="no hook point"):
        activations(text_loaded, ["film"], ["blocks.7"])


def test_a_watch_around_a_capture_may_name_points_that_it_does_not_keep(text_loaded):
    seen = []
    with watch(text_loaded.model, {"blocks.1.feed_forward.hidden": seen.append}):
        capture(text_loaded, "great film")
    assert len(seen) == 1
