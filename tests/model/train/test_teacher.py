import numpy as np
import pytest
from scipy.sparse import csr_matrix

from model.train.teacher import Teacher, log_count_ratio


def test_a_text_is_what_its_words_stood_beside():
    texts = ["a lovely film", "an awful film"] * 6
    teacher = Teacher.fit(texts, np.array([1, 0] * 6))
    lovely, awful, neither = teacher.positive(["a lovely plot", "an awful plot", "with nothing known"])
    assert lovely > 0.7
    assert awful < 0.3
    assert neither == pytest.approx(0.5, abs=0.05)


def test_a_word_of_unlabelled_reviews_alone_takes_the_side_of_the_words_beside_it():
    labelled = ["lovely film", "awful film"] * 6
    unlabelled = ["lovely sparkling film", "awful tedious film"] * 6
    before = Teacher.fit(labelled, np.array([1, 0] * 6)).positive(["sparkling", "tedious"])
    assert before[0] == before[1]
    # C is small beside so few reviews; which word is on which side is what counts
    teacher = Teacher.fit(labelled + unlabelled, np.array([1, 0] * 6 + [-1] * 12))
    ratio = dict(zip(teacher.words.get_feature_names_out(), teacher.ratio, strict=True))
    assert ratio["sparkling"] > 0.1
    assert ratio["tedious"] < -0.1


def test_a_review_half_positive_counts_half_on_each_side():
    stands_in = csr_matrix(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    # positive: 1 + 1/2 and 1/2 of the two words, negative: 1/2 and 1/2 + 1; one more each
    expected = np.log([(2.5 / 4) / (1.5 / 4), (1.5 / 4) / (2.5 / 4)])
    np.testing.assert_allclose(log_count_ratio(stands_in, np.array([1, 0.5, 0])), expected, rtol=1e-6)


def test_without_unlabelled_reviews_one_round_says_all():
    texts, labels = ["a lovely film", "an awful film"] * 6, np.array([1, 0] * 6)
    teacher = Teacher.fit(texts, labels)
    np.testing.assert_allclose(
        teacher.ratio, log_count_ratio(teacher.words.transform(texts), labels.astype(np.float32)), rtol=1e-6
    )
