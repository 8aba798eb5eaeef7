import numpy as np

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT, POST_LN, PRE_LN
from viz.heads.head_scatter import head_scatter

ACROSS = np.array([[0.1, 0.4], [0.2, 0.9]])
UP = np.array([[3.0, 1.0], [2.0, 5.0]])
ROLES = ["", "next-token head", "", "sink head, local head"]


def scatter(across=ACROSS, up=UP, selected=(1, 0), roles=ROLES):
    titles = ("entropy", "distance (tokens)")
    return head_scatter(across, up, titles=titles, selected=selected, roles=roles, source="this input")


def points(chart) -> dict[str, dict]:
    marks = [item for items in drawn(chart, width=500) for item in items if "size" in item]
    return {mark["description"]: mark for mark in marks}


def test_every_head_is_where_its_numbers_are_and_the_chosen_one_above_in_green():
    shown = points(scatter())
    assert set(shown) == {"L0 H0", "L0 H1", "L1 H0", "L1 H1"}
    assert sorted(shown, key=lambda name: shown[name]["x"]) == ["L0 H0", "L1 H0", "L0 H1", "L1 H1"]
    assert sorted(shown, key=lambda name: -shown[name]["y"]) == ["L0 H1", "L1 H0", "L0 H0", "L1 H1"]
    assert [name for name, point in shown.items() if point["fill"] == ACCENT] == ["L1 H0"]
    assert list(shown)[-1] == "L1 H0"


def test_layers_have_colours_of_their_own_and_none_of_a_placement():
    values = np.arange(24.0).reshape(12, 2)
    shown = points(scatter(values, values, (0, 0), [""] * 24))
    by_layer = [{shown[f"L{layer} H{head}"]["fill"] for head in (0, 1)} - {ACCENT} for layer in range(12)]
    assert all(len(colours) == 1 for colours in by_layer)
    every = set.union(*by_layer)
    assert len(every) == 12
    assert not every & {PRE_LN, POST_LN}


def test_a_head_without_one_of_the_numbers_has_no_point_and_that_is_said():
    up = np.array([[3.0, np.nan], [2.0, 5.0]])
    assert set(points(scatter(up=up))) == {"L0 H0", "L1 H0", "L1 H1"}
    assert "1 without one of the two" in scatter(up=up).description


def test_equal_numbers_stay_inside():
    alike = np.full((2, 2), 0.5)
    assert all(0 < point["x"] < 500 for point in points(scatter(alike, alike)).values())


def test_of_many_heads_the_chosen_one_alone_has_its_name_beside_it():
    values = np.random.default_rng(0).random((6, 12))
    named = scatter(values, values, (3, 5), [""] * 72).frame["label"]
    assert [label for label in named if label] == ["L3 H5"]
    assert all(scatter().frame["label"])


def test_roles_are_said():
    roles = scatter().frame.set_index("name")["role"].to_dict()
    assert roles["L0 H1"] == "next-token head"
    assert roles["L0 H0"] == "none"
