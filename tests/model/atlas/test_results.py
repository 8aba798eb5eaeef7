import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from model.atlas import parquet as tables
from model.atlas.parquet import WORD
from model.atlas.results import (
    COLUMNS_BY_FILE,
    EXAMPLES,
    FAITHFULNESS,
    HEADS,
    LAYERS,
    PRUNING,
    ResultTable,
    comparison_file_name,
    read_comparison,
    read_heads,
    read_layers,
    read_rows,
    write_comparison,
    write_results,
)
from model.atlas.running_moments import Spread
from tests.model.atlas import invented_results
from tests.model.atlas.invented_results import against, heads, layers

ROOT = Path(__file__).parents[3]


def examples(n: int = 3) -> ResultTable:
    numbers = {name: range(n) for name in ("layer", "head", "rank", "number", "query", "key")}
    words = {name: ["größer ☃"] * n for name in ("query_token", "key_token", "before", "between", "after")}
    rows = pd.DataFrame({**numbers, **words, "weight": np.linspace(0.9, 0.5, n)})
    return ResultTable(source=invented_results.source(n, "w"), rows=rows)


def test_heads_are_read_as_written(tmp_path):
    written = heads()
    spreads = {**written.spreads, "importance": invented_results.spread(2, 2, seed=5)}
    spreads["importance"].mean[0, 1] = np.nan
    source = replace(written.source, samples={"importance": 9}, unknown=0.25)
    write_results(tmp_path / HEADS, replace(written, spreads=spreads, source=source))
    result = read_heads(tmp_path / HEADS)
    assert result.source == source
    assert list(result.spreads) == list(spreads)
    for name, spread in spreads.items():
        np.testing.assert_array_equal(result.spreads[name].mean, spread.mean.astype(np.float32))
        np.testing.assert_array_equal(result.spreads[name].sd, spread.sd.astype(np.float32))
    np.testing.assert_array_equal(result.z, written.z)
    assert list(tmp_path.iterdir()) == [tmp_path / HEADS]
    assert (tmp_path / HEADS).stat().st_size < 10_000


def test_layers_are_read_as_written(tmp_path):
    written = layers()
    write_results(tmp_path / LAYERS, written)
    result = read_layers(tmp_path / LAYERS)
    assert result.source == written.source
    assert list(result.curves) == list(written.curves)
    np.testing.assert_array_equal(result.curves["share"].sd, written.curves["share"].sd.astype(np.float32))


def test_rows_are_read_as_written(tmp_path):
    written = examples()
    write_results(tmp_path / EXAMPLES, written)
    result = read_rows(tmp_path / EXAMPLES)
    assert result.source == written.source
    expected = written.rows[list(COLUMNS_BY_FILE[EXAMPLES])].astype({"weight": np.float32})
    pd.testing.assert_frame_equal(result.rows, expected, check_dtype=False)


def write_row(path, samples, **changed):
    """A table of one row, with the word "zero" or the number 1 in every column that is not changed."""
    row = {name: "zero" if kind == WORD else 1 for name, kind in COLUMNS_BY_FILE[path.name].items()}
    source = replace(examples().source, samples=samples)
    write_results(path, ResultTable(source=source, rows=pd.DataFrame([row | changed])))


@pytest.mark.parametrize("column", ["step", "turned_wrong", "turned_right", "told"])
def test_counts_of_examples_have_no_empty_cells(tmp_path, column):
    path = tmp_path / (FAITHFULNESS if column == "told" else PRUNING)
    write_row(path, {"choosing": 1, "judging": 2})
    assert read_rows(path).rows[column].tolist() == [1]
    write_row(path, {"choosing": 1, "judging": 2}, **{column: None})
    with pytest.raises(ValueError, match=rf"cannot be read: its column {column} has empty cells$"):
        read_rows(path)


