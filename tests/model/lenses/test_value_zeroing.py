import math

import numpy as np
import pytest

from model.capture import activations, capture
from model.capture.intervention import MaskChoice, masked, without_keys
from model.hooks import watch
from model.lenses import VALUE_ZEROING, through
from model.lenses import value_zeroing as module
from model.lenses.rollout import record_of_rolled_out_maps
from model.lenses.value_zeroing import (
    changes_in_layer,
    changes_of_layers,
    steps,
    zeroing_record,
)
from tests.model import tiny
from tests.model.lenses.lens_encoders import IMPORTED, OF_OTHER_PARTS, PLACEMENTS, TEXT, by_hand, read_by


def cosine(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_pre_ln_by_hand():
    loaded, record = by_hand("pre")
    # The feed-forward is nothing: of (1.75, 2.5) one takes ¼ (3, 4) or ¾ (0, 2), of (1.5, 4) the halves.
    expected = [
        [1 - cosine((1.75, 2.5), (1, 1.5)), 1 - cosine((1.75, 2.5), (1.75, 1))],
        [1 - cosine((1.5, 4), (0, 2)), 1 - cosine((1.5, 4), (1.5, 3))],
    ]
    np.testing.assert_allclose(changes_in_layer(loaded.model, record, 0), expected, rtol=1e-4)


def test_post_ln_by_hand():
    loaded, record = by_hand("post")
    # In two dimensions a LayerNorm leaves (−1, 1) or (1, −1): what is left out turns it round, or does nothing.
    expected = [[0, 2], [0, 0]]  # (1, 1.5), (1.75, 1); (0, 2), (1.5, 3)
    np.testing.assert_allclose(changes_in_layer(loaded.model, record, 0), expected, atol=1e-6)
    np.testing.assert_allclose(
        zeroing_record(record, np.array([[[0.0, 2], [0, 0]]])).pattern[0, 0], [[0, 1], [0, 0]]
    )


def layer_norm(x, norm):
    gamma, beta = (array.detach().numpy().astype(float) for array in (norm.weight, norm.bias))
    return gamma * (x - x.mean()) / math.sqrt(x.var() + norm.eps) + beta


def block_by_definition(block, x, heads, pattern, v, i):
    """What leaves the block at position i, from its input and the values; scalar by scalar where that is short."""
    z = np.concatenate([pattern[head, i] @ v[head] for head in range(heads)])
    w_o, b_o, w_1, b_1, w_2, b_2 = (
        array.detach().numpy().astype(float)
        for part in (block.attention.w_o, block.feed_forward.expand, block.feed_forward.contract)
        for array in (part.weight, part.bias)
    )

    def feed(state):
        hidden = w_1 @ state + b_1
        return w_2 @ np.array([h * (1 + math.erf(h / math.sqrt(2))) / 2 for h in hidden]) + b_2

    u = x[i] + w_o @ z + b_o
    if block.norm_placement == "pre":
        return u + feed(layer_norm(u, block.norm_feed_forward))
    mid = layer_norm(u, block.norm_attention)
    return layer_norm(mid + feed(mid), block.norm_feed_forward)


@pytest.mark.parametrize("name", ["pre", "post"])
def test_as_the_paper_defines_it(name, tmp_path):
    loaded, model_input = read_by(name, tmp_path)
    record, n = capture(loaded, model_input), 5
    for layer, block in enumerate(loaded.model.blocks):
        x, pattern, v = (
            array.astype(float)
            for array in (record.residual[2 * layer], record.pattern[layer], record.v[layer])
        )
        expected = np.zeros((n, n))
        for i in range(n):
            whole = block_by_definition(block, x, 2, pattern, v, i)
            for j in range(n):
                without = v.copy()
                without[:, j] = 0
                expected[i, j] = 1 - cosine(whole, block_by_definition(block, x, 2, pattern, without, i))
        np.testing.assert_allclose(
            changes_in_layer(loaded.model, record, layer), expected, rtol=1e-3, atol=1e-9
        )


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", [*PLACEMENTS, *IMPORTED, *OF_OTHER_PARTS])
def test_as_the_encoder_does_without_the_value(name, tmp_path):
    """The whole forward anew for each position and layer, the value taken out by a watcher."""
    loaded, model_input = read_by(name, tmp_path)
    record = capture(loaded, model_input)
    result = changes_of_layers(loaded.model, record)
    for layer in range(loaded.config.n_layers):
        leaving = f"blocks.{layer}.resid_post"
        before = activations(loaded, [model_input], [leaving])[leaving][0].numpy()
        for j in range(len(record)):
            without = tiny.changed_at((0, slice(None), j), 0)
            with watch(loaded.model, {f"blocks.{layer}.attention.v": without}):
                after = activations(loaded, [model_input], [leaving])[leaving][0].numpy()
            # 1 − cos as half the square of the chord: of float32 states near each other it keeps its digits
            one, other = (
                array.astype(float) / np.linalg.norm(array.astype(float), axis=1, keepdims=True)
                for array in (before, after)
            )
            expected = ((one - other) ** 2).sum(axis=1) / 2
            np.testing.assert_allclose(result[layer, :, j], expected, rtol=2e-3, atol=1e-11)


@pytest.mark.parametrize("name", ["pre", "post"])
def test_rows_sum_to_1_and_are_rolled_out_without_i(name, tmp_path):
    loaded, model_input = read_by(name, tmp_path)
    one = through(VALUE_ZEROING, loaded, model_input)
    np.testing.assert_allclose(one.pattern.sum(axis=-1), 1, rtol=1e-5)
    both = record_of_rolled_out_maps(one).pattern
    np.testing.assert_allclose(both[0], one.pattern[0], rtol=1e-6)
    np.testing.assert_allclose(both[1, 0], one.pattern[1, 0] @ one.pattern[0, 0], rtol=1e-4)


def test_in_parts_as_at_once(tmp_path, monkeypatch):
    loaded, model_input = read_by("post", tmp_path)
    at_once = through(VALUE_ZEROING, loaded, model_input).pattern
    monkeypatch.setattr(module, "NUMBERS_AT_ONCE", 1)
    np.testing.assert_allclose(through(VALUE_ZEROING, loaded, model_input).pattern, at_once, **tiny.CLOSE)


def test_in_steps_as_at_once(tmp_path, monkeypatch):
    loaded, model_input = read_by("post", tmp_path)
    record = capture(loaded, model_input)
    monkeypatch.setattr(module, "MULTIPLICATIONS_A_STEP", 2 * 5 * 8 * 16)
    parts = steps(loaded.config, 5)
    assert parts == [(layer, keys) for layer in (0, 1) for keys in (range(2), range(2, 4), range(4, 5))]
    result = [changes_in_layer(loaded.model, record, *part) for part in parts]
    for layer, expected in enumerate(changes_of_layers(loaded.model, record)):
        in_parts = np.concatenate(result[3 * layer : 3 * layer + 3], axis=1)
        np.testing.assert_allclose(in_parts, expected, rtol=1e-3, atol=1e-11)


@pytest.mark.parametrize("name", ["pre", "post"])
def test_what_is_masked_is_zero(name, tmp_path):
    loaded, _ = read_by(name, tmp_path)
    padded = capture(loaded, TEXT, masked(MaskChoice(kind="padding", n_padding=2)))
    result = zeroing_record(padded, changes_of_layers(loaded.model, padded))
    assert not result.pattern[..., -2:].any()
    assert not record_of_rolled_out_maps(result).pattern[..., :-2, -2:].any()
    alone = through(VALUE_ZEROING, loaded, TEXT).pattern
    np.testing.assert_allclose(result.pattern[..., :-2, :-2], alone, rtol=1e-2, atol=1e-5)
    blind = capture(loaded, TEXT, without_keys(*range(5)))
    assert not zeroing_record(blind, changes_of_layers(loaded.model, blind)).pattern.any()
