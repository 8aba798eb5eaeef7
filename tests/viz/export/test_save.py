import io
import re

import numpy as np
import pandas as pd
import pytest

from tests.viz.builders.test_figure import figure
from tests.viz.records import heads_record
from tests.viz.test_forms import figures
from viz.attention.head_overview import head_overview
from viz.attention.token_heatmaps import weight_heatmap
from viz.builders.figure import VegaFigure
from viz.export.export_style import ExportStyle
from viz.export.save import figure_bytes, latex_table, numbers_table, save
from viz.positions.matrix_equations import sum_of_maps

PATTERN = np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("a.pdf", b"%PDF-"),
        ("a.svg", b"<svg"),
        ("a.PNG", b"\x89PNG"),
        ("a.csv", b"name,size\n"),
        ("a.parquet", b"PAR1"),
    ],
)
def test_a_figure_is_saved_in_the_format_that_its_name_says(tmp_path, name, begins):
    assert save(figure(), tmp_path / name) is None
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_saved_figure_has_the_look_that_was_asked_for(tmp_path):
    path = tmp_path / "a.svg"
    save(figure(), str(path), ExportStyle("dark", width_cm=8.5, font_pt=8))
    drawn = path.read_text()
    assert 'width="8.50cm"' in drawn
    assert "#fafafa" in drawn  # the ink of a dark page