@pytest.mark.parametrize("samples", [{}, {"choosing": 1}, {"judging": 2}, {"choosing": 1, "judging": 0}])
def test_a_pruning_names_the_examples_that_choose_and_judge(tmp_path, samples):
    write_row(tmp_path / PRUNING, samples)
    with pytest.raises(ValueError, match="does not say how many examples chose the heads"):
        read_rows(tmp_path / PRUNING)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_an_empty_cell(tmp_path, value):
    write_row(tmp_path / PRUNING, {"choosing": 1, "judging": 2}, loss=value)
    assert pq.read_table(tmp_path / PRUNING)["loss"].to_pylist() == [None]


def test_pandas_reads_them_too(tmp_path):
    write_results(tmp_path / HEADS, heads())
    frame = pd.read_parquet(tmp_path / HEADS)
    assert frame[["layer", "head"]].to_numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert frame.entropy_mean.tolist() == pytest.approx(heads().spreads["entropy"].mean.ravel(), rel=1e-6)


def test_reading_leaves_no_thread_behind(tmp_path):
    """Arrow's own thread, still waiting for Python's lock when Python ends, would abort the process."""
    write_results(tmp_path / LAYERS, layers())
    program = (
        "import os, pathlib, sys; from model.atlas.results import read_layers; "
        "before = len(os.listdir('/proc/self/task')); curves = read_layers(pathlib.Path(sys.argv[1])).curves; "
        "print(len(curves), len(os.listdir('/proc/self/task')) - before)"
    )
    command = [sys.executable, "-c", program, tmp_path / LAYERS]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "5 0\n"


def test_no_file_is_nothing_stored(tmp_path):
    assert read_heads(tmp_path / HEADS) is None
    assert read_layers(tmp_path / LAYERS) is None
    assert all(read_rows(tmp_path / name) is None for name in COLUMNS_BY_FILE)
    assert read_comparison(tmp_path / comparison_file_name("x")) is None


# Damaged files, and files that somebody made to be read here


SOURCE = {"command": "c", "data": "d", "sha256": "e", "n": 4, "weights": ["w"], "samples": {}}
GRID = {"layer": [0, 0, 1, 1], "head": [0, 1, 0, 1]}
Z = pa.array([[1.0]] * 4, pa.list_(pa.float32()))
TYPES = {"layer": pa.int32(), "head": pa.int32(), "z": pa.list_(pa.float32())}


def put(path, columns, source=SOURCE, dictionary=False):
    path.parent.mkdir(exist_ok=True)
    arrays = {
        name: values if isinstance(values, pa.Array) else pa.array(values, TYPES.get(name, pa.float32()))
        for name, values in columns.items()
    }
    metadata = None if source is None else {tables.KEY: json.dumps(source).encode()}
    pq.write_table(pa.table(arrays).replace_schema_metadata(metadata), path, use_dictionary=dictionary)


def test_a_file_of_somebody_else_is_read(tmp_path):
    put(tmp_path / HEADS, GRID | {"z": Z, "entropy_mean": [0.5] * 4, "entropy_sd": [0.1] * 4})
    result = read_heads(tmp_path / HEADS)
    assert result.spreads["entropy"].mean.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert result.source.unknown is None


