import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from torch.nn import functional

from model.train.teacher import document_teacher, log_count_ratio, word_teacher
from tests.tolerance import rounding


def test_a_text_is_what_its_words_stood_beside():
    texts = ["a lovely film", "an awful film"] * 6
    teacher = word_teacher(texts, np.array([1, 0] * 6))
    lovely, awful, neither = teacher.log_odds(["a lovely plot", "an awful plot", "with nothing known"])
    assert lovely > 0.8
    assert awful < -0.8
    assert neither == pytest.approx(0, abs=0.2)


def test_a_word_of_unlabelled_reviews_alone_takes_the_side_of_the_words_beside_it():
    labelled = ["lovely film", "awful film"] * 6
    unlabelled = ["lovely sparkling film", "awful tedious film"] * 6
    before = word_teacher(labelled, np.array([1, 0] * 6)).log_odds(["sparkling", "tedious"])
    assert before[0] == before[1]
    # C is small beside so few reviews; which word is on which side is what counts
    teacher = word_teacher(labelled + unlabelled, np.array([1, 0] * 6 + [-1] * 12))
    ratio = dict(zip(teacher.words.get_feature_names_out(), teacher.weights, strict=True))
    assert ratio["sparkling"] > 0.1
    assert ratio["tedious"] < -0.1


def test_a_review_half_positive_counts_half_on_each_side():
    counts = csr_matrix(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    # positive: 1 + 1/2 and 1/2 of the two words, negative: 1/2 and 1/2 + 1; one more each
    expected = np.log([(2.5 / 4) / (1.5 / 4), (1.5 / 4) / (2.5 / 4)])
    np.testing.assert_allclose(log_count_ratio(counts, np.array([1, 0.5, 0])), expected, rtol=rounding(16))


def test_without_unlabelled_reviews_one_round_says_all():
    texts, labels = ["a lovely film", "an awful film"] * 6, np.array([1, 0] * 6)
    teacher = word_teacher(texts, labels)
    np.testing.assert_allclose(
        teacher.weights,
        log_count_ratio(teacher.words.transform(texts), labels.astype(np.float32)),
        rtol=rounding(16),
    )


LABELLED = ["lovely film", "awful film"] * 10
UNLABELLED = ["lovely sparkling film", "awful tedious film"] * 10


def test_a_document_vector_knows_words_that_no_labelled_review_has():
    labels = np.array([1, 0] * 10 + [-1] * 20)
    teacher = document_teacher(LABELLED + UNLABELLED, labels)
    sparkling, tedious = teacher.log_odds(["sparkling", "tedious"])
    assert sparkling > 0.01
    assert tedious < -0.01


def test_document_vectors_are_those_that_torch_finds():
    texts = [*["lovely"] * 20, *["awful"] * 10, *["lovely awful"] * 10]
    teacher = document_teacher(texts, np.array([1] * 20 + [0] * 10 + [-1] * 10))
    assert teacher.words.get_feature_names_out().tolist() == ["awful", "lovely", "lovely awful"]
    counts = torch.tensor([[0.0, 1, 0]] * 20 + [[1.0, 0, 0]] * 10 + [[1.0, 1, 1]] * 10)
    rarity = (40 / torch.tensor([20.0, 30, 10])).log() ** 2
    weighted = functional.normalize(counts * rarity)
    expected = functional.normalize(weighted @ torch.linalg.svd(weighted).Vh.T)
    expected = (expected - expected.mean(0)) / expected.std(0, correction=0)
    vectors = teacher.classifier[0].transform(counts.numpy() * teacher.weights)
    # a direction may point either way
    np.testing.assert_allclose(np.abs(vectors), expected.abs(), rtol=1e-3, atol=1e-3)