def test_a_name_without_a_known_format_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.png, \.svg, \.pdf, \.csv, \.parquet, got a\.gif"):
        save(figure(), tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def read(figure, kind):
    content = io.BytesIO(figure_bytes(figure, kind))
    return pd.read_csv(content, keep_default_na=False) if kind == "csv" else pd.read_parquet(content)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_matrix_keeps_its_names_and_numbers(kind):
    result = read(weight_heatmap(PATTERN, ["a, b", 'say "so"']), kind)
    assert list(result.columns) == ["row", "a,·b", 'say·"so"']
    assert list(result["row"]) == ["a,·b", 'say·"so"']
    assert result[["a,·b", 'say·"so"']].to_numpy() == pytest.approx(PATTERN)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_of_several_matrices_a_column_says_which_it_is_of(kind):
    result = read(sum_of_maps({"E": PATTERN, "P": PATTERN}, ["a", "b"]), kind)
    assert list(result.columns) == ["row", "E 0", "E 1", "P 0", "P 1"]


# Where a column stands, how it looks, or what is framed, and names that say nothing.
OF_DRAWING = re.compile(
    "x|y|x2|y2|left|right|top|bottom|upper|lower|start|end|place|at|selected|strong|written|stamp|colour|tint|on_light|on_dark"
    "|url|text|line|lines|number|.*_at|labelled|share of the track|n|t|says|went|over|about_short|index|low|high|kept|percent"
)
LINES = {
    "lines of a run",
    "vectors",
    "ranking of texts",
}  # there the line or text is data, and the vectors are called x


def test_no_figure_writes_into_a_file_what_only_its_drawing_needs():
    columns = {
        name: [str(column) for column in numbers_table(figure).columns] for name, figure in figures().items()
    }
    assert [
        (name, column)
        for name, names in columns.items()
        for column in names
        if OF_DRAWING.fullmatch(column) and name not in LINES
    ] == []
    assert all(len(names) == len(set(names)) for names in columns.values())


def test_every_figure_keeps_something_in_its_file():
    assert [name for name, figure in figures().items() if not len(numbers_table(figure).columns)] == []


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_figure_that_shows_weights_as_pictures_has_them_in_its_file(kind):
    patterns = np.stack([[PATTERN, 1 - PATTERN]])
    figure = head_overview(heads_record(patterns), measures={"entropy": np.array([[0.5, 0.5]])})
    file = read(figure, kind)
    assert list(file.columns) == ["layer", "head", "query", "t0", "t1"]
    assert file[["layer", "head", "query"]].to_numpy().tolist() == [
        [0, head, query] for head in (0, 1) for query in ("t0", "t1")
    ]
    assert file[["t0", "t1"]].to_numpy() == pytest.approx(patterns.reshape(-1, 2))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_token_may_be_called_like_the_column_of_labels(kind):
    file = read(weight_heatmap(PATTERN, ["row", "film"]), kind)
    assert list(file.columns) == ["row", "row (2)", "film"]
    assert file["row"].tolist() == ["row", "film"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_characters_that_no_file_may_hold_are_replaced(kind):
    figure = VegaFigure({}, {"frame": pd.DataFrame({"token": ["a\x00b", "\x1b[0m", "line\nbreak", "<i>"]})})
    assert list(read(figure, kind)["token"]) == ["a�b", "�[0m", "line\nbreak", "<i>"]


def test_what_could_not_be_computed_is_empty():
    figure = VegaFigure({}, {"frame": pd.DataFrame({"value": [1.5, np.nan]})})
    assert (
        figure_bytes(figure, "csv") == b'value\n1.5\n""\n' or figure_bytes(figure, "csv") == b"value\n1.5\n\n"
    )


def test_other_kinds_are_refused():
    with pytest.raises(ValueError, match="png, svg, pdf, csv, parquet, got 'gif'"):
        figure_bytes(VegaFigure({}, {"frame": pd.DataFrame()}), "gif")


def test_a_name_with_a_percentage_has_a_common_space():
    figure = VegaFigure(
        {"description": ""}, {"frame": pd.DataFrame({"x": [1.0]})}, {"x": "axis (33.5\u2009%)"}
    )
    assert list(numbers_table(figure).columns) == ["axis (33.5 %)"]


def rows(frame: pd.DataFrame, **options: str) -> list[str]:
    """The rows of the table, the heading first."""
    return [
        line.removesuffix(" \\\\")
        for line in latex_table(frame, **options).splitlines()
        if line.endswith("\\\\") and "multicolumn" not in line
    ]


def test_texts_stand_at_the_left_and_numbers_at_the_right_without_the_index():
    frame = pd.DataFrame({"role": ["sink"], "n": [3], "is": [True], "share": [0.5]}, index=[7])
    lines = latex_table(frame).splitlines()
    assert lines[:3] == ["% \\usepackage{booktabs}", "{\\small", "\\begin{tabular}{lrrr}"]
    assert rows(frame) == ["role & n & is & share", "sink & $3$ & True & $0.500$"]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a&b 50% $5 #1 x_y {z}", "a\\&b 50\\% \\$5 \\#1 x\\_y \\{z\\}"),
        ("\\input{x}", "\\textbackslash{}input\\{x\\}"),
        ("~^<>|−", "\\textasciitilde{}\\textasciicircum{}\\textless{}\\textgreater{}\\textbar{}$-$"),
        ("[SEP]", "{}[SEP]"),
        ("two\nlines\x00", "two lines�"),
    ],
)
def test_nothing_in_a_text_or_a_heading_is_a_command(text, escaped):
    assert rows(pd.DataFrame({text: [text]})) == [escaped, escaped]
    assert escaped in latex_table(pd.DataFrame({"n": [1]}), note=text)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0.125, 0.5), ["$0.125$", "$0.500$"]),
        ((12.345, -3.2), ["$12.3$", "$-3.2$"]),
        ((1234.5, 2.0), ["$1234$", "$2$"]),
        ((1.5e-6, -2e-7, 0.0), ["$1.50 \\cdot 10^{-6}$", "$-2.00 \\cdot 10^{-7}$", "$0$"]),
        ((1.5e300, 2.0), ["$1.50 \\cdot 10^{300}$", "$2.00 \\cdot 10^{0}$"]),
        ((0.5, np.nan, np.inf), ["$0.500$", "--", "--"]),
        ((0.0, -0.0), ["$0$", "$0$"]),
        ((0.5, -1e-9), ["$0.500$", "$0.000$"]),
    ],
)
def test_a_column_has_the_digits_that_it_needs(values, expected):
    assert rows(pd.DataFrame({"a": values}))[1:] == expected


def test_names_of_columns_may_occur_twice_and_a_table_may_have_no_rows():
    assert rows(pd.DataFrame([[1, 2]], columns=["a", "a"])) == ["a & a", "$1$ & $2$"]
    assert rows(pd.DataFrame({"a": [], "b": []})) == ["a & b"]


def test_a_long_table_goes_on_over_pages():
    lines = latex_table(pd.DataFrame({"n": range(72)}), note="72 numbers").splitlines()
    assert lines[0] == "% \\usepackage{booktabs,longtable}"
    assert lines[2].startswith("\\begin{longtable}")
    assert {"\\endhead", "\\endfoot", "\\endlastfoot", "$71$ \\\\"} <= set(lines)
    assert lines[-2:] == ["\\par\\smallskip\\footnotesize 72 numbers\\par", "}"]
