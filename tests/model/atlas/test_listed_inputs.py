from pathlib import Path

import numpy as np
import pytest

from model.atlas.dataset_examples import examples_for
from model.atlas.listed_inputs import measure_listed_inputs
from model.atlas.measure_dataset import measure_dataset
from model.atlas.results import HEADS, read_heads
from model.inputs import Text
from tests.model import tiny
from tests.model.atlas.test_measure_dataset import stored

TEXTS = ("great film", "not great", "film", "not great film", "great")


def test_it_is_what_the_command_measures_over_a_file(tmp_path: Path) -> None:
    loaded = stored(tmp_path, tiny.TEXT)
    csv = tmp_path / "texts.csv"
    csv.write_text("\n".join(("text", *TEXTS)))
    measure_dataset(loaded, examples_for(loaded, csv), tmp_path / "out", "command")
    expected = read_heads(tmp_path / "out" / HEADS)
    steps: list[int] = []
    heads = measure_listed_inputs(loaded, list(map(Text, TEXTS)), "own texts", "page", steps.append)
    assert expected is not None
    assert set(heads.spreads) == set(expected.spreads)
    for name, spread in expected.spreads.items():
        np.testing.assert_allclose(heads.spreads[name].mean, spread.mean, rtol=1e-6, err_msg=name)
        np.testing.assert_allclose(heads.spreads[name].sd, spread.sd, rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(heads.z, expected.z, rtol=1e-6)
    assert (heads.source.data, heads.source.n, heads.source.unknown) == (
        "own texts",
        5,
        expected.source.unknown,
    )
    assert heads.source.weights == expected.source.weights
    assert sum(steps) == 5


def test_one_input_has_no_spread(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a spread needs two inputs at least, got 1"):
        measure_listed_inputs(stored(tmp_path, tiny.TEXT), [Text("film")], "a", "b", lambda _: None)
