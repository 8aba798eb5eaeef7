from importlib import import_module

import numpy as np
import pytest
import torch

from model.capture import activations, capture
from model.capture.intervention import MaskChoice, masked, without_keys
from model.hooks import watch
from model.lenses.norms import (
    alti,
    closeness_in_layer,
    mixing_ratio,
    norm_weighted,
    summed_norms_by_head,
    transformed_values,
    unpadded_positions,
    vector_norms,
    vector_norms_with_residual,
    with_residual_and_norm,
)
from model.loaded import Loaded
from tests.model import tiny
from tests.model.huggingface.folders import SENTENCE
from tests.model.lenses.lens_encoders import IMPORTED, OF_OTHER_PARTS, PLACEMENTS, TEXT, by_hand, read_by


def test_norm_weighted_by_hand():
    loaded, record = by_hand()
    expected = np.array([[0.25 * 5, 0.75 * 2], [0.5 * 5, 0.5 * 2]])
    np.testing.assert_allclose(vector_norms(loaded.model, record)[0, 0], expected, rtol=1e-6)
    shares = [[1.25 / 2.75, 1.5 / 2.75], [2.5 / 3.5, 1 / 3.5]]
    np.testing.assert_allclose(norm_weighted(loaded.model, record).pattern[0, 0], shares, rtol=1e-6)
    np.testing.assert_allclose(summed_norms_by_head(loaded.model, record), [[(2.75 + 3.5) / 2]])


def test_pre_ln_with_residual_by_hand():
    loaded, record = by_hand("pre")
    kept = np.hypot(1.75, 1)  # ¼ (3, 4) + (1, 0)
    result = vector_norms_with_residual(loaded.model, record)[0, 0]
    np.testing.assert_allclose(result, [[kept, 1.5], [2.5, 2]], rtol=1e-6)
    ratio = mixing_ratio(loaded.model, record)
    np.testing.assert_allclose(ratio, [[1.5 / (1.5 + kept), 2.5 / 4.5]], rtol=1e-6)


def test_post_ln_with_residual_by_hand():
    loaded, record = by_hand("post")
    # A vector (a, b) without its mean is |a − b| / √2 long; σ of (1.75, 2.5) is 0.375, of (1.5, 4) 1.25.
    expected = np.array([[0.75 / 0.375, 1.5 / 0.375], [0.5 / 1.25, 2 / 1.25]]) / np.sqrt(2)
    np.testing.assert_allclose(vector_norms_with_residual(loaded.model, record)[0, 0], expected, rtol=1e-5)
    shares = with_residual_and_norm(loaded.model, record).pattern[0, 0]
    np.testing.assert_allclose(shares, [[1 / 3, 2 / 3], [0.2, 0.8]], rtol=1e-5)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", [*PLACEMENTS, *IMPORTED])
def test_the_terms_add_up_to_what_the_attention_hands_over(name, tmp_path):
    loaded, model_input = read_by(name, tmp_path)
    record = capture(loaded, model_input)
    names = [f"blocks.{layer}.attention_out" for layer in range(loaded.config.n_layers)]
    seen = activations(loaded, [model_input], names)
    for layer, block in enumerate(loaded.model.blocks):
        with torch.inference_mode():
            terms = transformed_values(block, torch.tensor(record.v[layer])).numpy()
            bias = block.attention.w_o.bias.numpy()
        total = np.einsum("hqk,khm->qm", record.pattern[layer], terms) + bias
        np.testing.assert_allclose(total, seen[names[layer]][0], **tiny.CLOSE)
        weighted = record.pattern[layer, :, :, :, None] * terms.transpose(1, 0, 2)[:, None]
        expected = np.linalg.norm(weighted, axis=-1)
        np.testing.assert_allclose(vector_norms(loaded.model, record)[layer], expected, **tiny.CLOSE)


def parameters(block):
    """Weight and bias of the output projection and of the LayerNorm behind the attention."""
    layers = block.attention.w_o, block.norm_attention
    return [value.detach().numpy().astype(float) for part in layers for value in (part.weight, part.bias)]


