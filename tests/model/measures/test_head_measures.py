import math

import jaxtyping
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from model.capture import capture
from model.measures.head_measures import (
    combine_heads,
    entropy,
    head_distance,
    head_summary,
    mean_distance,
    mean_entropy,
    odd_rows,
    position_distances,
    softmax_normaliser,
    weight_sums,
)
from model.record.from_arrays import from_arrays
from tests.tolerance import rounding

EVERYWHERE = np.ones((1, 3), bool)


def of_row(row: list[float], mask: np.ndarray = EVERYWHERE) -> float:
    return entropy(np.array([row], np.float32), mask)[0]


# By hand


@pytest.mark.parametrize(
    ("row", "by_hand"),
    [
        ([1, 0, 0], 0),
        ([1 / 3, 1 / 3, 1 / 3], 1),
        ([0.5, 0.5, 0], math.log(2) / math.log(3)),
        ([0.5, 0.25, 0.25], 1.5 * math.log(2) / math.log(3)),
        ([0, 0, 0], 0),
    ],
)
def test_entropy_by_hand(row, by_hand):
    assert of_row(row) == pytest.approx(by_hand, rel=rounding(12))


def test_the_mean_entropy_is_over_the_queries_of_each_head():
    pattern = np.array([[[1, 0], [0.5, 0.5]], [[1, 0], [0, 1]]], np.float32)
    np.testing.assert_allclose(mean_entropy(pattern, np.ones((2, 2, 2), bool)), [0.5, 0], rtol=rounding(12))


