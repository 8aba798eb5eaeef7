import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT, DIFFERENCE
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


def test_similarities_are_those_given_on_a_fixed_scale():
    figure = similarity_of_positions(COSINES, ("[CLS]", "r0c0")).specification
    (trace,) = figure.data
    assert np.asarray(trace.z).tolist() == COSINES.tolist()
    assert (trace.zmin, trace.zmax) == (-1, 1)
    assert list(trace.y) == ["[CLS]", "r0c0"]
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.title.text == figure.layout.yaxis.title.text == "position"


def test_no_positions_make_an_empty_figure_with_its_axes():
    assert similarity_of_positions(np.zeros((0, 0)), ()).specification.layout.xaxis.title.text == "position"
    assert learned_positions(np.zeros((0, 4))).specification.layout.yaxis.title.text == "position"


def test_the_scale_of_learned_positions_is_symmetric_and_reaches_the_largest_value():
    table = np.array([[0.5, -2.0, 1.0], [0.0, 0.25, 0.0]])
    figure = learned_positions(table).specification
    (trace,) = figure.data
    assert np.asarray(trace.z).tolist() == table.tolist()
    assert (trace.zmin, trace.zmax) == (-2, 2)
    assert figure.layout.yaxis.autorange == "reversed"  # position 0 on top


def test_zeros_have_a_scale_too():
    (trace,) = learned_positions(np.zeros((2, 2))).specification.data
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_sinusoids_from_minus_1_to_1_with_position_0_on_top():
    figure = sinusoid_table(ROWS, position=0).specification
    values, _ = figure.data
    assert np.array_equal(values.z, ROWS)
    assert (values.zmin, values.zmax) == (-1, 1)
    assert figure.layout.yaxis.range == (1.5, -0.5)
    assert "%{z:.4f}" in values.hovertemplate


def test_the_row_is_framed_and_the_dimensions_marked():
    figure = sinusoid_table(ROWS, position=1, dimensions=[0, 3]).specification
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 3.5, 0.5, 1.5)
    assert list(figure.data[1].x) == [0, 3]


def test_the_block_of_the_pair_is_framed():
    figure = shift_of_positions(np.eye(6), pair=2).specification
    (values,) = figure.data
    assert np.array_equal(values.z, np.eye(6))
    assert (values.zmin, values.zmax) == (-1, 1)
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (3.5, 5.5, 3.5, 5.5)


def test_pairs_without_a_sign_go_from_0_to_the_largest():
    figure = pairs_of_positions(np.array([[0.0, 3.0], [3.0, 0.0]]), what="distance").specification
    (values,) = figure.data
    assert (values.zmin, values.zmax) == (0, 3)


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


def test_the_chosen_patch_is_outlined():
    _, _, cover = drawn(chart(selected=3))
    assert [patch["description"] for patch in cover if patch["stroke"] == ACCENT] == ["r1c0"]


# 0 1 2
# 3 4 5
ALL_COSINES = np.linspace(-1, 1, 36).reshape(6, 6)


def small_maps(selected=None):
    return position_similarity_grid(ALL_COSINES, (2, 3), selected=selected)


def test_maps_and_their_cells_stand_where_the_patches_do():
    cells, outlines = drawn(small_maps())
    assert len(cells) == 36
    assert [outline["description"] for outline in outlines] == [
        "r0c0",
        "r0c1",
        "r0c2",
        "r1c0",
        "r1c1",
        "r1c2",
    ]
    left, top = ([outline[side] for outline in outlines] for side in "xy")
    assert left[:3] == left[3:] == sorted(left[:3])
    assert top[0] == top[2] < top[3] == top[5]
    fifth = cells[5 * 6 : 6 * 6]  # the map of the last patch, r1c2
    across, down = outlines[5]["width"] / 3, outlines[5]["height"] / 2
    positions = [
        ((cell["x"] - outlines[5]["x"]) / across, (cell["y"] - outlines[5]["y"]) / down) for cell in fifth
    ]
    assert positions == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]


def test_opposite_and_same_are_the_ends_of_the_colours():
    cells, _ = drawn(small_maps())
    assert cells[0]["fill"] == "rgb(166, 60, 196)"
    assert cells[-1]["fill"] == "rgb(154, 130, 0)"


def test_the_chosen_map_is_framed_above_its_neighbours():
    _, outlines = drawn(small_maps(selected=1))
    assert [outline["stroke"] == ACCENT for outline in outlines] == [False] * 5 + [True]
    assert outlines[-1]["description"] == "r0c1"


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
