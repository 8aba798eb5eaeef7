import json

import pytest

from model.claims.measurements import COMMAND, read_measurements, write_measurements
from tests.model.claims.invented_measurements import invented, of_every_claim


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "claims.json"
    write_measurements(path, of_every_claim())
    assert read_measurements(path) == of_every_claim()
    assert json.loads(path.read_text())["command"] == COMMAND
    assert list(tmp_path.iterdir()) == [path]


def test_no_file_is_nothing_measured(tmp_path):
    assert read_measurements(tmp_path / "claims.json") == []


@pytest.mark.parametrize(
    ("pre", "across"), [((1.0,), None), ((1.0, 2.0, float("nan")), None), ((1.0, 2.0, 3.0), (1.0,) * 8)]
)
def test_values_that_do_not_fit_are_refused(pre, across):
    with pytest.raises(ValueError, match="stream growth, encoders"):
        invented(pre, (1.0, 2.0, 3.0), across=across, seeds=(0, 1, 2))


def row(**changes):
    return json.loads(json.dumps({"figure": "a", "source": "fresh", "where": "b", "n": 3, "of": "c"})) | {
        "seeds": [0, 1],
        "pre": [1, 2.5],
        "post": [1, 2],
        **changes,
    }


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        json.dumps({"command": "c"}),
        json.dumps({"command": "c", "measured": [row(pre=[1])]}),
        json.dumps({"command": "c", "measured": [row(pre=["1", 2])]}),
        json.dumps({"command": "c", "measured": [row(source="guessed")]}),
        json.dumps({"command": "c", "measured": [row(seeds=[])]}),
        json.dumps({"command": "c", "measured": [row(verdict="holds")]}),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, content):
    path = tmp_path / "claims.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"claims\.json cannot be read: ."):
        read_measurements(path)


def test_whole_numbers_are_numbers(tmp_path):
    path = tmp_path / "claims.json"
    path.write_text(json.dumps({"command": "c", "measured": [row()]}))
    assert read_measurements(path)[0].pre == (1.0, 2.5)