def test_the_normaliser_is_what_the_softmax_divides_by():
    scores = np.log([[3.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(softmax_normaliser(scores), [4, 2], rtol=1e-12)
    np.testing.assert_allclose(
        np.exp(scores) / softmax_normaliser(scores)[:, None], [[0.75, 0.25], [0.5, 0.5]]
    )


def test_the_largest_over_heads_is_of_each_cell():
    assert combine_heads(np.array([[[1, 0], [0.5, 0.5]], [[0.25, 0.75], [0, 1]]]), "maximum").tolist() == [
        [1, 0.75],
        [0.5, 1],
    ]


def test_heads_are_combined_in_one_of_two_ways(monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # types are checked in tests alone
    with pytest.raises(ValueError, match="'mean' or 'maximum', got 'max'"):
        combine_heads(np.ones((1, 2)), "max")


def test_the_summary_has_a_number_for_each_head_under_the_names_on_screen(digit_loaded, image):
    record = capture(digit_loaded, image)
    result = head_summary(record)
    assert list(result) == ["entropy", "mean distance (patches)"]
    rows = np.maximum(record.pattern[1, 0].astype(float), 1e-30)
    assert result["entropy"][1, 0] == pytest.approx(
        -(rows * np.log(rows)).sum(axis=1).mean() / math.log(5), rel=rounding(8 * 5)
    )
    np.testing.assert_array_equal(result["mean distance (patches)"], mean_distance(record.pattern, (2, 2)))


def test_the_mean_over_heads_counts_each_alike():
    assert combine_heads(np.array([[1, 0], [0.5, 0.5], [0, 1]], np.float32)).tolist() == [0.5, 0.5]


def test_entropy_counts_the_allowed_keys_alone():
    two = np.array([[True, True, False]])
    assert of_row([0.5, 0.5, 0], two) == pytest.approx(1, rel=rounding(12))


@pytest.mark.parametrize("mask", [[True, False, False], [False, False, False]])
def test_entropy_of_a_row_without_a_choice_is_zero(mask):
    row = [float(allowed) for allowed in mask]
    assert of_row(row, np.array([mask])) == 0


def test_what_leaks_to_masked_keys_is_no_choice_among_the_allowed():
    one = np.array([[True, False, False]])
    assert of_row([0.5, 0.25, 0.25], one) == 0


def test_entropy_of_a_sharp_row_is_not_minus_zero():
    assert not np.signbit(of_row([0, 1, 0]))


def test_distances_of_text_are_in_tokens():
    assert position_distances(3).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_distances_of_patches_are_euclidean_on_the_grid():
    # 0 1
    # 2 3
    diagonal = math.sqrt(2)
    by_hand = [[0, 1, 1, diagonal], [1, 0, diagonal, 1], [1, diagonal, 0, 1], [diagonal, 1, 1, 0]]
    np.testing.assert_allclose(position_distances(4, (2, 2)), by_hand)


def test_the_class_token_has_no_place():
    result = position_distances(5, (2, 2))
    assert np.isnan(result[0]).all()
    assert np.isnan(result[:, 0]).all()
    np.testing.assert_array_equal(result[1:, 1:], position_distances(4, (2, 2)))


def test_tokens_after_the_patches_have_no_place():
    result = position_distances(6, (2, 2), 1)
    assert np.isnan(result[[0, 5]]).all()
    np.testing.assert_array_equal(result[1:5, 1:5], position_distances(4, (2, 2)))
    pattern = np.zeros((6, 6))
    pattern[:, 2] = 1  # all weight on the patch in the upper right corner
    assert mean_distance(pattern[None], (2, 2), 1)[0] == pytest.approx((1 + 0 + math.sqrt(2) + 1) / 4)


def test_mean_distance_of_text_by_hand():
    pattern = np.array([[1, 0, 0], [0, 0, 1], [0.5, 0.5, 0]])
    assert mean_distance(pattern[None])[0] == pytest.approx((0 + 1 + 1.5) / 3)


def test_mean_distance_of_patches_leaves_the_class_token_out():
    pattern = np.zeros((5, 5))
    pattern[0, 4] = 1  # the class token as query: not counted
    pattern[1, 0] = 1  # as key: no distance
    pattern[2] = [0.5, 0, 0, 0.5, 0]  # patch 1 looks at patch 2, on the diagonal
    pattern[3, 4] = 1  # patch 2 at patch 3, beside it
    pattern[4, 4] = 1
    assert mean_distance(pattern[None], (2, 2))[0] == pytest.approx((0 + 0.5 * math.sqrt(2) + 1 + 0) / 4)


def test_mean_distance_of_patches_without_a_class_token():
    pattern = np.zeros((4, 4))
    pattern[:, 0] = 1
    assert mean_distance(pattern[None], (2, 2))[0] == pytest.approx((0 + 1 + 1 + math.sqrt(2)) / 4)


def test_head_distance_of_equal_heads_is_zero():
    assert head_distance(np.eye(3), np.eye(3)[None]) == [0]


def test_head_distance_by_hand():
    a, b = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    much, little = 0.9995, 0.0005  # 0.999 + 0.001 / 2, and 0.001 / 2
    own = -much * math.log(much) - little * math.log(little)
    first_row = math.log(2) - own  # the rows' middle is (1/2, 1/2); the second rows are equal
    assert head_distance(a, b[None]) == pytest.approx([first_row / 2])
    assert first_row < math.log(2)


# Against loops, and scipy


@st.composite
def heads(draw, grid: bool = False):
    """Patterns [layer, head, query, key] under random masks, some rows sharp, some fully masked."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    n = rows * columns + draw(st.integers(0, 1)) if grid else draw(st.integers(1, 9))
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 3)), n, n)
    mask = random.random(shape) < draw(st.sampled_from([0.0, 0.4, 0.9, 1.0]))
    weights = np.exp(random.normal(size=shape) * draw(st.sampled_from([0, 1, 50]))) * mask
    total = weights.sum(axis=-1, keepdims=True)
    pattern = (weights / np.where(total > 0, total, 1)).astype(np.float32)
    return pattern, mask, (rows, columns)


@given(heads())
def test_entropy_agrees_with_a_loop(drawn):
    pattern, mask, _ = drawn
    result = entropy(pattern, mask)
    assert result.shape == pattern.shape[:-1]
    assert ((result >= 0) & (result <= 1 + 1e-5)).all()
    for index in np.ndindex(result.shape):
        nats, n_allowed = 0.0, int(mask[index].sum())
        for weight in map(float, pattern[index]):
            nats -= weight * math.log(weight) if weight > 0 else 0
        expected = nats / math.log(n_allowed) if n_allowed > 1 else 0
        assert result[index] == pytest.approx(expected, abs=1e-5)


@given(heads())
def test_mean_distance_of_text_agrees_with_a_loop(drawn):
    pattern, _, _ = drawn
    result, n = mean_distance(pattern), pattern.shape[-1]
    for index in np.ndindex(result.shape):
        total = sum(pattern[index][i, j] * abs(i - j) for i in range(n) for j in range(n))
        assert result[index] == pytest.approx(total / n, abs=1e-5)


@given(heads(grid=True))
def test_mean_distance_of_patches_agrees_with_a_loop(drawn):
    pattern, _, grid = drawn
    result = mean_distance(pattern, grid)
    n, n_patches = pattern.shape[-1], grid[0] * grid[1]
    first = n - n_patches  # 1 where a class token stands before the patches
    for index in np.ndindex(result.shape):
        total = 0.0
        for i in range(n_patches):
            for j in range(n_patches):
                position, other = divmod(i, grid[1]), divmod(j, grid[1])
                total += pattern[index][i + first, j + first] * math.dist(position, other)
        assert result[index] == pytest.approx(total / n_patches, abs=1e-5)


@given(st.integers(0, 2**32), st.integers(1, 9), st.sampled_from([0.01, 1, 100]))
def test_head_distance_agrees_with_scipy(seed, n, concentration):
    a, b = np.random.default_rng(seed).dirichlet(np.full(n, concentration), size=(2, n))
    rows = [0.999 * pattern + 0.001 / n for pattern in (a, b)]
    with np.errstate(invalid="ignore"):  # scipy takes the root of a rounded zero, which can be below it
        expected = np.mean([np.nan_to_num(jensenshannon(p, q)) ** 2 for p, q in zip(*rows, strict=True)])
    assert head_distance(a, b[None]) == pytest.approx([expected], abs=1e-7)
    assert head_distance(b, a[None]) == pytest.approx([expected], abs=1e-7)
    single = head_distance(a.astype(np.float32), b[None].astype(np.float32))
    assert single.dtype == np.float32
    assert single == pytest.approx([expected], abs=1e-5)
    assert 0 <= expected <= math.log(2)


def test_the_weights_of_a_query_add_up():
    np.testing.assert_array_equal(weight_sums(np.array([[0.25, 0.75], [0.25, 0.0]])), [1, 0.25])
    assert weight_sums(np.array([0.5, 0.25])) == 0.75


def test_the_rows_of_a_capture_sum_to_one(digit_loaded, image):
    record = capture(digit_loaded, image)
    assert not len(odd_rows(record.pattern, record.mask))


def test_rows_that_do_not_sum_to_one_are_found_and_take_the_place_of_what_needs_those_that_do():
    pattern = np.array([[[[0.5, 0.5], [0.5, 0.25]], [[1.0, 1.0], [0.0, 1.0]]]])
    record = from_arrays(pattern / 2, ("a", "b"))
    np.testing.assert_allclose(odd_rows(record.pattern, record.mask), [0.5, 0.375, 0.5])
    ((name, values),) = head_summary(record).items()
    assert name.startswith("sum of a row")
    np.testing.assert_allclose(values, [[0.4375, 0.75]])


def test_a_row_that_may_attend_to_nothing_is_no_odd_one():
    pattern = np.array([[0.0, 0.0], [0.5, 0.5]])
    assert not len(odd_rows(pattern, np.array([[False, False], [True, True]])))
    assert odd_rows(pattern, np.ones((2, 2), bool)).tolist() == [0]


def test_half_precision_is_rounding():
    pattern = np.random.default_rng(0).dirichlet(np.ones(512), 512).astype(np.float16).astype(np.float32)
    assert not len(odd_rows(pattern, np.ones((512, 512), bool)))
    assert len(odd_rows(pattern * 0.97, np.ones((512, 512), bool))) == 512


def test_keys_that_are_no_queries_are_at_no_distance():
    record = from_arrays(np.full((1, 1, 2, 3), 1 / 3), ("a", "b"), keys=("x", "y", "z"))
    assert set(head_summary(record)) == {"entropy"}
    np.testing.assert_allclose(head_summary(record)["entropy"], 1, rtol=1e-6)
