"""What all figures have in common: what is chosen is framed in green, and without data there are no marks."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from tests.viz.attention import test_layer_pictures, test_picture_patches, test_token_strip
from tests.viz.attention.test_head_overview import overview
from tests.viz.builders.test_cells import AFTER, BEFORE, grid
from tests.viz.compare import test_head_distances
from tests.viz.heads import test_head_scatter, test_part_grids
from tests.viz.inputs.test_confusion_matrix import matrix
from tests.viz.positions import test_position_heatmaps
from tests.viz.scene import drawn
from tests.viz.similarity import test_patch_pictures
from tests.viz.training import test_run_curves
from viz.attention.token_heatmaps import difference_heatmap, weight_heatmap
from viz.attention.token_strip import weight_strip
from viz.builders.cells import entropy_change
from viz.builders.figure import VegaFigure
from viz.builders.heatmap_figure import Heatmap
from viz.builders.palette import ACCENT
from viz.compare.answer_bars import answer_bars
from viz.compare.head_distances import distance_heatmap, pair_spread
from viz.compare.stage_curves import norm_heatmap, stage_curves
from viz.cost.length_scaling import length_scaling, part_bars
from viz.inputs.confusion_matrix import confusion_matrix
from viz.inputs.image_gallery import digit_examples, image_gallery
from viz.inside.vector_rows import value_bars, vector_rows
from viz.positions.matrix_equations import permutation_panels
from viz.positions.position_curves import error_curves, neighbour_bars, shuffle_strip
from viz.positions.position_heatmaps import learned_positions, similarity_of_positions
from viz.positions.sinusoid_figures import wave_curves
from viz.theory.placements import (
    last_layer_gradient,
    layer_gradients,
    model_updates,
    seed_spread,
    warmup_accuracies,
)

NONE, NO_MAP = np.zeros(0), np.zeros((0, 0))
NO_IMAGES = np.zeros((0, 28, 28), np.uint8)
NO_NUMBERS = np.full((2, 2), np.nan)


@pytest.mark.parametrize(
    ("figure", "framed"),
    [
        (partial(overview, selected=(2, 1)), ["L2 H1"]),
        (grid, ["L2 H0"]),
        (partial(entropy_change, BEFORE, AFTER, selected=(0, 1)), ["L0 H1"]),
        (test_head_distances.chart, ["L0 H1 and L0 H1"]),
        (test_part_grids.grid, ["L0 H1", "L1 FF"]),
        (test_part_grids.patched_grid, ["L0 H1"]),
        (partial(test_part_grids.patched_grid, selected=None), []),
        (test_part_grids.figure, ["embedding, 1 film", "L0 after attention, 1 film"]),
        (matrix, ["good, answered so-so"]),
        (partial(test_layer_pictures.figure_of, layer=2), ["L2"]),
        (partial(test_picture_patches.overlay, query=1), ["r0c1"]),
        (partial(test_picture_patches.overlay, query=None), []),
        (partial(test_picture_patches.knocked_out, query=1), ["r0c1"]),
        (test_token_strip.bars, ["not"]),
        (test_token_strip.blocked, ["it"]),
        (partial(test_position_heatmaps.chart, selected=3), ["r1c0"]),
        (partial(test_position_heatmaps.small_maps, selected=1), ["r0c1"]),
        (test_patch_pictures.small, ["L1 · 1 + 0"]),
    ],
)
def test_what_is_chosen_alone_is_framed(figure: Callable[[], VegaFigure], framed: list[str]):
    *_, cover = drawn(figure(), width=600)
    assert [mark["description"] for mark in cover if mark["stroke"] == ACCENT] == framed


@pytest.mark.parametrize(
    "figure",
    [
        partial(entropy_change, BEFORE, AFTER, selected=(0, 1)),
        partial(matrix, selected=(0, 1)),
        partial(test_picture_patches.overlay, query=1),
        partial(test_position_heatmaps.small_maps, selected=1),
    ],
)
def test_a_frame_lies_on_its_neighbours(figure: Callable[[], VegaFigure]):
    *_, cover = drawn(figure())
    assert [mark["stroke"] == ACCENT for mark in cover] == [False] * (len(cover) - 1) + [True]


@pytest.mark.parametrize(
    "figure",
    [
        partial(overview, 0, 0),
        partial(grid, NO_MAP),
        partial(weight_strip, test_token_strip.text([]), NONE, query=0),
        partial(answer_bars, {}, quantity="x"),
        partial(distance_heatmap, NO_MAP, NONE, n_heads=(1, 1), names=("a", "b"), selected=None),
        partial(pair_spread, (), NONE, NONE, NONE, first_heads=(), second_heads=(), selected=None),
        partial(stage_curves, {}, (), y_title="norm"),
        partial(length_scaling, (64, 128), {}),
        partial(part_bars, [], [], quantity="parameters"),
        partial(test_head_scatter.scatter, NO_NUMBERS, NO_NUMBERS),
        partial(confusion_matrix, np.zeros((0, 0), int), (), selected=None),
        partial(image_gallery, NO_IMAGES, [], [], selected=None, columns=4),
        partial(digit_examples, NO_IMAGES, [], [], [], numbers=[], patch_grid=(7, 7), columns=2),
        partial(vector_rows, {}, what="x"),
        partial(value_bars, {}, what="after", before={}, was="before"),
        partial(error_curves, {}),
        partial(shuffle_strip, {}, {}, class_name="7", selected=None),
        partial(neighbour_bars, (), (), word="c"),
        partial(wave_curves, [], np.zeros((0, 3)), np.arange(5.0), np.zeros((0, 5)), position=1),
        partial(seed_spread, {}, (), x="layers", y="norm", what="Norms"),
        partial(layer_gradients, {}),
        partial(model_updates, {}),
        partial(last_layer_gradient, {}, ()),
        partial(warmup_accuracies, []),
        partial(
            test_run_curves.run_curves, test_run_curves.TABLE[:0], y_title="loss", runs={"pre": "#112233"}
        ),
    ],
)
def test_without_data_there_are_no_marks(figure: Callable[[], VegaFigure]):
    assert not any(drawn(figure(), width=400))


@pytest.mark.parametrize(
    "figure",
    [
        weight_heatmap(NO_MAP, ()),
        difference_heatmap(NO_MAP, NO_MAP, ()),
        norm_heatmap(NO_MAP, (), (), limit=8),
        similarity_of_positions(NO_MAP, ()),
        learned_positions(np.zeros((0, 4))),
        permutation_panels(np.zeros((0, 2)), np.zeros((0, 2)), np.arange(0), (), query=0, is_equal=True),
    ],
)
def test_a_heatmap_without_values_is_an_empty_one(figure: Heatmap):
    assert np.size(figure.specification.data[0].z) == 0
