"""Kinds of positions: splits against the encoder's own scores, biases and windows against loops over its tables."""

import math

import numpy as np
import pytest
import torch

from model.capture import activations, capture
from model.capture.intervention import repositioned
from model.experiments import position_kinds
from model.experiments.probabilities import probabilities
from model.huggingface.encoder import own_full_mask
from model.theory.permutation_equivariance import restore_order, shuffled_order
from tests.model import tiny
from tests.model.huggingface.folders import SENTENCE, encoder

HEAD = (1, 2)
ROTARY = ("ModernBertModel", "EsmModel", "NomicBertModel", "EuroBertModel")
BIASED = ("MPNetModel", "T5EncoderModel", "UMT5EncoderModel")
RELATIVE = (*ROTARY, "T5EncoderModel", "UMT5EncoderModel", "DebertaV2Model")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "kinds"),
    [
        ("BertModel", ("added",)),
        ("ModernBertModel", ("rotated", "windowed")),
        ("EsmModel", ("rotated",)),
        ("CLIPTextModel", ("added", "causal")),
        ("MPNetModel", ("added", "biased")),
        ("T5EncoderModel", ("biased",)),
        ("DebertaV2Model", ("disentangled",)),
        ("ViTModel", ("added",)),
    ],
)
def test_an_encoder_has_the_kinds_of_its_family(tmp_path, architecture, kinds):
    assert position_kinds.position_kinds(encoder(tmp_path, architecture)) == kinds


# Rotated


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", ROTARY)
def test_the_split_adds_up_to_the_score_of_the_encoder(tmp_path, architecture):
    loaded = encoder(tmp_path, architecture)
    record = capture(loaded, SENTENCE)
    for query, key in ((1, 6), (6, 1), (4, 4)):
        score = position_kinds.rotary_score(loaded, SENTENCE, HEAD, query, key)
        assert score.own_offset == key - query
        assert score.at_own_offset == pytest.approx(record.scores[HEAD][query, key], abs=1e-6)
        assert score.total[score.offsets == key - query] == pytest.approx(score.at_own_offset)


