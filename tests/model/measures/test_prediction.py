from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import distance

from model.capture import capture
from model.measures.prediction import Change, change, cosine_distance, total_variation
from tests.model import tiny


def test_total_variation_by_hand():
    assert total_variation(np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6])) == pytest.approx(0.4)
    assert total_variation(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1


def test_cosine_distance_by_hand():
    vectors = np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [1.0, 1.0]])
    found = cosine_distance(np.array([4.0, 0.0]), vectors)
    np.testing.assert_allclose(found, [0, 1, 2, 1 - np.sqrt(0.5)], rtol=1e-12)
    assert np.isnan(cosine_distance(np.zeros(2), vectors)).all()


def test_many_at_once_are_the_single_ones():
    random = np.random.default_rng(0)
    one, others = random.dirichlet(np.ones(5)), random.dirichlet(np.ones(5), (3, 4))
    for measure, reference in (
        (cosine_distance, distance.cosine),
        (total_variation, lambda a, b: distance.cityblock(a, b) / 2),
    ):
        expected = [[reference(one, other) for other in row] for row in others]
        np.testing.assert_allclose(measure(one, others), expected, rtol=1e-12)


def test_a_change_is_one_of_the_prediction_where_there_are_classes():
    loaded = tiny.loaded(tiny.TEXT)
    before, after = (capture(loaded, text) for text in ("great film", "not great"))
    moved = abs(before.probabilities - after.probabilities).max()  # of two classes: what one loses
    assert change(before, after) == (pytest.approx(moved, abs=1e-6), "total variation of the prediction")
    assert change(before, before).value == 0


def test_a_change_is_one_of_the_pooled_state_where_there_are_none(image):
    loaded = tiny.loaded(replace(tiny.DIGIT, class_names=()))
    before, after = (capture(loaded, picture) for picture in (image, 255 - image))
    expected = distance.cosine(before.pooled.astype(float), after.pooled.astype(float))
    assert change(before, after) == Change(
        pytest.approx(expected, abs=1e-6), "cosine distance of the pooled state"
    )
    assert change(before, before).value == pytest.approx(0, abs=1e-6)


def test_other_classes_are_refused():
    records = [
        capture(tiny.loaded(replace(tiny.TEXT, class_names=names)), "film") for names in (("a", "b"), ())
    ]
    with pytest.raises(ValueError, match=r"\('a', 'b'\) and \(\) are different classes"):
        change(*records)
