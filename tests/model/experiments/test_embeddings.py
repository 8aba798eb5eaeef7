from dataclasses import replace

import numpy as np
import pytest

from model.capture import capture
from model.experiments.embeddings import (
    EmbeddingParts,
    GridMeans,
    cosine_similarities,
    embedding_parts,
    first_word_ids,
    grid_means,
    lengths,
    look_up,
    n_distinct_vectors,
    neighbours,
    pair_range,
    patch_pictures,
    pca,
    position_cosines,
    position_norm_range,
    position_table,
    t_sne,
    token_table,
    vectors,
)
from model.transformer import sinusoidal
from tests.model import tiny
from tests.tolerance import rounding


@pytest.mark.parametrize("scaled", [False, True])
def test_the_parts_of_a_text(scaled):
    loaded = tiny.loaded(replace(tiny.TEXT, embedding_scaled=scaled))
    parts = embedding_parts(loaded, "great film")
    assert parts.tokens == ("[CLS]", "great", "film", "[SEP]")
    rows = loaded.model.embedding.tokens.weight.detach().numpy()[loaded.tokenizer.encode("great film").ids]
    np.testing.assert_allclose(parts.looked_up, rows, rtol=rounding(4))
    np.testing.assert_allclose(parts.content, rows * (np.sqrt(8) if scaled else 1), rtol=rounding(4))
    np.testing.assert_array_equal(parts.positions, sinusoidal(12, 8)[:4].numpy())
    embedded = capture(loaded, "great film").residual[0]
    np.testing.assert_allclose(parts.total, embedded, atol=rounding(4, np.abs(embedded).max()))


def test_the_class_token_of_patches_is_not_scaled(image):
    loaded = tiny.loaded(replace(tiny.DIGIT, embedding_scaled=True))
    parts = embedding_parts(loaded, image)
    class_token = loaded.model.embedding.class_token.detach().numpy()
    np.testing.assert_array_equal(parts.looked_up[0], class_token)
    np.testing.assert_array_equal(parts.content[0], class_token)
    np.testing.assert_allclose(parts.content[1:], parts.looked_up[1:] * np.sqrt(8), rtol=rounding(4))


def test_what_is_handed_out_cannot_change_the_encoder(digit_loaded):
    table = position_table(digit_loaded)
    np.testing.assert_array_equal(table, digit_loaded.model.embedding.position_table.detach().numpy())
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 0
    assert not np.shares_memory(table, digit_loaded.model.embedding.position_table.detach().numpy())


def test_the_token_table_is_in_the_order_of_the_ids():
    loaded = tiny.loaded(replace(tiny.TEXT, embedding_scaled=True))
    pieces, vectors = token_table(loaded)
    assert len(pieces) == len(vectors) == 100
    assert pieces[loaded.tokenizer.token_to_id("film")] == "film"
    parts = embedding_parts(loaded, "film")
    np.testing.assert_allclose(vectors[pieces.index("film")], parts.content[1], rtol=rounding(4))


def test_a_look_up_is_a_row_and_a_product_with_a_one_hot_vector(digit_loaded):
    loaded = tiny.loaded(tiny.TEXT)
    result = look_up(loaded, "great film", 1)
    assert result.token == "great"
    assert result.id == loaded.tokenizer.token_to_id("great")
    table = loaded.model.embedding.tokens.weight.detach().numpy()
    by_hand = sum((number == result.id) * row for number, row in enumerate(table))
    assert result.row.tolist() == by_hand.tolist() == result.product.tolist()
    with pytest.raises(ValueError, match="not looked up"):
        look_up(digit_loaded, np.zeros((28, 28), np.uint8), 0)


def test_an_encoder_of_images_has_no_vocabulary(digit_loaded):
    with pytest.raises(ValueError, match="reads images"):
        token_table(digit_loaded)


def test_the_first_words_are_whole_pieces_of_three_letters():
    pieces = ("[CLS]", "a", "##ing", "th", "the", "9th", "film", "and")
    assert first_word_ids(pieces, 2) == [4, 6]
    assert first_word_ids(pieces, 99) == [4, 6, 7]


