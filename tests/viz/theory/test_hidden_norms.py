import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.theory.hidden_norms import hidden_norms

LEMMA = np.array([[15.0, 20.0], [25.0, 40.0], [15.0, 15.0]])


def test_the_bounds_and_the_line_carry_their_formulas_at_their_ends():
    ends = {"pre-LN": LEMMA[1][None], "post-LN": LEMMA[2][None]}
    _, _, (low,), (high,), (post,), *_, points = drawn(hidden_norms(ends, LEMMA), width=600)
    assert [text["text"] for text in (low, high, post)] == ["(1 + l/2) d", "(1 + 3l/2) d", "3d/2"]
    assert (high["x"], high["y"]) == (points[1]["x"], points[1]["y"])
    assert (post["x"], post["y"]) == (points[3]["x"], points[3]["y"])
    assert low["y"] > high["y"]  # y counts down


def test_what_the_lemma_says_of_a_placement_stands_beside_that_one_alone():
    alone = hidden_norms({"post-LN": LEMMA[2][None]}, LEMMA)
    texts = [item["text"] for items in drawn(alone, width=600) for item in items if "text" in item]
    assert texts == ["3d/2"]
    assert not [
        item
        for items in drawn(hidden_norms({"B2T": LEMMA[2][None]}, LEMMA))
        for item in items
        if "text" in item
    ]


def test_layers_count_from_1_behind_the_first():
    chart = hidden_norms({"pre-LN": np.array([[20.0, 30.0]])}, LEMMA).to_dict()
    assert all([row["position"] for row in rows] == [1, 2] for rows in chart["datasets"].values())


def test_a_lemma_of_other_layers_is_refused():
    with pytest.raises(ValueError, match="2 positions need values"):
        hidden_norms({"pre-LN": np.ones((1, 3))}, LEMMA)
