"""The table in memory is that of the file of results."""

from pathlib import Path

import pandas as pd
import pytest

from model.atlas.head_relations import head_relations
from model.atlas.linked_inputs import linked_examples
from model.atlas.measure_dataset import measure_relations
from model.atlas.results import read_rows
from model.checkpoint import load, save
from model.loaded import Loaded
from tests.model import tiny


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder, made = tmp_path_factory.mktemp("encoder"), tiny.loaded(tiny.TEXT)
    save(folder / "it", made.model, {}, made.tokenizer)
    return load(folder / "it", "cpu")


def links(folder: Path, *texts: str) -> Path:
    lines = [f"{text},1,2,near\n{text},3,1,far" for text in texts]
    (folder / "links.csv").write_text("\n".join(["text,from,to,relation", *lines]))
    return folder / "links.csv"


def test_the_rows_are_those_of_the_stored_results(encoder: Loaded, tmp_path: Path) -> None:
    file = links(tmp_path, *(f"{first} not a film" for first in 300 * ("great", "x", "b")))
    for limit in (None, 300):
        stored = read_rows(
            measure_relations(encoder, linked_examples(encoder, file, limit), tmp_path / str(limit), "")
        )
        assert stored is not None
        pd.testing.assert_frame_equal(head_relations(encoder, str(file), limit), stored.rows)


def test_a_file_without_links_that_can_be_counted_is_refused(encoder: Loaded, tmp_path: Path) -> None:
    beyond = " ".join("abcdefghijklmnop"[:14])
    (tmp_path / "links.csv").write_text(f"text,from,to,relation\n{beyond},13,14,near")
    with pytest.raises(
        ValueError,
        match=r"links\.csv could be counted: 1 of 1 links is left out: 1 with a word beyond the length",
    ):
        head_relations(encoder, tmp_path / "links.csv")
    (tmp_path / "links.txt").write_text("")
    with pytest.raises(ValueError, match="its name must end in"):
        head_relations(encoder, tmp_path / "links.txt")
