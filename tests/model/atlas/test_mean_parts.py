"""The parts of answers over a data set, beside those of each example computed alone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model.atlas.dataset_examples import Shard
from model.atlas.mean_parts import MeanParts, mean_parts_rows
from model.atlas.parquet import DataSource
from model.atlas.results import PARTS, ResultTable, read_rows, write_results
from model.atlas.running_moments import Arrays
from model.checkpoint import load, weights_hash
from model.decompositions.answer_parts import answer_parts
from model.inputs import as_input
from model.loaded import Loaded
from tests.model import tiny

TEXTS = ("great film", "not a great film", "x y z", "great films not x y")


def measured(loaded: Loaded, texts: tuple[str, ...]) -> Arrays:
    shard = Shard(number=0, numbers=tuple(range(len(texts))), inputs=tuple(map(as_input, texts)))
    steps: list[int] = []
    arrays = MeanParts().measure_shard(loaded, shard, steps.append)
    assert sum(steps) == len(texts)
    return arrays


@pytest.mark.parametrize("config", [tiny.TEXT, replace(tiny.TEXT, class_names=())])
def test_means_over_two_shards_are_those_of_the_examples(config, tmp_path):
    loaded = tiny.loaded(config)
    arrays = MeanParts().merged(measured(loaded, TEXTS[:1]), measured(loaded, TEXTS[1:]))
    source = DataSource(command="c", data="d", sha256="e", n=4, weights=("w",))
    write_results(tmp_path / PARTS, ResultTable(source=source, rows=mean_parts_rows(arrays, loaded.config)))
    rows = read_rows(tmp_path / PARTS).rows
    frames = [answer_parts(loaded, text).frame.dropna(subset="layer") for text in TEXTS]
    assert rows["kind"].tolist() == ["head", "head", "feed-forward"] * 2 == frames[0]["kind"].tolist()
    for name in ("layer", "head"):
        assert rows[name].astype("Int64").equals(frames[0][name].reset_index(drop=True))
    values = np.array([frame["value"] for frame in frames])
    np.testing.assert_allclose(rows["mean"], values.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(rows["sd"], values.std(axis=0, ddof=1), atol=1e-6)
    np.testing.assert_allclose(rows["mean_abs"], np.abs(values).mean(axis=0), atol=1e-6)
    assert rows["n"].tolist() == [4] * 6


def test_an_example_that_cannot_be_read_is_named():
    loaded = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    loaded.tokenizer.post_processor = None
    with pytest.raises(ValueError, match="example 1: tiny finds no token in this text"):
        measured(loaded, ("great", " "))


@pytest.mark.parametrize("name", ["imdb-pre-ln", "imdb-post-ln"])
def test_the_stored_parts_are_of_the_weights_that_are_shipped(name):
    """Of pre-LN every layer has a say, of post-LN the last."""
    folder = Path("checkpoints") / name
    table = read_rows(folder / PARTS)
    assert table.source.weights == (weights_hash(folder),)
    config = load(folder).config
    assert len(table.rows) == config.n_layers * (config.n_heads + 1)
    assert set(table.rows["n"]) == {table.source.n} == {256}
    share = table.rows.query("layer < 2")["mean_abs"].sum() / table.rows["mean_abs"].sum()
    assert share > 0.1 if name == "imdb-pre-ln" else share < 0.05
