import numpy as np
import pytest

from tests.viz.scene import drawn, whole
from viz.palette import ACCENT
from viz.positions.position_similarity_map import position_similarity_map

COSINES = np.array([1.0, 0.5, 0.0, -0.25, -0.5, -1.0])


def chart(cosines=COSINES, grid=(2, 3), selected=None):
    return position_similarity_map(cosines, grid, of="r0c0", selected=selected)


def test_each_similarity_lies_on_its_patch_with_its_number():
    colours, numbers, cover = drawn(chart())
    assert [number["text"] for number in numbers] == ["1.00", "0.50", "0.00", "−0.25", "−0.50", "−1.00"]
    assert colours[0]["fill"] == "rgb(217, 100, 8)"
    assert colours[2]["fill"].endswith(", 0)")  # nothing in common, nothing to see
    assert [patch["description"] for patch in cover] == ["r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2"]


def test_small_cells_go_without_numbers():
    assert len(drawn(chart(np.zeros(196), (14, 14)))) == 2


def test_the_chosen_patch_is_outlined():
    _, _, cover = drawn(chart(selected=3))
    assert [patch["description"] for patch in cover if patch["stroke"] == ACCENT] == ["r1c0"]


def test_a_click_names_the_patch():
    (click,) = (each for each in whole(chart())["params"] if "select" in each)
    assert (click["name"], click["select"]["fields"]) == ("patch", ["patch"])


def test_similarities_beside_the_grid_are_refused():
    with pytest.raises(ValueError, match=r"2 × 2 patches need as many similarities, got shape \(6,\)"):
        chart(grid=(2, 2))