def test_where_spaces_are_marked_words_begin_with_one():
    pieces = ("<s>", "·", "the", "·the", "·it", "·film", "·9th", "·честное")
    assert first_word_ids(pieces, 99) == [3, 5, 7]
    assert first_word_ids(("·", "the", "##·s"), 99) == [1]  # a vocabulary with the letter "·"


def test_cosines_by_hand():
    a = np.array([[3.0, 4.0], [0.0, 0.0]])
    b = np.array([[6.0, 8.0], [4.0, -3.0], [-1.0, 0.0]])
    result = cosine_similarities(a, b)
    assert result[0].tolist() == pytest.approx([1, 0, -0.6])
    assert np.isnan(result[1]).all()


def test_the_nearest_by_hand():
    rows = np.array([[0.0, 2.0], [1.0, 1.0], [0.0, 0.0], [-5.0, 0.0], [9.0, 0.0], [1.0, 0.0]])
    result = neighbours(rows, 5, 3)
    assert [index for index, _ in result] == [4, 1, 0]
    assert [cosine for _, cosine in result] == pytest.approx([1, 0.5**0.5, 0])
    assert len(neighbours(rows, 5, 9)) == 4
    assert neighbours(rows, 2, 3) == []


def test_the_patches_as_pictures(digit_loaded, image):
    patches = patch_pictures(digit_loaded, image)
    assert patches.shape == (4, 4, 4)
    np.testing.assert_array_equal(patches[1], image[:4, 4:])
    np.testing.assert_array_equal(patches[2], image[4:, :4])


def test_the_patches_of_a_coloured_picture():
    coloured = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    patches = patch_pictures(tiny.loaded(replace(tiny.DIGIT, n_channels=3)), coloured)
    np.testing.assert_array_equal(patches[2], coloured[4:, :4])
    assert not patches.flags.writeable


def test_the_means_over_a_grid_by_hand():
    # 0 1
    # 2 3
    cosines = np.array([[1, 0.5, 0.25, -1], [0.5, 1, -0.5, 0], [0.25, -0.5, 1, 0.75], [-1, 0, 0.75, 1]])
    means = grid_means(cosines, (2, 2))
    assert means == pytest.approx(((0.5 + 0.75) / 2, (0.25 + 0) / 2, (-1 - 0.5) / 2))
    assert means.are_neighbours_similar


def test_patches_of_unrelated_positions_show_no_grid():
    assert not GridMeans(beside=-0.006, above=-0.016, others=0.0).are_neighbours_similar
    assert GridMeans(beside=0.54, above=np.nan, others=-0.05).are_neighbours_similar


def test_a_row_of_patches_has_none_above():
    means = grid_means(np.eye(2), (1, 2))
    assert means.beside == 0
    assert np.isnan([means.above, means.others]).all()


# Lengths


