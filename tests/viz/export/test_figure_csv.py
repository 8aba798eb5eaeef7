import io
import re

import numpy as np
import pandas as pd
import pytest

from tests.viz.records import heads_record
from tests.viz.test_forms import figures
from viz.attention.head_overview import head_overview
from viz.attention.token_heatmaps import weight_heatmap
from viz.builders.cells import head_cells
from viz.builders.figure import VegaFigure
from viz.export.figure_csv import table
from viz.export.file_formats import figure_bytes
from viz.positions.sum_of_maps import sum_of_maps

PATTERN = np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)


def read(figure, kind):
    content = io.BytesIO(figure_bytes(figure, kind))
    return pd.read_csv(content, keep_default_na=False) if kind == "csv" else pd.read_parquet(content)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_matrix_keeps_its_names_and_numbers(kind):
    found = read(weight_heatmap(PATTERN, ["a, b", 'say "so"']), kind)
    assert list(found.columns) == ["row", "a,␣b", 'say␣"so"']
    assert list(found["row"]) == ["a,␣b", 'say␣"so"']
    assert found[["a,␣b", 'say␣"so"']].to_numpy() == pytest.approx(PATTERN)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_of_several_matrices_a_column_says_which_it_is_of(kind):
    found = read(sum_of_maps({"E": PATTERN, "P": PATTERN}, ["a", "b"]), kind)
    assert list(found.columns) == ["row", "E 0", "E 1", "P 0", "P 1"]


def test_a_row_a_mark_without_the_order_in_which_they_are_drawn():
    figure = VegaFigure({}, {"frame": head_cells(np.array([[1.0, 2.0]]), (0, 0))})
    assert list(table(figure).columns) == ["layer", "head", "value", "name"]


# Where a column stands, how it looks, or what is framed, and names that say nothing.
OF_DRAWING = re.compile(
    "x|y|x2|y2|left|right|top|bottom|upper|lower|start|end|place|at|selected|strong|written|said|stamp|colour|tint|on_light|on_dark"
    "|url|text|line|lines|number|.*_at|labelled|share of the track"
)
LINES = {"lines of a run", "digits of a head"}  # there the line, and the number, are data


def test_no_figure_writes_into_a_file_what_only_its_drawing_needs():
    columns = {name: [str(column) for column in table(figure).columns] for name, figure in figures().items()}
    assert [
        (name, column)
        for name, found in columns.items()
        for column in found
        if OF_DRAWING.fullmatch(column) and name not in LINES
    ] == []
    assert all(len(found) == len(set(found)) for found in columns.values())


def test_every_figure_keeps_something_in_its_file():
    assert [name for name, figure in figures().items() if not len(table(figure).columns)] == []


def test_columns_are_called_by_what_they_hold():
    made = figures()
    recording = ["encoder", "moment", "training step", "phase", "accuracy", "error"]
    assert list(table(made["recorded heads"]).columns) == recording
    assert list(table(made["parts of an encoder"]).columns) == ["part", "share", "parameters"]
    scatter = made["heads by two numbers"]
    assert list(table(scatter).columns) == ["layer", "head", "name", *scatter.in_file.values(), "role"]


def test_pictures_are_no_numbers():
    patterns = PATTERN[None, None]
    figure = head_overview(heads_record(patterns), measures={"entropy": np.array([[0.5]])})
    assert not {"on_light", "on_dark"} & set(table(figure).columns)
    assert table(figure)["entropy"].tolist() == [0.5]


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