def test_the_score_at_other_offsets_is_that_of_moved_contents(tmp_path):
    loaded = encoder(tmp_path, "EsmModel")
    score = position_kinds.rotary_score(loaded, SENTENCE, HEAD, 2, 5)
    names = [f"blocks.1.attention.{name}.content" for name in "qk"]
    q, k = (values[0, 2].numpy() for values in activations(loaded, [SENTENCE], names).values())
    width = q.shape[1]
    frequencies = 10_000.0 ** (-np.arange(0, width, 2) / width)

    def turned(vector: np.ndarray, position: int) -> np.ndarray:
        first, second = vector[: width // 2], vector[width // 2 :]
        cos, sin = np.cos(frequencies * position), np.sin(frequencies * position)
        return np.concatenate((first * cos - second * sin, first * sin + second * cos))

    for offset in (-7, 0, 3, 20):
        expected = turned(q[2], 30) @ turned(k[5], 30 + offset) / math.sqrt(width)
        assert score.total[score.offsets == offset] == pytest.approx(expected, abs=1e-6)
    assert score.wavelengths == pytest.approx(2 * np.pi / frequencies, rel=1e-5)


def test_a_score_of_two_numbers_by_hand():
    # one pair with frequency π / 2 a position: (1, 0) and (1, 0) are at right angles one position apart
    score = position_kinds.RotaryScore(
        offsets=np.array([-1, 0, 1, 2]),
        own_offset=2,
        wavelengths=np.array([4.0]),
        by_pair=np.array([[0.0, 1.0, 0.0, -1.0]]),
        not_rotated=0.5,
    )
    assert score.total.tolist() == [0.5, 1.5, 0.5, -0.5]
    assert score.at_own_offset == -0.5


def test_groups_of_pairs_add_up_to_all(tmp_path):
    score = position_kinds.rotary_score(encoder(tmp_path, "EsmModel"), SENTENCE, HEAD, 2, 5)
    for n_groups, n_made in ((2, 2), (10, 3)):
        groups = score.in_groups(n_groups)
        assert len(groups) == n_made
        np.testing.assert_allclose(sum(groups.values()), score.total)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", ROTARY)
def test_a_pair_that_is_moved_along_keeps_its_score(tmp_path, architecture):
    loaded = encoder(tmp_path, architecture)
    own = capture(loaded, SENTENCE).scores[HEAD][6, 2]
    moved = position_kinds.moved_scores(loaded, SENTENCE, HEAD, 6, 2)
    assert moved.queries.tolist() == list(range(4, 40))
    assert (moved.queries - moved.keys == 4).all()
    np.testing.assert_allclose(moved.scores, own, atol=1e-5)
    assert moved.largest_difference == np.ptp(moved.scores)


# Biased


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", BIASED)
def test_the_bias_over_the_distance_is_what_the_encoder_adds(tmp_path, architecture):
    loaded = encoder(tmp_path, architecture)
    record = capture(loaded, SENTENCE)
    for layer in range(3):
        bias = position_kinds.distance_bias(loaded, layer)
        products = (
            record.q[layer] @ record.k[layer].swapaxes(-1, -2) / loaded.model.blocks[layer].attention.scale
        )
        added = record.scores[layer] - products
        for query in range(len(record)):
            for key in range(len(record)):
                at_offset = bias.by_head[:, bias.offsets == key - query][:, 0]
                np.testing.assert_allclose(added[:, query, key], at_offset, atol=1e-5)


def test_the_curve_goes_on_to_where_the_bias_stays_the_same(tmp_path):
    sizes = {"relative_attention_max_distance": 512, "relative_attention_num_buckets": 32}
    loaded = encoder(tmp_path, "T5EncoderModel", n_positions=400, **sizes)
    assert position_kinds.bias_shared_from(loaded.config) == 305
    bias = position_kinds.distance_bias(loaded, 0)
    assert (bias.offsets.min(), bias.offsets.max()) == (-305, 305)
    assert (bias.by_head[:, 0] != bias.by_head[:, 1]).all()


@pytest.mark.parametrize(
    ("architecture", "is_shared"), [("T5EncoderModel", True), ("UMT5EncoderModel", False)]
)
def test_layers_share_their_bias_or_have_their_own(tmp_path, architecture, is_shared):
    loaded = encoder(tmp_path, architecture)
    first, last = (position_kinds.distance_bias(loaded, layer).by_head for layer in (0, 2))
    assert position_kinds.is_bias_shared(loaded.config) == is_shared == np.array_equal(first, last)


# Windowed


def test_the_reach_of_windows_by_hand(tmp_path):
    # windows of 2 to each side in layers 1 and 2, everything in layer 0
    reach = position_kinds.reach(encoder(tmp_path, "ModernBertModel"))
    assert reach.half == 19
    assert reach.sees.tolist() == [[19, 19], [2, 2], [2, 2]]
    assert reach.holds.tolist() == [[19, 19]] * 3


def test_windows_alone_add_up(tmp_path):
    loaded = encoder(tmp_path, "ModernBertModel", layer_types=["sliding_attention"] * 3)
    reach = position_kinds.reach(loaded)
    assert reach.sees.tolist() == [[2, 2]] * 3
    assert reach.holds.tolist() == [[2, 2], [4, 4], [6, 6]]
    assert not position_kinds.is_everything_seen(loaded, 10).any()
    assert position_kinds.is_everything_seen(loaded, 3).all()


def test_windows_are_added_up_beyond_the_texts_that_are_measured(tmp_path):
    windows = {"local_attention": 800, "layer_types": ["sliding_attention"] * 3}
    loaded = encoder(tmp_path, "ModernBertModel", max_position_embeddings=2001, **windows)
    reach = position_kinds.reach(loaded)
    assert reach.half == (loaded.config.n_positions - 1) // 2 > 2 * 400
    assert reach.sees.tolist() == [[400, 400]] * 3
    assert reach.holds.tolist() == [[n, n] for n in (400, 800, min(1200, reach.half))]


@pytest.mark.parametrize(
    "layer_types", [["sliding_attention"] * 3, ["full_attention"] + ["sliding_attention"] * 2]
)
def test_the_reach_is_that_of_the_masks(tmp_path, layer_types):
    loaded = encoder(tmp_path, "ModernBertModel", layer_types=layer_types)
    reach, n = position_kinds.reach(loaded), 2 * 19 + 1
    masks = own_full_mask(loaded.config, n)[0, :, 0].numpy()
    reachable = np.eye(n, dtype=bool)
    for layer, mask in enumerate(masks):
        reachable = mask @ reachable
        for allowed, distances in ((mask, reach.sees[layer]), (reachable, reach.holds[layer])):
            positions = np.flatnonzero(allowed[19])
            assert [19 - positions.min(), positions.max() - 19] == distances.tolist()


def test_a_causal_mask_reaches_back_alone(tmp_path):
    reach = position_kinds.reach(encoder(tmp_path, "CLIPTextModel"))
    assert reach.sees.tolist() == reach.holds.tolist() == [[reach.half, 0]] * 3


def test_without_windows_everything_is_reached_at_once(tmp_path):
    reach = position_kinds.reach(encoder(tmp_path, "EsmModel"))
    assert reach.sees.tolist() == reach.holds.tolist() == [[19, 19]] * 3


# Disentangled


def test_terms_of_relative_positions_are_those_of_the_encoder(tmp_path):
    loaded = encoder(tmp_path, "DebertaV2Model")
    names = [f"blocks.1.attention.{name}" for name in position_kinds.MAPS]
    maps = [values[0, 2].numpy() for values in activations(loaded, [SENTENCE], names).values()]
    query, key = 3, 5
    terms = position_kinds.position_terms(loaded, SENTENCE, HEAD, query, key)
    assert terms.at_own_offset == pytest.approx(capture(loaded, SENTENCE).scores[HEAD][query, key], abs=1e-6)
    assert terms.content_to_content == pytest.approx(maps[0][query, key], abs=1e-6)
    assert terms.content_to_position is not None
    assert terms.position_to_content is not None
    for other in range(len(maps[0])):
        by_query = terms.content_to_position[terms.offsets == other - query]
        assert by_query == pytest.approx(maps[1][query, other], abs=1e-6)
        by_key = terms.position_to_content[terms.offsets == key - other]
        assert by_key == pytest.approx(maps[2][other, key], abs=1e-6)
    sizes = position_kinds.map_sizes(loaded, SENTENCE, 1)
    assert [sizes[name][2] for name in position_kinds.MAPS] == pytest.approx(
        [np.abs(values).mean() for values in maps]
    )


def test_a_term_that_an_encoder_lacks_is_none(tmp_path):
    loaded = encoder(tmp_path, "DebertaV2Model", pos_att_type=["c2p"])
    assert position_kinds.position_terms(loaded, SENTENCE, HEAD, 3, 5).position_to_content is None
    assert list(position_kinds.map_sizes(loaded, SENTENCE, 0)) == [
        "content_to_content",
        "content_to_position",
    ]


# Experiments


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", RELATIVE)
def test_a_shift_changes_nothing_where_distances_alone_count(tmp_path, architecture):
    loaded = encoder(tmp_path, architecture)
    before, after = (capture(loaded, SENTENCE, repositioned(shift=by)) for by in (0, 7))
    np.testing.assert_allclose(after.pattern, before.pattern, atol=1e-6)
    np.testing.assert_allclose(after.residual, before.residual, atol=1e-4)
    if loaded.config.family.parts.rotary is not None:
        assert np.abs(after.q - before.q).max() > 0.01  # they are rotated further


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", RELATIVE)
def test_without_positions_scores_are_products_of_contents(tmp_path, architecture):
    loaded = encoder(tmp_path, architecture)
    record = capture(loaded, SENTENCE, repositioned(zeroed=True))
    attention = loaded.model.blocks[0].attention
    states = torch.tensor(record.residual[0])
    if loaded.config.norm_placement == "pre":
        with torch.inference_mode():
            states = loaded.model.blocks[0].norm_attention(states)
    with torch.inference_mode():
        q, k = (linear(states).unflatten(-1, (4, -1)).numpy() for linear in (attention.w_q, attention.w_k))
    for head in range(4):
        for query in range(len(record)):
            for key in range(len(record)):
                expected = q[query, head] @ k[key, head] / attention.scale
                assert record.scores[0, head, query, key] == pytest.approx(expected, abs=1e-5)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", [name for name in RELATIVE if name != "ModernBertModel"])
def test_without_positions_the_order_does_not_count(tmp_path, architecture):
    loaded = encoder(tmp_path, architecture)
    before = capture(loaded, SENTENCE, repositioned(zeroed=True))
    order = shuffled_order(before.roles, 1)
    after = capture(loaded, SENTENCE, repositioned(order=order, zeroed=True))
    np.testing.assert_allclose(restore_order(after.pattern, order), before.pattern, atol=1e-6)
    with_positions = capture(loaded, SENTENCE, repositioned(order=order)).pattern
    assert np.abs(restore_order(with_positions, order) - capture(loaded, SENTENCE).pattern).max() > 1e-3


def test_windows_stay_without_positions(tmp_path):
    loaded = encoder(tmp_path, "ModernBertModel")
    without = capture(loaded, SENTENCE, repositioned(zeroed=True))
    np.testing.assert_array_equal(without.mask, capture(loaded, SENTENCE).mask)
    assert not without.mask.all()


def test_an_encoder_that_adds_vectors_has_nothing_else_to_change():
    loaded = tiny.loaded(tiny.TEXT)
    assert position_kinds.position_kinds(loaded) == ("added",)
    assert repositioned(shift=2).positions.replacements(loaded.config)[0][0] == "embedding.positions"
    assert len(repositioned(shift=2).positions.replacements(loaded.config)) == 1


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", [*RELATIVE, "MPNetModel"])
def test_changes_in_one_batch_are_those_of_each_alone(tmp_path, architecture):
    loaded = encoder(tmp_path, architecture)
    changes = [repositioned(), repositioned(shift=3), repositioned(zeroed=True), repositioned(shift=5)]
    together = probabilities(loaded, [SENTENCE], changes)[0]
    for answer, change in zip(together, changes, strict=True):
        np.testing.assert_allclose(answer, capture(loaded, SENTENCE, change).pooled, atol=1e-5)
    assert np.abs(together[2] - together[0]).max() > 1e-3


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", ["DINOv3ViTModel", "BeitModel"])
def test_patches_on_a_grid(tmp_path, architecture):
    loaded = encoder(tmp_path, architecture)
    picture = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    before, without, shifted = (
        capture(loaded, picture, change)
        for change in (repositioned(), repositioned(zeroed=True), repositioned(shift=2))
    )
    n_before, head = loaded.config.n_before_patches, (0, 1)
    order = [*range(n_before), *reversed(range(n_before, len(before)))]
    turned = capture(loaded, picture, repositioned(order=order, zeroed=True))
    np.testing.assert_allclose(restore_order(turned.pattern, order), without.pattern, atol=1e-5)
    assert np.abs(without.pattern - before.pattern).max() > 1e-3
    # scores of the first layer between patches stay when all are moved
    of_patches = np.s_[0, :, n_before:, n_before:]
    np.testing.assert_allclose(shifted.scores[of_patches], before.scores[of_patches], atol=1e-5)
    if architecture == "BeitModel":
        bias = position_kinds.grid_biases(loaded, 0)
        added = before.scores[0] - without.scores[0]
        for query in range(16):
            for key in range(16):
                down, right = key // 4 - query // 4, key % 4 - query % 4
                expected = bias.by_offset[:, down + 3, right + 3]
                np.testing.assert_allclose(added[:, 1 + query, 1 + key], expected, atol=1e-5)
        np.testing.assert_allclose(added[:, 0, 7], bias.of_class_token[:, 0], atol=1e-5)
        np.testing.assert_allclose(added[:, 7, 0], bias.of_class_token[:, 1], atol=1e-5)
        return
    query, key = n_before + 6, n_before + 8  # r1c2 and r2c0
    score = position_kinds.grid_score(loaded, picture, head, query, key)
    assert (score.by_row.own_offset, score.by_column.own_offset) == (1, -2)
    assert score.at_own_offset == pytest.approx(before.scores[head][query, key], abs=1e-5)
    assert score.total[3 + 1, 3 - 2] == pytest.approx(score.at_own_offset)
    moved = position_kinds.moved_scores(loaded, picture, head, query, key)
    assert len(moved.scores) == 6
    np.testing.assert_allclose(moved.scores, score.at_own_offset, atol=1e-5)
    with pytest.raises(ValueError, match="position 0 is no patch"):
        position_kinds.grid_score(loaded, picture, head, 0, key)
