import io
import re
import xml.etree.ElementTree as ET

import altair as alt
import numpy as np
import pytest
from PIL import Image

from model.record import Positions
from tests.viz.builders.test_cells import grid
from tests.viz.records import heads_record
from tests.viz.training.test_recorded_heads import run
from viz.attention.head_overview import head_overview
from viz.attention.token_heatmaps import score_heatmap, weight_heatmap
from viz.attention.token_strip import weight_strip
from viz.builders.chart import Column, chart, layer
from viz.builders.palette import weight_scale
from viz.compare.stage_curves import stage_curves
from viz.export.drawing import number_choices, pdf, png, svg
from viz.export.export_style import PAPER, ExportStyle
from viz.positions.matrix_equations import sum_of_maps
from viz.training.recorded_heads import recorded_heads

SVG = "{http://www.w3.org/2000/svg}"
STRANGE = ["<script>alert(1)</script>", "a&b", "\"'quotes'\"", "שלום", "😀", "x\x00\x1by", "]]>", "${x}"]
ALL, NONE = ExportStyle(numbers="all"), ExportStyle(numbers="none")
NAMES = ["the", "film", "end"]
WEIGHTS = np.array([[0.25, 0.75, 0.0], [1.0, 0.0, 0.004], [0.307, 0.07, 0.623]], np.float32)
NUMBERS = [".25", ".75", "0", "1", "0", "0", ".31", ".07", ".62"]


def parsed(figure, style=ExportStyle()):  # noqa: B008
    return ET.fromstring(svg(figure, style))


def texts(figure, style=ExportStyle()):  # noqa: B008
    return ["".join(element.itertext()) for element in parsed(figure, style).iter(f"{SVG}text")]


def heads(n=8):
    rng = np.random.default_rng(0)
    weights = rng.random((2, 3, n, n)).astype(np.float32)
    return weights / weights.sum(-1, keepdims=True)


def curves():
    named = {f"an encoder with a long name, number {number}": np.arange(4.0) + number for number in range(4)}
    return stage_curves(named, ["one", "two", "three", "four"], y_title="value", x_title="stage")


def bars(names):
    columns = [Column("name", list(names)), Column("value", np.arange(len(names)) + 1.0)]
    y = alt.Y("name:N", axis=alt.Axis(labelLimit=0))
    return chart(columns, layer("bar", {"y": y, "x": "value:Q"}), autosize=None, description="bars")


def sizes(root):
    return float(root.get("width").removesuffix("cm")), [
        float(number) for number in root.get("viewBox").split()
    ]


def test_what_is_written_is_text_and_no_markup():
    written = texts(bars(STRANGE))
    for name in (*STRANGE[:5], "]]>", "${x}"):
        assert name in written
    assert "x��y" in written
    assert not list(parsed(bars(STRANGE)).iter(f"{SVG}script"))


def test_tokens_of_a_map_by_plotly_are_text_as_well():
    tokens = ["<script>", "a&b", "<b>bold</b>", '"', "שלום", "😀", "the", "the"]
    written = texts(weight_heatmap(heads()[0, 0], tokens))
    for token in tokens[:6]:
        assert written.count(token) == 2  # a row and a column
    assert written.count("6 the") == 2


def test_a_column_of_a_paper_has_its_width_and_its_letters():
    for figure in (
        curves(),
        head_overview(heads_record(heads()), selected=(0, 1)),
        weight_heatmap(heads()[0, 0], list("abcdefgh")),
        recorded_heads([run(), run(name="post")]),
    ):
        root = parsed(figure, PAPER)
        assert root.get("width") == "8.50cm"
        width, box = sizes(root)
        points = width / 2.54 * 72 / box[2]
        letters = {
            float(element.get("font-size").removesuffix("px")) * points for element in root.iter(f"{SVG}text")
        }
        assert min(letters) > 6
        assert min(abs(letter - PAPER.font_pt) for letter in letters) < 0.6


def test_a_png_has_the_dots_that_its_size_asks_for():
    picture = Image.open(io.BytesIO(png(curves(), PAPER)))
    assert picture.width == pytest.approx(8.5 / 2.54 * 300, abs=2)
    assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_without_a_background_the_inks_still_follow_the_theme(theme):
    transparent = ExportStyle(theme=theme, transparent=True)
    figure = head_overview(heads_record(heads()))
    with_page, without = (
        Image.open(io.BytesIO(png(figure, style))) for style in (ExportStyle(theme=theme), transparent)
    )
    assert with_page.convert("RGBA").getpixel((1, 1))[3] == 255
    assert without.convert("RGBA").getpixel((1, 1))[3] == 0
    bright = np.asarray(without.convert("RGBA"), float)
    inks = bright[bright[..., 3] == 255][..., :3].mean(-1)
    assert (inks < 64).any() if theme == "light" else (inks > 200).any()