def test_lengths_by_hand():
    content, positions = np.array([[3.0, 4.0], [0.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    as_float = [array.astype(np.float32) for array in (content, content * 10, positions)]
    parts = EmbeddingParts(
        tokens=("a", "b"), looked_up=as_float[0], content=as_float[1], positions=as_float[2]
    )
    result = lengths(parts, scaled=True)
    assert [item.tolist() for item in result] == [[5, 2], [50, 20], [1, 1]]
    assert result.means == (3.5, 35, 1)
    assert result.ratios == (3.5, 35)
    unscaled = lengths(parts, scaled=False)
    assert unscaled.scaled == pytest.approx([5 * 2**0.5, 2 * 2**0.5], rel=rounding(4))


def test_the_lengths_of_the_table(digit_loaded):
    table = digit_loaded.model.embedding.position_table.detach().numpy().astype(float)
    by_hand = [sum(number**2 for number in row) ** 0.5 for row in table]
    result = position_norm_range(digit_loaded)
    assert (result.smallest, result.largest) == pytest.approx((min(by_hand), max(by_hand)), rel=rounding(16))
    assert (result.at_smallest, result.at_largest) == (
        by_hand.index(min(by_hand)),
        by_hand.index(max(by_hand)),
    )


def test_pairs_of_different_positions_leave_the_diagonal_out():
    cosines = np.array([[9.0, 0.5, -0.5], [0.5, 9.0, 0.3], [-0.5, 0.3, 9.0]])
    assert pair_range(cosines) == pytest.approx((-0.5, 0.5, 0.1))


def test_position_cosines_are_those_of_the_table(digit_loaded):
    table = position_table(digit_loaded).astype(float)
    expected = [[a @ b / (np.sqrt(a @ a) * np.sqrt(b @ b)) for b in table] for a in table]
    np.testing.assert_allclose(position_cosines(digit_loaded), expected, atol=rounding(3 * 8))


# Vectors that are drawn


@pytest.mark.parametrize("positioned", [False, True])
def test_the_vectors_of_the_input_come_before_those_of_the_words(positioned):
    loaded = tiny.loaded(tiny.TEXT)
    parts, (pieces, rows) = embedding_parts(loaded, "not film"), token_table(loaded)
    result = vectors(loaded, "not film", positioned=positioned, n_words=2)
    np.testing.assert_array_equal(result[:4], parts.total if positioned else parts.content)
    np.testing.assert_array_equal(result[4:], rows[[pieces.index("great"), pieces.index("film")]])
    assert len(vectors(loaded, "not film", positioned=positioned)) == 4


def test_equal_vectors_count_once():
    assert n_distinct_vectors(np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0], [0.0, 0.0], [-0.0, 0.0]])) == 3


def test_pca_by_hand():
    # a cross, wider along the second axis: variances 8 and 2 of 10
    cross = np.array([[0.0, 2, 5], [0, -2, 5], [1, 0, 5], [-1, 0, 5]])
    positions, explained = pca(cross)
    assert explained == pytest.approx((0.8, 0.2))
    np.testing.assert_allclose(np.abs(positions), [[2, 0], [2, 0], [0, 1], [0, 1]], atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_pca_of_few_vectors(n):
    positions, explained = pca(np.eye(3)[:n])
    assert positions.shape == (n, 2)
    assert np.isfinite(positions).all()
    if n == 2:
        assert explained == pytest.approx((1, 0))
        assert abs(positions[0, 0] - positions[1, 0]) == pytest.approx(2**0.5)
    else:
        assert np.isnan(explained).all()


def test_vectors_that_are_all_the_same_have_no_variance():
    assert np.isnan(pca(np.ones((5, 3))).explained_variance).all()
    assert t_sne(np.ones((5, 3)), perplexity=2, seed=0) is None


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_t_sne_of_few_vectors_is_none(n):
    assert t_sne(np.eye(4)[:n], perplexity=5, seed=0) is None


@pytest.mark.parametrize("n", [4, 7])
def test_the_perplexity_stays_below_the_number_of_vectors(n):
    positions, perplexity = t_sne(np.eye(8)[:n], perplexity=30, seed=0)
    assert perplexity == n - 1
    assert positions.shape == (n, 2)
    assert np.isfinite(positions).all()


def test_t_sne_keeps_groups_together_and_repeats_itself():
    rng = np.random.default_rng(0)
    vectors = np.concatenate([rng.normal(centre, 0.1, size=(10, 5)) for centre in (0, 9)])
    first, second = (t_sne(vectors, perplexity=5, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.coordinates, second.coordinates)
    near = np.linalg.norm(first.coordinates[:, None] - first.coordinates, axis=-1)
    assert near[:10, :10].max() < near[:10, 10:].min()


def test_numbers_get_places_as_vectors_do():
    positions = t_sne(np.array([[0.0], [0.1], [9.0], [9.1]]), perplexity=2, seed=0).coordinates
    assert positions.shape == (4, 2)
    assert np.isfinite(positions).all()