def terms_of(block, record, layer, i):
    """What each key and the residual connection add to the state of query `i`, vector by vector."""
    w_o, d_v = parameters(block)[0], record.v.shape[-1]
    terms = []
    for j in range(len(record)):
        term = np.zeros(len(w_o))
        for head, v in enumerate(record.v[layer].astype(float)):
            term += record.pattern[layer, head, i, j] * w_o[:, head * d_v : (head + 1) * d_v] @ v[j]
        terms.append(term)
    terms[i] = terms[i] + block.skip * record.residual[2 * layer][i]
    return terms


def by_definition(model, record, layer):
    """‖terms‖ [query, key] and the mixing ratio [query], vector by vector."""
    block, n = model.blocks[layer], len(record)
    _, b_o, gamma, _ = parameters(block)
    result, ratios = np.zeros((n, n)), np.zeros(n)
    for i in range(n):
        terms = terms_of(block, record, layer, i)
        if block.norm_placement != "pre":
            sigma = np.sqrt(np.var(sum(terms) + b_o) + block.norm_attention.eps)
            terms = [gamma * (term - term.mean()) / sigma for term in terms]
        result[i] = [np.linalg.norm(term) for term in terms]
        others = np.linalg.norm(sum(terms[:i] + terms[i + 1 :]))
        ratios[i] = others / (others + result[i, i])
    return result, ratios


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", [*PLACEMENTS, *IMPORTED])
def test_as_the_papers_define_it(name, tmp_path):
    loaded, model_input = read_by(name, tmp_path)
    record = capture(loaded, model_input)
    result, ratios = vector_norms_with_residual(loaded.model, record), mixing_ratio(loaded.model, record)
    shares = with_residual_and_norm(loaded.model, record).pattern
    for layer in range(loaded.config.n_layers):
        expected, ratio = by_definition(loaded.model, record, layer)
        np.testing.assert_allclose(result[layer, 0], expected, **tiny.CLOSE)
        np.testing.assert_allclose(ratios[layer], ratio, **tiny.CLOSE)
        np.testing.assert_allclose(
            shares[layer, 0], expected / expected.sum(axis=1, keepdims=True), **tiny.CLOSE
        )


@pytest.mark.parametrize("name", ["pre", "post"])
def test_what_is_masked_is_zero(name, tmp_path):
    loaded, _ = read_by(name, tmp_path)
    padded = capture(loaded, TEXT, masked(MaskChoice(kind="padding", n_padding=2)))
    for lens in (norm_weighted, with_residual_and_norm):
        result = lens(loaded.model, padded).pattern
        assert not result[..., : len(padded) - 2, -2:].any()
        alone = lens(loaded.model, capture(loaded, TEXT)).pattern
        assert unpadded_positions(padded) == list(range(len(padded) - 2))
        np.testing.assert_allclose(result[..., :-2, :-2], alone, **tiny.CLOSE)
    blind = capture(loaded, TEXT, without_keys(*range(5)))
    assert not norm_weighted(loaded.model, blind).pattern.any()
    itself = with_residual_and_norm(loaded.model, blind).pattern
    np.testing.assert_allclose(itself, np.broadcast_to(np.eye(5), itself.shape))
    assert not mixing_ratio(loaded.model, blind).any()


def test_a_state_of_nothing_is_made_of_itself(tmp_path):
    loaded, _ = read_by("pre without residual", tmp_path)
    blind = capture(loaded, TEXT, without_keys(*range(5)))
    assert not with_residual_and_norm(loaded.model, blind).pattern.any()
    assert not mixing_ratio(loaded.model, blind).any()


def test_pre_ln_by_hand():
    """y = (1.75, 2.5) and (1.5, 4), 4.25 and 5.5 long in l1.

    Of query 0 its own vector is (1.75, 1), 1.5 away, and that of key 1 (0, 1.5), 2.75 away; of query 1 that of key 0 is
    (1.5, 2), 2 away, and its own (0, 2), 3.5 away.
    """
    loaded, record = by_hand("pre")
    expected = [[4.25 - 1.5, 4.25 - 2.75], [5.5 - 2, 5.5 - 3.5]]
    np.testing.assert_allclose(closeness_in_layer(loaded.model, record, 0), expected, rtol=1e-6)
    shares = alti(loaded.model, record).pattern[0, 0]
    np.testing.assert_allclose(shares, [[2.75 / 4.25, 1.5 / 4.25], [3.5 / 5.5, 2 / 5.5]], rtol=1e-6)


