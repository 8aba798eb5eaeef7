import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.theory.model_updates import model_updates

MOVED = {"DeepNorm": np.array([[0.0, 1.0, 2.0]])}


@pytest.mark.parametrize(("scale", "n"), [("linear", 3), ("log", 2)])
def test_steps_count_from_before_the_first(scale, n):
    *_, points = drawn(model_updates(MOVED, scale=scale), width=500)
    assert len(points) == n


def test_nothing_measured_makes_an_empty_chart():
    assert not any(drawn(model_updates({})))