UUIDS = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16] * 4, pa.binary(16)))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"layer": [0], "head": [0]}, "lacks the column z"),
        ({"z": Z}, "lacks the column head"),
        (GRID | {"z": Z, "entropy_mean": [0.5] * 4}, "lacks the column entropy_sd"),
        (GRID | {"z": Z, "entropy": [0.5] * 4}, "holds a column entropy"),
        (GRID | {"z": Z, "layer": [0, 0, 0, 1]}, "not all layers and heads in order"),
        (GRID | {"z": Z, "layer": [0, 0, 2**31 - 1, 1]}, "not all layers and heads in order"),
        (GRID | {"z": Z, "layer": [0, 0, -1, 1]}, "holds a negative number"),
        (GRID | {"z": Z, "layer": [0, 0, None, 1]}, "no layers and heads"),
        ({"layer": [], "head": [], "z": Z[:0]}, "no layers and heads"),
        (GRID | {"z": Z, "a_mean": [np.nan] * 4, "a_sd": [0.0] * 4}, "a_mean holds what is no number"),
        (GRID | {"z": Z, "a_mean": [np.inf] * 4, "a_sd": [0.0] * 4}, "a_mean holds what is no number"),
        (GRID | {"z": pa.array([[1], [1], [1], [1, 2]], TYPES["z"])}, "lists of several lengths"),
        (GRID | {"z": pa.array([[np.nan]] * 4, TYPES["z"])}, "z holds what is no number"),
        (GRID | {"z": pa.array([None] * 4, TYPES["z"])}, "z holds what is no number"),
        (GRID | {"z": pa.array([["1"]] * 4)}, r"z holds list<.*string>"),
        (GRID | {"z": Z, "more": pa.array([b"\x80\x04."] * 4)}, "more holds binary"),
        (GRID | {"z": Z, "more": pa.array([{"a": 1}] * 4)}, "more holds struct"),
        (GRID | {"z": Z, "more": UUIDS}, "more holds .*, not float"),
        (GRID | {"z": Z, "layer": pa.array(["0"] * 4)}, "layer holds string, not int32"),
    ],
)
def test_columns_that_do_not_fit_are_refused_in_one_sentence(tmp_path, columns, message):
    put(tmp_path / "named" / HEADS, columns)
    with pytest.raises(ValueError, match=rf"^named/heads\.parquet cannot be read: .*{message}"):
        read_heads(tmp_path / "named" / HEADS)


@pytest.mark.parametrize(
    "source",
    [
        None,
        [],
        SOURCE | {"n": 0},
        SOURCE | {"n": "4"},
        SOURCE | {"weights": []},
        SOURCE | {"weights": ["w", "v"]},
        SOURCE | {"samples": {"a": -1}},
        SOURCE | {"unknown": 1.5},
        SOURCE | {"unknown": "much"},
        {name: value for name, value in SOURCE.items() if name != "command"},
    ],
)
def test_a_file_says_where_it_comes_from(tmp_path, source):
    put(tmp_path / "named" / HEADS, GRID | {"z": Z}, source)
    with pytest.raises(ValueError, match=r"^named/heads\.parquet cannot be read: ."):
        read_heads(tmp_path / "named" / HEADS)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 100, b"{}", b"\x80\x04N."])
