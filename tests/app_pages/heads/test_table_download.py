import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app_pages.controls.heads_controls import HERE, OVER
from app_pages.heads.numbers import Head, HeadNumbers
from app_pages.heads.table_download import TableFile
from app_pages.subject.answer import whole_answer
from model.atlas.parquet import DataSource
from model.atlas.results import HeadResults
from model.atlas.running_moments import Spread
from model.record.from_arrays import from_arrays
from viz.heads.relation_charts import BestHead

RECORD = from_arrays(np.full((1, 2, 2, 2), 0.5), ["a", "film"])
ENTROPY, DISTANCE = np.array([[0.25, 0.125]]), np.array([[1.5, 12.0]])
HEADS = [Head(0, 1, ()), Head(0, 0, ())]
MEASURES = ["entropy", "distance"]


def numbers(chosen_data: str = HERE, *, stored: bool = False) -> HeadNumbers:
    results = None
    if stored:
        source = DataSource(
            command="python -m model.atlas", data="40 texts", sha256="0", n=40, weights=("0",)
        )
        spreads = {"entropy": Spread(mean=np.array([[0.5, 0.75]]), sd=np.array([[0.01, 0.02]]))}
        results = HeadResults(source=source, spreads=spreads, z=np.zeros((1, 2, 4), np.float32))
    on_this_input = {"entropy": ENTROPY, "distance": DISTANCE}
    return HeadNumbers(
        record=RECORD,
        on_this_input=on_this_input,
        stored=results,
        chance=None,
        chosen_data=chosen_data,
        answer=whole_answer(RECORD),
    )


def test_the_csv_holds_all_digits_of_all_heads_in_their_order():
    table = pd.read_csv(io.BytesIO(TableFile(numbers(), HEADS, MEASURES).csv()), keep_default_na=False)
    assert list(table.columns) == ["layer", "head", "role", "entropy", "distance (tokens)"]
    assert table[["layer", "head"]].to_numpy().tolist() == [[0, 1], [0, 0]]
    assert table["entropy"].tolist() == [0.125, 0.25]
    assert table["distance (tokens)"].tolist() == [12.0, 1.5]


def test_with_a_data_set_there_is_a_column_each_for_this_input_mean_and_deviation():
    table = TableFile(numbers(stored=True), HEADS, MEASURES).every_number()
    assert table["entropy, this input"].tolist() == [0.125, 0.25]
    assert table["entropy, mean"].tolist() == [0.75, 0.5]
    assert table["entropy, standard deviation"].tolist() == [0.02, 0.01]
    assert table["distance (tokens), this input"].tolist() == [12.0, 1.5]
    assert "distance (tokens), mean" not in table


@pytest.mark.parametrize(("chosen_data", "expected"), [(HERE, [0.125, 0.25]), (OVER, [0.75, 0.5])])
def test_the_table_in_latex_holds_what_the_page_compares(chosen_data, expected):
    table = TableFile(numbers(chosen_data, stored=True), HEADS, ["entropy"]).compared_numbers()
    assert table["head"].tolist() == ["L0 H1", "L0 H0"]
    assert table["entropy"].tolist() == expected


def test_latex_is_written_with_the_digits_that_a_column_needs():
    lines = TableFile(numbers(), HEADS, MEASURES).latex().decode().splitlines()
    assert lines[4] == "head & role & entropy & distance (tokens) \\\\"
    assert [line.rpartition(" & ")[2] for line in lines[6:8]] == ["$12.0$ \\\\", "$1.5$ \\\\"]
    assert [line.split(" & ")[2] for line in lines[6:8]] == ["$0.125$", "$0.250$"]


def test_what_a_head_adds_keeps_its_sign_in_both_files():
    signed = replace(numbers(), on_this_input={"adds": np.array([[-1.25, 0.5]])})
    table = TableFile(signed, HEADS, ["adds"])
    assert pd.read_csv(io.BytesIO(table.csv()))["adds to the answer"].tolist() == [0.5, -1.25]
    assert [line.split(" & ")[2] for line in table.latex().decode().splitlines()[6:8]] == [
        "$0.50$ \\\\",
        "$-1.25$ \\\\",
    ]


def followed(relation: str, share: float, direction: str = "to head") -> BestHead:
    return BestHead(
        relation=relation,
        layer=0,
        head=1,
        direction=direction,
        share=share,
        low=share,
        high=share,
        baseline=0.1,
        offset=1,
        n=40,
        beyond=True,
    )


def test_where_relations_were_measured_the_files_have_a_column_for_them():
    relations = followed("case", 0.875), followed("obl", 0.5, "to dependent")
    heads = [Head(0, 1, (), relations), HEADS[1]]
    file = TableFile(numbers(), heads, MEASURES, "250 sentences")
    table = pd.read_csv(io.BytesIO(file.csv()), keep_default_na=False)
    assert list(table.columns)[:4] == ["layer", "head", "role", "relation"]
    assert table["relation"].tolist() == ["case to head 0.8750, obl to dependent 0.5000", ""]
    rows = file.latex().decode().splitlines()[6:8]
    assert [row.split(" & ")[2] for row in rows] == [r"case 88 \%", ""]


def test_below_the_table_in_latex_stands_what_was_measured():
    assert TableFile(numbers(), HEADS, MEASURES).note == "Numbers of one input."
    over_data = TableFile(numbers(OVER, stored=True), HEADS, MEASURES, encoder="imdb-pre-ln")
    assert over_data.note == "Means over 40 40 texts, encoder imdb-pre-ln."
    with_relations = TableFile(numbers(), HEADS, MEASURES, "250 sentences").note
    assert with_relations.endswith("share of its links that the head follows, over 250 sentences.")
