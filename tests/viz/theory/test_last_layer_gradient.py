import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.theory.last_layer_gradient import last_layer_gradient

DEPTHS = (2, 8, 32)
NORMS = {"post-LN": np.array([[1.0, 1.0, 1.0]]), "pre-LN": np.array([[0.8, 0.4, 0.2]])}


def test_the_guide_falls_with_the_square_root_from_where_pre_ln_begins():
    chart = last_layer_gradient(NORMS, DEPTHS).to_dict()
    rows = chart["datasets"][chart["layer"][0]["data"]["name"]]
    assert [row["guide"] for row in rows] == pytest.approx([0.8, 0.4, 0.2])


def test_without_pre_ln_the_guide_begins_where_the_first_curve_does():
    chart = last_layer_gradient({"post-LN": NORMS["post-LN"]}, DEPTHS).to_dict()
    rows = chart["datasets"][chart["layer"][0]["data"]["name"]]
    assert [row["guide"] for row in rows] == pytest.approx([1, 0.5, 0.25])


def test_both_axes_are_logarithmic_and_a_flat_curve_is_flat():
    _, name, *_, points = drawn(last_layer_gradient(NORMS, DEPTHS), width=600)
    assert [text["text"] for text in name] == ["∝ 1/√L"]
    post, pre = points[:3], points[3:]
    assert len({point["y"] for point in post}) == 1
    assert pre[2]["x"] - pre[1]["x"] == pytest.approx(pre[1]["x"] - pre[0]["x"])
    assert pre[2]["y"] - pre[1]["y"] == pytest.approx(pre[1]["y"] - pre[0]["y"])


def test_nothing_measured_makes_an_empty_chart():
    assert not any(drawn(last_layer_gradient({}, ())))