def test_post_ln_by_hand():
    """Behind the LayerNorm y = (-1, 1) twice. Of query 0 its own vector, (1.75, 1), becomes (1, -1), which points away from y
    and counts for nothing, and that of key 1, (0, 1.5), becomes (-2, 2), no nearer than zero either.

    Of query 1, (1.5, 2) becomes (-0.2, 0.2) and (0, 2) becomes (-0.8, 0.8).
    """
    loaded, record = by_hand("post")
    expected = [[0, 0], [0.4, 1.6]]
    np.testing.assert_allclose(closeness_in_layer(loaded.model, record, 0), expected, atol=1e-5)
    np.testing.assert_allclose(alti(loaded.model, record).pattern[0, 0], [[0, 0], [0.2, 0.8]], atol=1e-5)


def alti_by_definition(model, record, layer):
    """The contributions [query, key], vector by vector in numpy."""
    block, n = model.blocks[layer], len(record)
    _, b_o, gamma, beta = parameters(block)
    result = np.zeros((n, n))
    for i in range(n):
        terms = terms_of(block, record, layer, i)
        y = sum(terms) + b_o
        if block.norm_placement != "pre":
            sigma = np.sqrt(np.var(y) + block.norm_attention.eps)
            y = gamma * (y - y.mean()) / sigma + beta
            terms = [gamma * (term - term.mean()) / sigma for term in terms]
        for j, term in enumerate(terms):
            result[i, j] = max(0, np.abs(y).sum() - np.abs(y - term).sum())
    return result / result.sum(axis=1, keepdims=True)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", [*PLACEMENTS, *IMPORTED])
def test_as_the_paper_defines_it(name, tmp_path):
    loaded, model_input = read_by(name, tmp_path)
    record = capture(loaded, model_input)
    shares = alti(loaded.model, record).pattern
    for layer in range(loaded.config.n_layers):
        np.testing.assert_allclose(
            shares[layer, 0], alti_by_definition(loaded.model, record, layer), rtol=1e-3, atol=1e-4
        )


def test_a_few_queries_at_a_time_give_the_same(monkeypatch):
    loaded = tiny.loaded(tiny.TEXT)
    record = capture(loaded, TEXT)
    expected = alti(loaded.model, record).pattern
    monkeypatch.setattr(
        import_module("model.lenses.norms"), "NUMBERS_AT_ONCE", 2 * len(record) * loaded.config.d_model
    )
    np.testing.assert_allclose(alti(loaded.model, record).pattern, expected, rtol=1e-6)


def test_a_masked_key_brings_nothing():
    loaded = tiny.loaded(tiny.TEXT)
    record = capture(loaded, TEXT, masked(MaskChoice(kind="causal")))
    shares = alti(loaded.model, record).pattern
    assert not shares[:, 0][:, ~np.tri(len(record), dtype=bool)].any()
    np.testing.assert_allclose(shares[:, :, 0, 0], 1, rtol=1e-6)


def with_values(loaded: Loaded, layer: int, factors: torch.Tensor, name: str) -> np.ndarray:
    """An activation of the block, with each position's values multiplied by its factor."""
    point = f"blocks.{layer}.attention.v"
    with watch(loaded.model, {point: lambda v: v * factors[:, None]}):
        (values,) = activations(loaded, [SENTENCE], [f"blocks.{layer}.{name}"]).values()
    return values[0].numpy().astype(float)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", [name for name in OF_OTHER_PARTS if name != "DebertaV2Model"])
def test_in_blocks_of_other_parts_contributions_are_what_one_value_adds(name, tmp_path):
    """Against the same encoders with values that are really zeroed at their hook point."""
    loaded, model_input = read_by(name, tmp_path)
    record = capture(loaded, model_input)
    norms = vector_norms_with_residual(loaded.model, record)
    layer = 1
    nothing = with_values(loaded, layer, torch.zeros(len(record)), "attention_out")
    for key in range(len(record)):
        factors = torch.zeros(len(record))
        factors[key] = 1
        terms = with_values(loaded, layer, factors, "attention_out") - nothing
        terms[key] += record.residual[2 * layer, key]
        np.testing.assert_allclose(norms[layer, 0, :, key], np.linalg.norm(terms, axis=1), atol=1e-5)