def test_a_picture_from_elsewhere_is_not_looked_up():
    columns = [Column("url", ["http://127.0.0.1:9/secret.png"]), Column("x", [1])]
    image = layer("image", {"url": "url:N", "x": "x:Q"}, width=20, height=20)
    figure = chart(columns, image, autosize=None, description="elsewhere")
    assert png(figure)  # what cannot be had is not drawn, and nobody waits for it


@pytest.mark.parametrize("style", [PAPER, ExportStyle()])
def test_what_reaches_beyond_the_plot_is_not_cut_off(style):
    encoding = {"text": "word:N", "x": alt.value(0), "y": alt.value(10)}
    text = layer("text", encoding, align="left", color="#000000")
    figure = chart(
        [Column("word", ["wide " * 40 + "end"])],
        text,
        autosize={"type": "fit-x", "contains": "padding"},
        description="a long line",
    )
    whole = np.asarray(Image.open(io.BytesIO(png(figure, style))).convert("L"), float)
    edge = whole[:, -3:]
    assert (edge == edge[0, 0]).all()


def test_a_legend_that_is_wider_than_the_column_takes_several_rows():
    root = parsed(curves(), PAPER)
    names = [text for text in texts(curves(), PAPER) if text.startswith("an encoder")]
    assert len(names) == 4
    assert sizes(root)[1][2] < 500  # pixels of the layout: nothing had to be made much smaller


def test_the_text_in_its_colours_breaks_into_lines_that_fit():
    tokens = tuple(f"token{number}" for number in range(30))
    read = Positions(tokens=tokens, roles=("word",) * 30)
    strip = weight_strip(read, np.full(30, 1 / 30), query=0)
    narrow, wide = (sizes(parsed(strip, ExportStyle(width_cm=width, font_pt=8)))[1] for width in (8.5, 17))
    assert narrow[3] / narrow[2] > 2 * wide[3] / wide[2]


def read_pdf(content):
    """Width and height of the page in points, and the characters that its fonts can be read back as."""
    (box,) = re.findall(rb"/MediaBox\s*\[([^]]*)\]", content)
    left, bottom, right, top = map(float, box.split())
    letters = set()
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\n?endstream", content, re.DOTALL):
        if b"beginbfchar" in stream:
            pairs = re.findall(rb"<[0-9A-Fa-f]+> <([0-9A-Fa-f]+)>", stream)
            letters |= set("".join(bytes.fromhex(pair.decode()).decode("utf-16-be") for pair in pairs))
    return (right - left, top - bottom), letters


@pytest.mark.parametrize("style", [PAPER, ExportStyle("dark", width_cm=8.5, font_pt=8)])
def test_a_pdf_has_its_width_and_its_text_is_text(style):
    figure = weight_heatmap(heads()[0, 0], ["[CLS]", "naïve", "film", "d", "e", "f", "g", "[SEP]"])
    (width, height), letters = read_pdf(pdf(figure, style))
    assert width == pytest.approx(8.5 / 2.54 * 72, abs=0.5)
    assert width < height < 1.5 * width
    assert set("[CLS]naïvefilm[SEP]attentionweight") <= letters


def test_a_pdf_without_a_width_is_as_large_as_on_the_page():
    figure = head_overview(heads_record(heads()))
    (width, height), _ = read_pdf(pdf(figure))
    pixels = sizes(parsed(figure))[0]
    assert width == pytest.approx(pixels * 72 / 96, abs=0.5)
    assert height > 0


@pytest.mark.parametrize(
    ("figure", "above", "lines"),
    [
        (weight_heatmap(WEIGHTS, NAMES, title="One head"), "", ["One head"]),
        (weight_heatmap(WEIGHTS, NAMES, title="One head"), "L0 H0 of mine", ["L0 H0 of mine: One head"]),
        (weight_heatmap(WEIGHTS, NAMES), "L0 H0 of mine", ["L0 H0 of mine"]),
        (head_overview(heads_record(heads()), notes=["a note"]), "", ["a note"]),
        (
            head_overview(heads_record(heads()), notes=["a note"]),
            "L0 H0 of mine",
            ["L0 H0 of mine", "a note"],
        ),
        (head_overview(heads_record(heads())), "L0 H0 of mine", ["L0 H0 of mine"]),
    ],
)
def test_the_title_and_a_line_above_it_can_be_left_out(figure, above, lines):
    with_title, without = (texts(figure, ExportStyle(above=above, title=shown)) for shown in (True, False))
    assert [text for text in with_title if text not in without] == lines


