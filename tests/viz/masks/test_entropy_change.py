import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.masks.entropy_change import entropy_change
from viz.palette import ACCENT

BEFORE, AFTER = np.array([[0.5, 0.5, 0.2], [0.5, 0.5, 0.5]]), np.array([[0.3, 0.9, 0.2], [0.5, 0.5, 0.5]])


def test_less_is_blue_more_is_orange_and_nothing_is_clear():
    cells, texts, cover = drawn(entropy_change(BEFORE, AFTER, selected=(1, 2)))
    fill = {above["description"]: cell["fill"] for cell, above in zip(cells, cover, strict=True)}
    assert fill["L0 H1"] == "rgb(217, 100, 8)"
    assert fill["L0 H2"].endswith(", 0)")
    assert fill["L0 H0"].startswith("rgba(38, 118, 224, ")
    assert sorted(text["text"] for text in texts) == sorted(["−0.200", "+0.400", *["0.000"] * 4])


def test_the_chosen_head_is_framed_and_lies_on_top():
    *_, cells = drawn(entropy_change(BEFORE, AFTER, selected=(0, 1)))
    assert [cell["stroke"] == ACCENT for cell in cells] == [False] * 5 + [True]
    assert cells[-1]["description"] == "L0 H1"


def test_rounding_is_not_drawn_as_a_change():
    cells, *_ = drawn(entropy_change(BEFORE, BEFORE + 1e-9, selected=(0, 0)))
    opacity = [float(cell["fill"].rstrip(")").split(",")[-1]) for cell in cells]
    assert max(opacity) < 1e-6


def test_a_click_names_the_head():
    chart = entropy_change(BEFORE, AFTER, selected=(0, 0)).specification
    (click,) = (each for each in chart["params"] if "select" in each)
    assert (click["name"], click["select"]["fields"]) == ("head", ["layer", "head"])


def test_entropies_of_other_heads_are_refused():
    with pytest.raises(ValueError, match=r"same heads, got \(2, 3\) and \(2, 2\)"):
        entropy_change(BEFORE, AFTER[:, :2], selected=(0, 0))
