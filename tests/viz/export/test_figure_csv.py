import io

import numpy as np
import pandas as pd
import pytest

from tests.viz.records import heads_record
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
    assert list(table(figure).columns) == ["layer", "head", "value", "name", "selected"]


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
    with pytest.raises(ValueError, match="png, svg, csv, parquet, got 'gif'"):
        figure_bytes(VegaFigure({}, {"frame": pd.DataFrame()}), "gif")
