from dataclasses import replace

import numpy as np
import pytest
import torch

from model.capture import capture
from model.experiments.knock_out import in_chunks, knock_out
from model.inputs import prepare
from tests.model import tiny
from tests.tolerance import through

TEXT = "not great film"  # five tokens, with [CLS] and [SEP]


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
    found = knock_out(loaded, TEXT, range(5))
    for position in range(5):
        allowed = torch.ones(5, 5, dtype=torch.bool)
        allowed[:, position] = False
        record = capture(loaded, TEXT, mask=allowed)  # one at a time, by the mask of [query, key]
        assert not record.pattern[..., position].any()
        np.testing.assert_allclose(found[position], record.probabilities, atol=through(config))


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
    np.testing.assert_allclose(knock_out(loaded, TEXT, [2]), by_hand, atol=through(loaded.config))


def test_patches_are_knocked_out_as_tokens_are(image):
    loaded = tiny.loaded(tiny.DIGIT)
    found = knock_out(loaded, image, [1, 4])
    assert found.shape == (2, 10)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    inputs, _ = prepare(loaded, image)
    with torch.inference_mode():
        mask = torch.tensor([True, True, True, True, False]).expand(5, 5)
        expected = loaded.model(inputs, mask).softmax(dim=-1)[0]
    np.testing.assert_allclose(found[1], expected, atol=through(tiny.DIGIT))


def test_nothing_knocked_out_is_nothing_answered():
    assert knock_out(tiny.loaded(tiny.TEXT), TEXT, []).shape == (0, 2)


@pytest.mark.parametrize("n", [1, 2, 50, 384, 5000])
def test_the_chunks_are_all_positions_once(n):
    chunks = in_chunks(n)
    assert [position for chunk in chunks for position in chunk] == list(range(n))
    assert all(chunks)


def test_a_sentence_and_a_digit_are_one_chunk_and_a_long_text_is_several():
    assert len(in_chunks(50)) == 1
    assert len(in_chunks(384)) > 10


def test_a_model_in_training_is_looked_at_without_dropout_and_trained_on():
    loaded = tiny.loaded(replace(tiny.TEXT, dropout_sublayer=0.5))
    expected = knock_out(loaded, TEXT, range(5))
    loaded.model.train()
    np.testing.assert_array_equal(knock_out(loaded, TEXT, range(5)), expected)
    assert loaded.model.training
