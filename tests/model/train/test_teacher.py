import numpy as np
import pytest

from model.train.teacher import soft_labels


def test_true_labels_stay_and_unlabelled_reviews_get_a_probability():
    texts = ["a lovely film", "an awful film"] * 6 + ["a lovely plot", "an awful plot"]
    labels = np.array([1, 0] * 6 + [-1, -1])
    positive = soft_labels(texts, labels)
    assert positive[:12].tolist() == labels[:12].tolist()
    assert positive[12] > 0.7
    assert positive[13] < 0.3
    assert positive[12:].sum() == pytest.approx(1, abs=0.2)


def test_without_unlabelled_reviews_nothing_is_guessed():
    labels = np.array([1, 0] * 3)
    assert soft_labels(["a lovely film", "an awful film"] * 3, labels).tolist() == labels.tolist()
