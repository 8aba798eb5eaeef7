"""Cosines, principal components and lengths of patches' states, against numpy and scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from model.capture import capture
from model.record import ForwardRecord
from model.similarity.patch_similarity import (
    patch_colours,
    patch_colours_by_layer,
    patch_norms,
    patch_similarity,
)
from tests.model import tiny

GRID = replace(tiny.DIGIT, image_size=20, n_positions=26)  # 5 × 5 patches behind the class token


def record(states: np.ndarray | None = None, seed: int = 0) -> ForwardRecord:
    """Of 5 × 5 patches, with the `states` [layer, patch, d_model], by default of chance, behind its two layers."""
    image = np.random.default_rng(seed).integers(0, 256, (20, 20), dtype=np.uint8)
    made = capture(tiny.loaded(GRID), image)
    if states is None:
        states = np.random.default_rng(seed).normal(size=(2, 25, 8)) * np.arange(1, 9)
    residual = made.residual.copy()
    residual[2::2, 1:] = states
    return replace(made, residual=residual)


def test_cosines_are_those_of_the_states_behind_the_layer():
    first, second = record(), record(seed=1)
    for layer in (0, 1):
        states, others = (side.residual[2 + 2 * layer, 1:] for side in (first, second))
        np.testing.assert_allclose(patch_similarity(first, layer), cosine_similarity(states), atol=1e-6)
        np.testing.assert_allclose(
            patch_similarity(first, layer, second), cosine_similarity(states, others), atol=1e-6
        )


def test_pictures_of_different_grids_are_compared():
    other = capture(tiny.loaded(tiny.DIGIT), np.eye(8, dtype=np.uint8))
    assert patch_similarity(record(), 1, other).shape == (25, 4)


@pytest.mark.parametrize(
    "n_different", [25, 5]
)  # more patches than numbers of a state, and fewer different ones
def test_components_are_those_of_a_singular_value_decomposition(n_different):
    made = record()
    states = made.residual[2, 1:].astype(float)
    states[n_different:] = states[0]
    made = record(np.stack([states, states]))
    states = made.residual[2, 1:].astype(float)
    result = patch_colours(made, 1)
    centred = states - states.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    expected = (u * s)[:, :3]
    for component in expected.T:  # whose sign is arbitrary
        component *= np.sign(component[np.abs(component).argmax()])
    expected -= expected.min(axis=0)
    np.testing.assert_allclose(result.colours, expected / expected.max(axis=0), atol=1e-6)
    np.testing.assert_allclose(result.explained_variance, s[:3] ** 2 / (s**2).sum(), atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_colours_do_not_flip_from_one_layer_to_the_next(seed):
    """States of the second layer are those of the first in other directions: their components are the same."""
    random = np.random.default_rng(seed)
    states = random.normal(size=(25, 8)) * np.arange(1, 9) ** 2
    rotation, _ = np.linalg.qr(random.normal(size=(8, 8)))
    made = record(np.stack([states, states @ rotation]))
    np.testing.assert_allclose(patch_colours(made, 0).colours, patch_colours(made, 1).colours, atol=1e-4)


def test_colours_of_two_pictures_have_one_basis():
    """Its directions are those of the patches of both, in one singular value decomposition."""
    first, second = record(), record(seed=1)
    states = np.concatenate([side.residual[4, 1:] for side in (first, second)]).astype(float)
    result = patch_colours(first, 1, second)
    u, s, _ = np.linalg.svd(states - states.mean(axis=0), full_matrices=False)
    for component, colour in zip((u * s)[:, :3].T, result.colours.T, strict=True):
        span = (component - component.min()) / np.ptp(component)
        np.testing.assert_allclose(
            min(colour, 1 - colour, key=lambda c: abs(c - span).sum()), span, atol=1e-6
        )
    np.testing.assert_allclose(result.explained_variance, (s**2 / (s**2).sum())[:3], atol=1e-6)
    alike = patch_colours(first, 1, first).colours
    np.testing.assert_allclose(alike[:25], alike[25:])
    by_layer = patch_colours_by_layer(first, second)
    np.testing.assert_array_equal(by_layer[1].colours, result.colours)
    assert len(by_layer) == 2


def test_one_patch_has_no_component():
    made = capture(tiny.loaded(replace(tiny.DIGIT, image_size=4, n_positions=2)), np.eye(4, dtype=np.uint8))
    result = patch_colours(made, 1)
    assert result.colours.tolist() == [[0, 0, 0]]
    assert not result.explained_variance.any()
    assert patch_norms(made, 1).outliers == ()
    np.testing.assert_allclose(patch_similarity(made, 1), [[1]], atol=1e-6)


def test_two_kinds_of_patches_have_two_colours():
    """Their states differ along one direction: what is left along others is rounding, and has no colour."""
    states = np.random.default_rng(0).normal(size=(2, 8)).astype(np.float32)[np.arange(25) % 2]
    result = patch_colours(record(np.stack([states, states])), 1)
    assert len(np.unique(result.colours.round(6), axis=0)) == 2
    np.testing.assert_allclose(result.explained_variance, [1, 0, 0], atol=1e-6)


def test_patches_that_are_all_alike_have_one_colour():
    result = patch_colours(record(np.ones((2, 25, 8))), 1)
    assert not result.colours.any()
    assert not result.explained_variance.any()


def test_outliers_are_above_the_median_by_six_median_deviations():
    lengths = np.full(25, 10.0)
    lengths[:10] = 9
    lengths[10:20] = 11  # the median is 10, and the median deviation 1
    lengths[[3, 24]] = 16, 16.5
    states = np.zeros((2, 25, 8))
    states[1, :, 0] = lengths
    result = patch_norms(record(states), 1)
    np.testing.assert_allclose(result.patches, lengths)
    assert (result.limit, result.outliers) == (16, (24,))
    assert not len(result.registers)
    assert patch_norms(record(np.ones((2, 25, 8))), 1).outliers == ()


def test_lengths_of_registers_stand_beside_those_of_patches():
    made = record()
    roles = ("class", "register", "register", *made.roles[3:])
    result = patch_norms(replace(made, roles=roles), 0)
    np.testing.assert_allclose(result.registers, np.linalg.norm(made.residual[2, 1:3], axis=1), rtol=1e-6)
    assert len(result.patches) == 23


def test_what_has_no_patches_and_no_such_layer_is_refused():
    text = capture(tiny.loaded(tiny.TEXT), "great film")
    for function in (patch_similarity, patch_colours, patch_norms):
        with pytest.raises(ValueError, match="the record is of a text, which has no patches"):
            function(text, 0)
        with pytest.raises(ValueError, match="the layers are 0 to 1, got 2"):
            function(record(), 2)
    other = capture(tiny.loaded(replace(tiny.DIGIT, d_model=6)), np.eye(8, dtype=np.uint8))
    with pytest.raises(ValueError, match="states of 8 and of 6 numbers cannot be compared"):
        patch_similarity(record(), 0, other)