@pytest.mark.parametrize(
    ("name", "read"), [(HEADS, read_heads), (LAYERS, read_layers), (EXAMPLES, read_rows)]
)
def test_what_is_no_parquet_is_refused_in_one_sentence(tmp_path, content, name, read):
    (tmp_path / "named").mkdir()
    path = tmp_path / "named" / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"^named/{name} cannot be read: .") as refused:
        read(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_not_a_file_is_refused_without_its_path(tmp_path, make):
    (tmp_path / "named").mkdir()
    make(tmp_path / "named" / HEADS)
    make(tmp_path / "named" / "against-x.json")
    with pytest.raises(ValueError, match=r"^named/heads\.parquet cannot be read: it is not a file$"):
        read_heads(tmp_path / "named" / HEADS)
    with pytest.raises(ValueError, match=r"^named/against-x\.json cannot be read: it is not a file$"):
        read_comparison(tmp_path / "named" / "against-x.json")


def test_a_file_that_was_cut_is_refused(tmp_path):
    write_results(tmp_path / HEADS, heads())
    content = (tmp_path / HEADS).read_bytes()
    for n in range(0, len(content), 97):
        (tmp_path / HEADS).write_bytes(content[:n])
        with pytest.raises(ValueError, match="cannot be read"):
            read_heads(tmp_path / HEADS)


def test_what_is_too_large_is_refused(tmp_path, monkeypatch):
    put(tmp_path / HEADS, GRID | {"z": Z})
    monkeypatch.setattr(tables, "MOST_ROWS", 3)
    with pytest.raises(ValueError, match="4 rows of 3 columns are more"):
        read_heads(tmp_path / HEADS)
    monkeypatch.setattr(tables, "LARGEST_FILE", 100)
    with pytest.raises(ValueError, match="it is larger than"):
        read_heads(tmp_path / HEADS)


@pytest.mark.parametrize(
    ("number", "dictionary", "message"),
    [(0.0, True, "columns are not plain"), (None, False, "more than an atlas has")],
)
def test_what_unpacks_to_much_is_refused(tmp_path, monkeypatch, number, dictionary, message):
    monkeypatch.setattr(tables, "LARGEST_TABLE", 100_000)
    put(tmp_path / HEADS, GRID | {"z": pa.array([[number] * 100_000] * 4, TYPES["z"])}, dictionary=dictionary)
    assert (tmp_path / HEADS).stat().st_size < 10_000
    with pytest.raises(ValueError, match=message):
        read_heads(tmp_path / HEADS)


def test_endless_words_are_refused(tmp_path):
    table = examples()
    table.rows.loc[0, "before"] = "x" * 3000
    write_results(tmp_path / EXAMPLES, table)
    with pytest.raises(ValueError, match="before lacks words or holds more"):
        read_rows(tmp_path / EXAMPLES)


def test_the_places_of_a_curve_are_in_order(tmp_path):
    columns = {"curve": pa.array(["norm"] * 2), "place": pa.array([0, 2], pa.int32())}
    put(tmp_path / LAYERS, columns | {"mean": [0.0, 1.0], "sd": [0.0, 1.0]})
    with pytest.raises(ValueError, match="places of its curve norm are not in order"):
        read_layers(tmp_path / LAYERS)


# Two encoders


def test_a_comparison_is_read_as_written(tmp_path):
    written = against(((2, 2), (1, 3)))
    write_comparison(tmp_path / "it.json", written)
    np.testing.assert_equal(asdict(read_comparison(tmp_path / "it.json")), asdict(written))
    assert list(tmp_path.iterdir()) == [tmp_path / "it.json"]


def test_five_digits_are_kept(tmp_path):
    distances = Spread(mean=np.full((4, 4), 1 / 3), sd=np.full((4, 4), 1234567.0))
    write_comparison(tmp_path / "it.json", against(distances=distances))
    result = read_comparison(tmp_path / "it.json").distances
    assert (result.mean[0, 0], result.sd[0, 0]) == (0.33333, 1234600)


def test_heads_are_matched_over_the_data_by_hand():
    mean = np.array([[0.9, 0.1], [0.3, 0.2], [0.5, 0.6]])
    comparison = against(((3, 1), (1, 2)), n=10, distances=Spread(mean=mean, sd=mean))
    # 0.1 + 0.3 is less than 0.2 + 0.5 or any other
    assert comparison.pairing.partners.tolist() == [1, 0, -1]
    comparison.alike[:] = [4, 8, 0]
    assert comparison.persisting_share == pytest.approx(0.6)
    assert comparison.distance_by_layer == pytest.approx([0.1, 0.3, np.nan], nan_ok=True)
    exchanged = comparison.exchanged()
    assert exchanged.pairing.partners.tolist() == [1, 0]
    assert exchanged.alike.tolist() == [8, 4]
    assert exchanged.shapes == ((1, 2), (3, 1))
    assert exchanged.source.weights == ("v", "w")
    assert exchanged.persisting_share == comparison.persisting_share


@pytest.mark.parametrize(
    "changes",
    [
        {"shapes": [[2, 2], [2, 3]]},
        {"shapes": [[2, 2]]},
        {"shapes": [[0, 2], [2, 2]]},
        {"alike": [1, 2]},
        {"distances": {"mean": [[None] * 4] * 4, "sd": [[0] * 4] * 4}},
        {"cka": [1, 2]},
        {"halves": -1},
        {"source": {"command": "c", "data": "d", "sha256": "e", "n": 1, "weights": ["a", "b"]}},
    ],
)
def test_a_damaged_comparison_is_refused_in_one_sentence(tmp_path, changes):
    path = tmp_path / "named" / "against-x.json"
    write_comparison(path, against())
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ValueError, match=r"named/against-x\.json cannot be read: ."):
        read_comparison(path)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "[" * 100_000])
def test_what_is_no_json_of_ours_is_refused(tmp_path, content):
    path = tmp_path / comparison_file_name("x")
    path.write_text(content)
    with pytest.raises(ValueError, match=r"against-x\.json cannot be read: ."):
        read_comparison(path)
