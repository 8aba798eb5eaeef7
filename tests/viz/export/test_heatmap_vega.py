import html
import json
import re

import numpy as np
import pytest
from PIL import ImageColor

from tests.viz.pixels import pixels
from tests.viz.test_forms import figures
from viz.attention.matrix_links import MatrixLink, with_outlines
from viz.attention.token_heatmaps import difference_heatmap, score_heatmap, weight_heatmap
from viz.builders.heatmap import compact_heatmap
from viz.builders.heatmap_figure import Heatmap
from viz.builders.palette import ACCENT, FALLS, RISES, WEIGHTS, WeightScale
from viz.export.drawing import svg
from viz.export.export_style import LABEL, PAPER
from viz.export.heatmap_vega import heatmap_vega
from viz.positions.matrix_equations import permutation_panels
from viz.positions.position_heatmaps import sinusoid_table

TOKENS = ["[CLS]", "a", "film", "a"]
RNG = np.random.default_rng(0)
PATTERN = RNG.dirichlet(np.ones(4), 4).astype(np.float32)
TABLE = RNG.normal(size=(4, 8))
ATTENTION = weight_heatmap(PATTERN, TOKENS, query=1)


def picture(figure, theme="on_light"):
    """The cells as RGBA, a pixel each."""
    image = pixels(heatmap_vega(figure, 300)["layer"][0]["data"]["values"][0][theme])
    rows, columns = (len(axis.shown) for axis in (figure.panels[0].y, figure.panels[0].x))
    return image[
        image.shape[0] // (2 * rows) :: image.shape[0] // rows,
        image.shape[1] // (2 * columns) :: image.shape[1] // columns,
    ]


def axis(figure, channel, width=300):
    return heatmap_vega(figure, width)["layer"][1]["encoding"][channel]["axis"]


@pytest.mark.slow
def test_every_figure_by_plotly_becomes_an_svg():
    heatmaps = [figure for figure in figures().values() if isinstance(figure, Heatmap)]
    heatmaps.append(sinusoid_table(np.sin(TABLE), position=1, dimensions=[0, 3]))
    heatmaps.append(difference_heatmap(PATTERN, PATTERN.T, TOKENS, title="one & <other>"))
    for figure in heatmaps:
        assert svg(figure, PAPER).count("<image") == len(figure.panels)
        assert figure.description


def test_cells_have_the_colours_of_their_numbers():
    shares = np.array([[0, 1 / 9, 2 / 9, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0.5, 0.5, 0, 0]], np.float32)
    figure = weight_heatmap(shares, TOKENS)
    light, dark = (picture(figure, theme)[..., :3] for theme in ("on_light", "on_dark"))
    for index, colour in enumerate((0, 1, 2, 9)):
        assert light[0, index] == pytest.approx(np.array(ImageColor.getrgb(WEIGHTS[colour])), abs=1)
        assert dark[0, index] == pytest.approx(np.array(ImageColor.getrgb(WEIGHTS[9 - colour])), abs=1)


def test_a_signed_scale_is_clear_at_zero_and_alike_in_both_themes():
    figure = score_heatmap(np.array([[-2.0, 0.0], [2.0, 0.0]]), ["a", "b"])
    cells = picture(figure)
    assert tuple(cells[0, 0]) == (*ImageColor.getrgb(FALLS), 255)
    assert tuple(cells[1, 0]) == (*ImageColor.getrgb(RISES), 255)
    assert cells[0, 1, 3] == 0
    assert (picture(figure, "on_dark") == cells).all()


def test_rows_and_columns_have_their_names():
    figure = ATTENTION
    drawn = svg(figure)
    for name in ("[CLS]", "1 a", "film", "3 a"):
        assert drawn.count(f">{name}</text>") == 2
    assert (axis(figure, "x")["title"], axis(figure, "y")["title"]) == ("key", "query")


def test_a_note_stands_on_a_line_of_its_own_in_the_legend():
    figure = weight_heatmap(PATTERN, TOKENS, notes=["special tokens are hidden", "a < b"])
    drawn = svg(figure)
    assert drawn.count(">special tokens are hidden<") == drawn.count(">a &lt; b<") == 1
    assert axis(figure, "x")["title"] == "key"


def test_names_are_left_out_where_there_is_no_room():
    many = [f"token{number}" for number in range(100)]
    figure = weight_heatmap(np.full((100, 100), 0.01, np.float32), many)
    assert len(axis(figure, "x", 200)["values"]) < len(axis(figure, "x", 2000)["values"]) == 100


