from importlib import import_module

import numpy as np
import pytest

from model.capture import activations, capture
from model.capture.intervention import MaskChoice, masked
from model.lenses.alti import alti, closeness_in_layer
from model.lenses.rollout import roll_out
from tests.model import tiny
from tests.model.lenses.lens_encoders import IMPORTED, PLACEMENTS, TEXT, by_hand, read_by


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


def by_definition(model, record, layer):
    """The contributions [query, key], vector by vector in numpy."""
    block, n, d_v = model.blocks[layer], len(record), record.v.shape[-1]
    w_o, b_o = (
        parameter.detach().numpy().astype(float)
        for parameter in (block.attention.w_o.weight, block.attention.w_o.bias)
    )
    norm = block.norm_attention
    gamma, beta = (parameter.detach().numpy().astype(float) for parameter in (norm.weight, norm.bias))
    result = np.zeros((n, n))
    for i in range(n):
        terms = []
        for j in range(n):
            term = np.zeros(len(w_o))
            for head, v in enumerate(record.v[layer].astype(float)):
                term += record.pattern[layer, head, i, j] * w_o[:, head * d_v : (head + 1) * d_v] @ v[j]
            terms.append(term)
        terms[i] = terms[i] + block.skip * record.residual[2 * layer][i]
        y = sum(terms) + b_o
        if block.norm_placement != "pre":
            sigma = np.sqrt(np.var(y) + norm.eps)
            y = gamma * (y - y.mean()) / sigma + beta
            terms = [gamma * (term - term.mean()) / sigma for term in terms]
        for j, term in enumerate(terms):
            result[i, j] = max(0, np.abs(y).sum() - np.abs(y - term).sum())
    return result / result.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", [*PLACEMENTS, *IMPORTED])
def test_as_the_paper_defines_it(name, tmp_path):
    loaded, given = read_by(name, tmp_path)
    record = capture(loaded, given)
    shares = alti(loaded.model, record).pattern
    for layer in range(loaded.config.n_layers):
        np.testing.assert_allclose(
            shares[layer, 0], by_definition(loaded.model, record, layer), rtol=1e-3, atol=1e-4
        )


def test_a_few_queries_at_a_time_give_the_same(monkeypatch):
    loaded = tiny.loaded(tiny.TEXT)
    record = capture(loaded, TEXT)
    expected = alti(loaded.model, record).pattern
    monkeypatch.setattr(
        import_module("model.lenses.alti"), "NUMBERS_AT_ONCE", 2 * len(record) * loaded.config.d_model
    )
    np.testing.assert_allclose(alti(loaded.model, record).pattern, expected, rtol=1e-6)


def test_rolled_out_the_maps_are_multiplied_later_layers_on_the_left():
    loaded = tiny.loaded(tiny.TEXT)
    by_layer = alti(loaded.model, capture(loaded, TEXT))
    first, second = by_layer.pattern[:, 0].astype(float)
    np.testing.assert_allclose(roll_out(by_layer).pattern[:, 0], [first, second @ first], rtol=1e-5)


def test_a_masked_key_brings_nothing():
    loaded = tiny.loaded(tiny.TEXT)
    record = capture(loaded, TEXT, masked(MaskChoice(kind="causal")))
    shares = alti(loaded.model, record).pattern
    assert not shares[:, 0][:, ~np.tri(len(record), dtype=bool)].any()
    np.testing.assert_allclose(shares[:, :, 0, 0], 1, rtol=1e-6)


@pytest.mark.parametrize("name", ["pre", "post"])
def test_the_state_is_the_one_behind_the_attention(name, tmp_path):
    loaded, given = read_by(name, tmp_path)
    (seen,) = activations(loaded, [given], ["blocks.1.resid_mid"]).values()
    np.testing.assert_allclose(capture(loaded, given).residual[3], seen[0], **tiny.CLOSE)
