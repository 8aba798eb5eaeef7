import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.training.formation_map import formation_map


def test_every_head_says_its_step():
    chart = formation_map(np.array([[0, 5], [1200, 9]]), first=0, last=2000, title="pre-LN")
    rects, texts, _ = drawn(chart)
    assert len(rects) == 4
    assert [item["text"] for item in texts] == ["0", "5", "1.2k", "9"]
    assert list(zip(chart.frame["name"], chart.frame["step"], strict=True)) == [
        ("L0 H0", 0),
        ("L0 H1", 5),
        ("L1 H0", 1200),
        ("L1 H1", 9),
    ]


def test_what_formed_later_is_drawn_in_more_ink():
    rects, *_ = drawn(formation_map(np.array([[400, 1999]]), first=400, last=1999))
    opacities = [float(item["fill"].rstrip(")").rpartition(",")[2]) for item in rects]
    assert opacities[0] == 0
    assert opacities[1] == 0.55


def test_the_scale_is_logarithmic():
    assert formation_map(np.array([[0, 9, 99]]), first=0, last=99).frame["late"].tolist() == pytest.approx(
        [0, 0.5, 1]
    )


def test_one_step_alone_is_drawn():
    rects, texts, _ = drawn(formation_map(np.array([[7]]), first=7, last=7))
    assert (len(rects), texts[0]["text"]) == (1, "7")
