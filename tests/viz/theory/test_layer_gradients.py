import numpy as np

from tests.viz.scene import drawn
from viz.theory.layer_gradients import layer_gradients


def test_layers_count_from_0():
    chart = layer_gradients({"pre-LN": np.array([[3.0, 2.0, 1.0]])})
    *_, points = drawn(chart, width=500)
    assert [point["x"] for point in points] == sorted(point["x"] for point in points)
    assert [point["y"] for point in points] == sorted(
        point["y"] for point in points
    )  # falling: y counts down
    rows = chart.to_dict()["datasets"]
    assert [row["position"] for row in next(iter(rows.values()))] == [0, 1, 2]


def test_nothing_measured_makes_an_empty_chart():
    assert not any(drawn(layer_gradients({})))