@pytest.mark.parametrize(
    "wrong",
    [
        {"theme": "grey"},
        {"width_cm": 0.5},
        {"width_cm": float("nan")},
        {"font_pt": 1000},
        {"numbers": "some"},
    ],
)
def test_sizes_that_nobody_can_mean_are_refused(wrong):
    with pytest.raises(ValueError, match=r"theme is|goes from|numbers are"):
        ExportStyle(**wrong)


def test_nothing_touches_the_edge_of_a_file():
    figure = recorded_heads([run(tokens=["a", "b"])])
    assert any(text.startswith("1\u00a0\u00a0\u00a0attention weight") for text in texts(figure))
    for style in (ExportStyle(), PAPER):
        pixels = np.array(Image.open(io.BytesIO(png(figure, style))).convert("RGBA")).astype(int)
        for edge in (pixels[:, :4], pixels[:, -4:], pixels[:4], pixels[-4:]):
            assert np.ptp(edge.reshape(-1, 4), axis=0).max() == 0


def test_all_cells_of_a_map_have_their_number():
    written = texts(weight_heatmap(WEIGHTS, NAMES, query=0), ALL)
    start = next(index for index in range(len(written)) if written[index : index + 9] == NUMBERS)
    assert start >= 0
    only_query = texts(weight_heatmap(WEIGHTS, NAMES, query=0), ExportStyle())
    assert [text for text in only_query if text in (".25", ".75", ".31")] == [".25", ".75"]


def test_no_cell_of_a_map_has_a_number():
    assert not {".25", ".75"} & set(texts(weight_heatmap(WEIGHTS, NAMES, query=0), NONE))


def test_a_masked_cell_has_no_number():
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
def test_a_number_has_the_digits_that_the_largest_needs(values, expected):
    array = np.array(values, np.float32)
    if array.min() < 0:
        figure = score_heatmap(array, ["a", "b"])
    else:
        figure = weight_heatmap(array, ["a", "b"], scale=weight_scale("own", "maximum", array))
    written = texts(figure, ALL)
    assert [text for text in expected if text not in written] == []
    assert any(written[index : index + 4] == expected for index in range(len(written)))


def test_only_the_cells_in_sight_have_numbers():
    weights = np.full((6, 6), 0.11, np.float32)
    weights[2:4, 2:4] = [[0.21, 0.22], [0.23, 0.24]]
    written = texts(weight_heatmap(weights, list("abcdef"), zoom=(2, 3)), ALL)
    assert [text for text in written if text.startswith(".")] == [".21", ".22", ".23", ".24"]


def test_several_maps_have_their_numbers():
    maps = {"a": np.full((2, 2), 0.5), "b": np.full((2, 2), 2.0)}
    written = texts(sum_of_maps(maps, ["x", "y"]), ALL)
    assert written.count("0.5") >= 4
    assert written.count("2.0") >= 4


def test_numbers_that_do_not_fit_are_refused():
    tokens = [f"t{number}" for number in range(20)]
    wide = weight_heatmap(np.full((20, 20), 1 / 20, np.float32), tokens)
    with pytest.raises(ValueError, match=r"numbers do not fit: cells would have to be \d\.\d times as large"):
        svg(wide, ExportStyle(width_cm=8.5, font_pt=8, numbers="all"))
    assert texts(wide, ExportStyle(width_cm=30, font_pt=8, numbers="all")).count(".05") == 400


@pytest.mark.parametrize("figure", [curves(), head_overview(heads_record(heads()))])
def test_a_figure_without_cells_refuses_numbers_in_all_of_them(figure):
    assert number_choices(figure) == ("drawn",)
    with pytest.raises(ValueError, match="no cells with a number each"):
        svg(figure, ALL)


def test_a_grid_of_heads_without_its_numbers():
    figure = grid()
    assert number_choices(figure) == ("drawn", "none")
    drawn, bare, every = (texts(figure, style) for style in (ExportStyle(), NONE, ALL))
    assert drawn == every
    assert len(drawn) - len(bare) == len(figure.frame)
    assert [text for text in drawn if text.startswith(("L", "H"))] == [
        text for text in bare if text.startswith(("L", "H"))
    ]


def test_tokens_in_colours_are_no_numbers():
    read = Positions(tokens=("a", "film"), roles=("word",) * 2)
    strip = weight_strip(read, np.array([0.5, 0.5]), query=0)
    assert number_choices(strip) == ("drawn",)
    assert {"a", "film"} <= set(texts(strip, NONE))
