"""Longformer's weights between all positions, beside a softmax over all pairs whose other keys are masked."""

import numpy as np
import pytest
import torch
import transformers

from model.capture.from_transformers import from_transformers
from model.capture.sliding_window import between_positions
from tests.model.capture.test_from_transformers import SMALL, made, words
from tests.model.huggingface import folders

WINDOWS = [4, 8]
LONGFORMER = SMALL | {"intermediate_size": 40, "attention_window": WINDOWS, "max_position_embeddings": 30}


def test_columns_are_keys_around_the_query() -> None:
    weights = torch.tensor([[[0.0, 0.7, 0.3], [0.2, 0.3, 0.5], [0.6, 0.4, 0.0]]])  # before, itself, behind
    result = between_positions(weights, 2, None, torch.ones(3, dtype=torch.bool))
    by_hand = [[[0.7, 0.3, 0], [0.2, 0.3, 0.5], [0, 0.6, 0.4]]]
    np.testing.assert_allclose(result, by_hand)


def test_columns_of_another_window_are_refused() -> None:
    with pytest.raises(ValueError, match="3 columns of weights do not fit a window of 4"):
        between_positions(torch.ones(1, 5, 3), 4, None, torch.ones(5, dtype=torch.bool))


@pytest.mark.parametrize("n_read", [5, 10])
@pytest.mark.parametrize("global_positions", [[], [0], [0, 3, 4]])
def test_the_weights_are_those_of_a_softmax_over_the_window(global_positions: list[int], n_read: int) -> None:
    model = made("Longformer", **LONGFORMER).eval()
    given = dict(words()(folders.SENTENCE, return_tensors="pt"))
    given["attention_mask"][:, n_read:] = 0
    is_global = torch.zeros(10, dtype=torch.bool)
    is_global[global_positions] = True
    given["global_attention_mask"] = is_global[None].long()
    record = from_transformers(model, words(), given)
    with torch.no_grad():
        states = model(**given, output_hidden_states=True).hidden_states
    distance = (torch.arange(10)[:, None] - torch.arange(10)).abs()
    for layer, window in enumerate(WINDOWS):
        attention, state = model.encoder.layer[layer].attention.self, states[layer][0]

        def scores(query: torch.nn.Linear, key: torch.nn.Linear, state: torch.Tensor = state) -> torch.Tensor:
            q, k = (part(state).view(10, 4, 6).transpose(0, 1) for part in (query, key))
            return (q @ k.transpose(1, 2) / 6**0.5).masked_fill(torch.arange(10) >= n_read, -torch.inf)

        near = (distance <= window / 2) | is_global
        expected = scores(attention.query, attention.key).masked_fill(~near, -torch.inf).softmax(dim=-1)
        of_global = scores(attention.query_global, attention.key_global).softmax(dim=-1)
        expected[:, is_global] = of_global[:, is_global]
        np.testing.assert_allclose(
            record.pattern[layer][:, :n_read], expected[:, :n_read].detach(), atol=1e-6
        )
        assert not record.pattern[layer][:, n_read:].any()


def test_as_many_tokens_as_columns_are_not_taken_for_keys() -> None:
    model = made("Longformer", **LONGFORMER | {"attention_window": [4, 4]})
    record = from_transformers(model, words(), "film good")  # 4 tokens, and 5 columns with padding
    assert record.pattern.shape == (2, 4, 4, 4)
    record = from_transformers(model, words(), "film good film")  # 5 tokens, 5 columns
    outside = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) > 2
    assert not record.pattern[..., outside].any()
    np.testing.assert_array_equal(record.mask, np.broadcast_to(~outside, record.mask.shape))
    np.testing.assert_allclose(record.pattern.sum(axis=-1), 1, atol=1e-5)


def test_the_encoder_of_led_and_a_classifier_with_a_global_class_token() -> None:
    sizes = {
        "vocab_size": 40,
        "d_model": 24,
        "attention_window": [4, 4],
        "max_encoder_position_embeddings": 30,
    }
    for part in ("encoder", "decoder"):
        sizes |= {f"{part}_layers": 2, f"{part}_attention_heads": 4, f"{part}_ffn_dim": 40}
    record = from_transformers(made("LED", **sizes), words(), folders.SENTENCE)
    np.testing.assert_allclose(record.pattern.sum(axis=-1), 1, atol=1e-5)
    torch.manual_seed(0)
    classifier = transformers.LongformerForSequenceClassification(transformers.LongformerConfig(**LONGFORMER))
    record = from_transformers(classifier, words(), folders.SENTENCE)
    np.testing.assert_allclose(record.pattern.sum(axis=-1), 1, atol=1e-5)
    assert (record.pattern[..., 0, :] > 0).all()  # the class token sees all, and all see it
    assert (record.pattern[..., 0] > 0).all()
