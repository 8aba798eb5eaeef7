import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import DIFFERENCE
from viz.positions import position_heatmaps as module
from viz.positions.position_heatmaps import (
    learned_positions,
    map_step,
    pairs_of_positions,
    position_similarity_grid,
    position_similarity_map,
    shift_of_positions,
    similarity_of_positions,
    sinusoid_table,
)

COSINES = np.array([[1, -0.5], [-0.5, 1]])
ROWS = np.array([[0, 1, 0, 1], [0.8, 0.5, 0.1, 1]], np.float32)
PATCH_COSINES = np.array([1.0, 0.5, 0.0, -0.25, -0.5, -1.0])


@pytest.mark.parametrize(
    ("figure", "values"),
    [
        (similarity_of_positions(COSINES, ("[CLS]", "r0c0")), COSINES),
        (learned_positions(ROWS), ROWS),
        (sinusoid_table(ROWS, position=0), ROWS),
        (shift_of_positions(np.eye(6), pair=2), np.eye(6)),
    ],
)
def test_a_heatmap_has_the_values_given(figure, values):
    np.testing.assert_array_equal(figure.specification.data[0].z, values)


def test_the_row_is_framed_and_the_dimensions_marked():
    figure = sinusoid_table(ROWS, position=1, dimensions=[0, 3]).specification
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 3.5, 0.5, 1.5)
    assert list(figure.data[1].x) == [0, 3]


def test_the_block_of_the_pair_is_framed():
    (frame,) = shift_of_positions(np.eye(6), pair=2).specification.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (3.5, 5.5, 3.5, 5.5)


def test_signed_pairs_are_symmetric_about_0():
    (values,) = pairs_of_positions(
        np.array([[2.0, -1.0], [-1.0, 2.0]]), what="dot product"
    ).specification.data
    assert (values.zmin, values.zmax) == (-2, 2)
    assert [stop[1] for stop in values.colorscale] == list(DIFFERENCE)


def chart(cosines=PATCH_COSINES, grid=(2, 3), selected=None):
    return position_similarity_map(cosines, grid, name="r0c0", selected=selected)


def test_each_similarity_lies_on_its_patch_with_its_number():
    colours, numbers, cover = drawn(chart())
    assert [number["text"] for number in numbers] == ["1.00", "0.50", "0.00", "−0.25", "−0.50", "−1.00"]
    assert colours[0]["fill"] == "rgb(154, 130, 0)"
    assert colours[2]["fill"].endswith(", 0)")  # nothing in common, nothing to see
    assert [patch["description"] for patch in cover] == ["r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2"]


def test_small_cells_go_without_numbers():
    assert len(drawn(chart(np.zeros(196), (14, 14)))) == 2


# 0 1 2
# 3 4 5
ALL_COSINES = np.linspace(-1, 1, 36).reshape(6, 6)


def small_maps(selected=None):
    return position_similarity_grid(ALL_COSINES, (2, 3), selected=selected)


def test_maps_and_their_cells_stand_where_the_patches_do():
    cells, outlines = drawn(small_maps())
    assert len(cells) == 36
    assert " ".join(outline["description"] for outline in outlines) == "r0c0 r0c1 r0c2 r1c0 r1c1 r1c2"
    left, top = ([outline[side] for outline in outlines] for side in "xy")
    assert left[:3] == left[3:] == sorted(left[:3])
    assert top[0] == top[2] < top[3] == top[5]
    fifth = cells[5 * 6 : 6 * 6]  # the map of the last patch, r1c2
    across, down = outlines[5]["width"] / 3, outlines[5]["height"] / 2
    positions = [
        ((cell["x"] - outlines[5]["x"]) / across, (cell["y"] - outlines[5]["y"]) / down) for cell in fifth
    ]
    assert positions == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]


def test_of_a_large_grid_some_maps_are_drawn_close_together(monkeypatch):
    monkeypatch.setattr(module, "_MOST_CELLS", 12)  # of 36
    assert map_step((2, 3)) == 2
    figure = small_maps(selected=2)
    assert sorted(set(figure.frames["frame"]["patch"].tolist())) == [0, 2]
    cells, outlines = drawn(figure)
    np.testing.assert_allclose(figure.frames["frame"]["cosine"], ALL_COSINES[[0, 2]].ravel(), atol=1e-4)
    assert [outline["description"] for outline in outlines] == ["r0c0", "r0c2"]
    first, second = outlines
    assert second["x"] - first["x"] == first["width"] + 5
    assert len(cells) == 12


def test_up_to_16_by_16_patches_each_has_its_map():
    assert [map_step(grid) for grid in ((1, 1), (14, 14), (16, 16), (37, 37))] == [1, 1, 1, 6]


@pytest.mark.parametrize("side", [14, 16, 24, 37])
def test_the_maps_fit_beside_the_large_one(side):
    figure = position_similarity_grid(np.eye(side**2), (side, side), selected=None)
    assert 400 <= figure.specification["width"] <= 500
