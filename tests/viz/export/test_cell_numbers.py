import numpy as np
import pytest

from model.record import Positions
from tests.viz.builders.test_head_grids import grid
from tests.viz.export.test_drawing import curves, heads, texts
from tests.viz.records import heads_record
from viz.attention.head_overview import head_overview
from viz.attention.token_heatmaps import score_heatmap, weight_heatmap
from viz.attention.token_strip import weight_strip
from viz.builders.palette import weight_scale
from viz.export.cell_numbers import number_choices
from viz.export.drawing import svg
from viz.export.export_style import ExportStyle
from viz.positions.matrix_equations import sum_of_maps

ALL, NONE = ExportStyle(numbers="all"), ExportStyle(numbers="none")
NAMES = ["the", "film", "end"]
WEIGHTS = np.array([[0.25, 0.75, 0.0], [1.0, 0.0, 0.004], [0.307, 0.07, 0.623]], np.float32)
NUMBERS = [".25", ".75", "0", "1", "0", "0", ".31", ".07", ".62"]


def test_all_cells_of_a_map_have_their_number() -> None:
    written = texts(weight_heatmap(WEIGHTS, NAMES, query=0), ALL)
    start = next(index for index in range(len(written)) if written[index : index + 9] == NUMBERS)
    assert start >= 0
    only_query = texts(weight_heatmap(WEIGHTS, NAMES, query=0), ExportStyle())
    assert [text for text in only_query if text in (".25", ".75", ".31")] == [".25", ".75"]


def test_no_cell_of_a_map_has_a_number() -> None:
    assert not {".25", ".75"} & set(texts(weight_heatmap(WEIGHTS, NAMES, query=0), NONE))


def test_a_masked_cell_has_no_number() -> None:
    mask = np.array([[True, False], [True, True]])
    weights = np.array([[0.21, 0.22], [0.23, 0.24]], np.float32)
    written = texts(weight_heatmap(weights, ["a", "b"], mask=mask), ALL)
    assert [text for text in written if text.startswith(".")] == [".21", ".23", ".24"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[0.031, 0.0125], [0.0, 0.004]], [".031", ".013", "0", ".004"]),
        ([[-0.25, 0.5], [-1.0, 0.0]], ["−.25", ".50", "−1", "0"]),
        ([[-0.25, 3.14], [0.96, 0.0]], ["−0.2", "3.1", "1.0", "0.0"]),
        ([[-25.3, 31.4], [0.2, 9.9]], ["−25", "31", "0", "10"]),
    ],
)
def test_a_number_has_the_digits_that_the_largest_needs(values: list, expected: list[str]) -> None:
    array = np.array(values, np.float32)
    if array.min() < 0:
        figure = score_heatmap(array, ["a", "b"])
    else:
        figure = weight_heatmap(array, ["a", "b"], scale=weight_scale("own", "maximum", array))
    written = texts(figure, ALL)
    assert [text for text in expected if text not in written] == []
    assert any(written[index : index + 4] == expected for index in range(len(written)))


def test_only_the_cells_in_sight_have_numbers() -> None:
    weights = np.full((6, 6), 0.11, np.float32)
    weights[2:4, 2:4] = [[0.21, 0.22], [0.23, 0.24]]
    written = texts(weight_heatmap(weights, list("abcdef"), zoom=(2, 3)), ALL)
    assert [text for text in written if text.startswith(".")] == [".21", ".22", ".23", ".24"]


def test_several_maps_have_their_numbers() -> None:
    maps = {"a": np.full((2, 2), 0.5), "b": np.full((2, 2), 2.0)}
    written = texts(sum_of_maps(maps, ["x", "y"]), ALL)
    assert written.count("0.5") >= 4
    assert written.count("2.0") >= 4


def test_numbers_that_do_not_fit_are_refused() -> None:
    tokens = [f"t{number}" for number in range(20)]
    wide = weight_heatmap(np.full((20, 20), 1 / 20, np.float32), tokens)
    with pytest.raises(ValueError, match=r"numbers do not fit: cells would have to be \d\.\d times as large"):
        svg(wide, ExportStyle(width_cm=8.5, font_pt=8, numbers="all"))
    assert texts(wide, ExportStyle(width_cm=30, font_pt=8, numbers="all")).count(".05") == 400


@pytest.mark.parametrize("figure", [curves(), head_overview(heads_record(heads()))])
def test_a_figure_without_cells_refuses_numbers_in_all_of_them(figure) -> None:
    assert number_choices(figure) == ("drawn",)
    with pytest.raises(ValueError, match="no cells with a number each"):
        svg(figure, ALL)


def test_a_grid_of_heads_without_its_numbers() -> None:
    figure = grid()
    assert number_choices(figure) == ("drawn", "none")
    drawn, bare, every = (texts(figure, style) for style in (ExportStyle(), NONE, ALL))
    assert drawn == every
    assert len(drawn) - len(bare) == len(figure.frame)
    assert [text for text in drawn if text.startswith(("L", "H"))] == [
        text for text in bare if text.startswith(("L", "H"))
    ]


def test_tokens_in_colours_are_no_numbers() -> None:
    read = Positions(tokens=("a", "film"), roles=("word",) * 2)
    strip = weight_strip(read, np.array([0.5, 0.5]), query=0)
    assert number_choices(strip) == ("drawn",)
    assert {"a", "film"} <= set(texts(strip, NONE))
