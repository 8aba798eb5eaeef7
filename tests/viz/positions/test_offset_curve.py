import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.positions.offset_curve import offset_curve

OFFSETS = np.array([-1, 0, 1])
FORMULA = np.array([1.5, 2.0, 1.5])


def test_the_formula_runs_through_what_was_measured():
    chart = offset_curve(OFFSETS, FORMULA + 0.25, FORMULA, what="distance", law="Σ cos")
    dots, line = chart.specification["layer"]
    assert (dots["encoding"]["y"]["field"], line["encoding"]["y"]["field"]) == ("measured", "formula")
    assert chart.frame["formula"].tolist() == [1.5, 2, 1.5]
    assert chart.frame["measured"].tolist() == [1.75, 2.25, 1.75]
    (dots,) = drawn(chart, width=400)
    assert len(dots) == 3


def test_hover_gives_both_and_the_deviation():
    chart = offset_curve(OFFSETS, FORMULA + 0.25, FORMULA, what="dot product", law="Σ cos")
    tooltip = chart.specification["layer"][0]["encoding"]["tooltip"]
    assert [field["field"] for field in tooltip] == ["offset", "measured", "formula", "deviation"]
    assert chart.frame["deviation"].tolist() == [0.25] * 3


def test_the_legend_names_the_formula():
    spec = offset_curve(OFFSETS, FORMULA, FORMULA, what="dot product", law="Σ cos").specification
    assert spec["layer"][1]["encoding"]["color"]["scale"]["domain"][1] == "Σ cos"


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="3 offsets, but 2 measured"):
        offset_curve(OFFSETS, FORMULA[:2], FORMULA, what="distance", law="")
