"""Files that commit c273c7d wrote, before the folders of the code got their names, open as before.

The records in half precision are of commit 829ac2d, which was the first to write some. `numbers.npz` holds, by name,
what the code of these commits read from the files.
"""

from pathlib import Path

import numpy as np
import pytest

from model.atlas.results import (
    COLUMNS_BY_FILE,
    HEADS,
    LAYERS,
    RELATIONS,
    read_comparison,
    read_heads,
    read_layers,
    read_rows,
)
from model.capture import capture
from model.checkpoint import load, predictions
from model.checkpoint.training_history import all_figures, tasks
from model.checkpoint.training_log import logged_values
from model.checkpoint.training_recording import read_recording
from model.record import ForwardRecord
from model.record.record_file import HALF, read_file

SAVED = Path(__file__).parent / "saved_before"
TEXT = "a great films [MASK] x"


@pytest.fixture(scope="module")
def numbers() -> dict[str, np.ndarray]:
    with np.load(SAVED / "numbers.npz") as file:
        return dict(file)


def named(numbers: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The arrays whose name begins with `name` and a dot, without both."""
    prefix = f"{name}."
    chosen = {key.removeprefix(prefix): values for key, values in numbers.items() if key.startswith(prefix)}
    assert chosen
    return chosen


@pytest.mark.parametrize(
    "file", ["text.npz", "text.safetensors", "digit.npz", "digit.safetensors", "bert.npz", "vit.npz"]
)
def test_a_whole_record_opens_with_the_same_numbers(file: str, numbers: dict[str, np.ndarray]) -> None:
    read = read_file(SAVED / file)
    assert isinstance(read.record, ForwardRecord)
    for name, values in named(numbers, file.partition(".")[0]).items():
        np.testing.assert_array_equal(getattr(read.record, name), values)
    if file.startswith("digit"):
        np.testing.assert_array_equal(read.picture, numbers["picture"])
    assert read.record.config.family.name == {"bert": "BERT", "vit": "ViT"}.get(file[:-4], "")


@pytest.mark.parametrize("kind", [".npz", ".safetensors"])
def test_a_record_in_half_precision_opens_with_the_rounded_numbers(
    kind: str, numbers: dict[str, np.ndarray]
) -> None:
    read = read_file(SAVED / f"text-half{kind}")
    assert isinstance(read.record, ForwardRecord)
    assert read.settings["precision"] == HALF
    for name, values in named(numbers, "text").items():
        np.testing.assert_allclose(getattr(read.record, name), values, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("kind", [".npz", ".safetensors"])
def test_a_record_of_attention_alone_opens(kind: str, numbers: dict[str, np.ndarray]) -> None:
    record = read_file(SAVED / f"text-attention{kind}").record
    assert not isinstance(record, ForwardRecord)
    np.testing.assert_array_equal(record.pattern, numbers["text.pattern"])
    assert record.tokens[:3] == ("[CLS]", "a", "great")


@pytest.mark.parametrize("name", ["text", "digit"])
def test_a_checkpoint_opens_and_computes_the_same(name: str, numbers: dict[str, np.ndarray]) -> None:
    record = capture(load(SAVED / name, "cpu"), TEXT if name == "text" else numbers["picture"])
    for field, values in named(numbers, name).items():
        # Another processor rounds sums otherwise: by a part of their largest terms, however small a sum is.
        np.testing.assert_allclose(
            getattr(record, field), values, rtol=1e-5, atol=1e-6 * max(1.0, float(np.abs(values).max()))
        )


def test_history_and_recording_of_a_training_open(numbers: dict[str, np.ndarray]) -> None:
    loaded = load(SAVED / "text", "cpu")
    film = read_recording(loaded)
    assert film is not None
    assert tasks(loaded.history) == film.tasks == ("masked tokens", "sentiment")
    for name, stored in {"run_step": "at", "accuracy": "accuracy", "gradient_norm": "gradient_norm"}.items():
        np.testing.assert_array_equal(getattr(film, name), numbers[f"film.{stored}"])
    np.testing.assert_array_equal(film.probes[0].pattern, numbers["film.pattern"])
    assert [figures["data"] for figures in all_figures(loaded.history)] == ["thirty films", "ten films"]
    assert logged_values(loaded.history, "loss")["value"].tolist() == [2.5, 2.25, 0.75]


def test_predictions_open() -> None:
    answers = predictions(str(SAVED / "digit"))
    assert answers is not None
    assert answers["predicted"].tolist() == [0, 1, 2, 3, 4]
    assert answers["loss"].tolist() == [0, 0.25, 0.5, 0.75, 1]


def test_what_was_measured_over_data_opens(numbers: dict[str, np.ndarray]) -> None:
    heads, layers = read_heads(SAVED / "text" / HEADS), read_layers(SAVED / "text" / LAYERS)
    against = read_comparison(SAVED / "text" / "against-other-text.json")
    assert heads is not None
    assert layers is not None
    assert against is not None
    assert heads.source.data == layers.source.data == against.source.data == "six films"
    arrays = {"heads.z": heads.z, "against.alike": against.alike, "against.cka": against.cka}
    for prefix, spreads in (("heads", heads.spreads), ("layers", layers.curves)):
        for name, spread in spreads.items():
            arrays |= {f"{prefix}.{name}.mean": spread.mean, f"{prefix}.{name}.sd": spread.sd}
    arrays |= {"against.mean": against.distances.mean, "against.sd": against.distances.sd}
    kept = {name for name in numbers if name.startswith(("heads.", "layers.", "against."))}
    assert kept == set(arrays)
    for name, values in arrays.items():
        np.testing.assert_array_equal(values, numbers[name])


# Relations were not measured then.
@pytest.mark.parametrize("file", [file for file in COLUMNS_BY_FILE if file != RELATIONS])
def test_tables_open_with_the_same_rows(file: str, numbers: dict[str, np.ndarray]) -> None:
    table = read_rows(SAVED / "text" / file)
    assert table is not None
    for column, values in named(numbers, file).items():
        np.testing.assert_array_equal(table.rows[column].to_numpy(float), values)