@pytest.mark.parametrize("query", [0, 9, 31, 59])
@pytest.mark.parametrize("n", [18, 45, 60])
def test_the_name_of_the_query_stands_and_no_two_names_touch(n, query):
    query = min(query, n - 1)
    width = 245  # pixels of the plot in a column of 8.5 cm with letters of 8 pt
    tokens = [f"token{number}" for number in range(n)]
    figure = weight_heatmap(np.full((n, n), 1 / n, np.float32), tokens, query=query)
    axes = heatmap_vega(figure, width)["layer"][1]["encoding"]
    for channel in ("x", "y"):
        names = axes[channel]["axis"]["values"]
        assert query in names
        assert min(np.diff(names)) * width / n >= LABEL
        assert len(names) > width / LABEL / 3
    columns = axes["x"]["axis"]
    assert (columns["orient"], columns["labelAngle"]) == ("top", 270)


def test_a_framed_cell_has_the_names_of_its_query_and_key():
    figure = with_outlines(
        weight_heatmap(np.full((60, 60), 1 / 60, np.float32), [f"t{n}" for n in range(60)], query=7),
        [MatrixLink(range(7, 8), range(12, 13), "subject", np.ones((1, 1), bool))],
        (0, 0),
    )
    assert {7} <= set(axis(figure, "y", 245)["values"])
    assert {12} <= set(axis(figure, "x", 245)["values"])


@pytest.mark.parametrize(("n", "is_written"), [(12, True), (18, False)])
def test_numbers_in_the_cells_of_a_column_stand_apart_or_not_at_all(n, is_written):
    figure = weight_heatmap(np.full((n, n), 0.11, np.float32), [f"t{number}" for number in range(n)], query=2)
    assert svg(figure, PAPER).count(">.11</text>") == n * is_written
    assert svg(figure).count(">.11</text>") == n


def test_the_legend_says_what_plotlys_says():
    drawn = svg(weight_heatmap(PATTERN, TOKENS, scale=WeightScale(0.5, "0 to the maximum")))
    assert ">attention weight, 0 to the maximum<" in drawn.replace("</tspan>", "<")
    assert "same weight for all: 1/4 = 0.25" in drawn
    assert ">▲</text>" in drawn
    assert all(f">{number}</tspan>" in drawn for number in ("0", "0.5"))  # in the line below ▲


def test_the_chosen_row_is_framed_and_its_numbers_are_written():
    layers = heatmap_vega(ATTENTION, 300)["layer"]
    written = next(item for item in layers if item["mark"]["type"] == "text")["data"]["values"]
    assert {item["y"] for item in written} == {1}
    frame = next(item for item in layers if item["mark"].get("stroke") == ACCENT)
    assert frame["data"]["values"] == [{"x": -0.5, "x2": 3.5, "y": 0.5, "y2": 1.5}]


def test_masked_cells_are_clear_and_hatched():
    mask = np.ones((4, 4), bool)
    mask[:, 2] = False
    figure = weight_heatmap(PATTERN, TOKENS, mask=mask)
    assert (picture(figure)[:, 2, 3] == 0).all()
    assert (picture(figure)[:, 1, 3] == 255).all()
    assert svg(figure).count("<image") == 2


def test_of_a_map_that_is_zoomed_the_part_in_sight_is_drawn():
    figure = weight_heatmap(PATTERN, TOKENS, window=(range(1, 3), range(3)))
    assert picture(figure).shape[:2] == (2, 3)
    assert svg(figure).count(">film</text>") == 2
    zoomed = weight_heatmap(PATTERN, TOKENS, zoom=(1, 2))
    np.testing.assert_array_equal(picture(zoomed), picture(weight_heatmap(PATTERN, TOKENS))[1:3, 1:3])


def test_panels_have_their_names_and_the_sign_between_them():
    figure = permutation_panels(TABLE, TABLE, np.arange(4), TOKENS, query=2, is_equal=True)
    views = heatmap_vega(figure, 300)["hconcat"]
    titles = [view["title"]["text"] for view in views]
    assert titles == ["Attention(P X)   =", "P   ·", "Attention(X)", "difference"]


def test_names_cannot_end_the_expression_that_holds_them():
    tokens = ["']+alert(1)+['", '"]+f(1)+["\\', "\u2028", "a\nb"]
    figure = weight_heatmap(PATTERN, tokens)
    names, index = axis(figure, "x")["labelExpr"].split("][datum.value")
    assert json.loads(f"{names}]") == [*tokens[:2], "↵", "a↵b"]  # one list of texts, and nothing else
    assert index == " - 0]"
    for name in tokens[:2]:
        assert html.unescape(svg(figure)).count(f">{name}</text>") == 2


def test_the_file_of_a_compact_map_is_that_of_the_map_by_itself():
    drawn, compacted = (
        re.sub(r"(gradient_|clip)\d+", "", svg(figure))
        for figure in (ATTENTION, compact_heatmap(ATTENTION, "<b>Map</b>"))
    )
    assert drawn == compacted
