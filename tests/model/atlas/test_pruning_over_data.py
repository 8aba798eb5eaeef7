from pathlib import Path

import numpy as np
import pytest

from model.atlas import pruning_over_data as module
from model.atlas.dataset_examples import Examples, examples_for
from model.atlas.pruning_over_data import LabelledInputs, pruning_rows, split_for_pruning
from model.atlas.run import PartialResult
from model.experiments.pruning import greedy
from model.inputs import Text
from tests.model import tiny
from tests.slow import first_of

CHOOSING = LabelledInputs(("great film", "x y z", "a film"), (1, 1, 1))
JUDGING = LabelledInputs(("not a great film", "great films not x y", "not", "film film"), (0, 0, 0, 1))
MEANS = np.random.default_rng(0).normal(size=(2, 2, 4))


def texts(folder: Path, n: int) -> Examples:
    """Of 1 to `n` letters, every third of them positive."""
    rows = [f"{'a ' * letters},{int(letters % 3 == 0)}" for letters in range(1, n + 1)]
    path = folder / "texts.csv"
    path.write_text("\n".join(["text,label", *rows]))
    return examples_for(tiny.loaded(tiny.TEXT), path)


def numbers(part: LabelledInputs) -> list[int]:
    """Of the examples, from 1."""
    assert all(isinstance(given, Text) for given in part.inputs)
    result = [given.text.count("a") for given in part.inputs]
    assert list(part.labels) == [int(n % 3 == 0) for n in result]
    return result


def test_all_that_do_not_choose_judge(tmp_path):
    choosing, judging = split_for_pruning(tiny.loaded(tiny.TEXT), texts(tmp_path, 12), 6)
    assert numbers(choosing) == [1, 5, 9]  # every second of 1, 3, 5, ...
    assert numbers(judging) == [2, 3, 4, 6, 7, 8, 10, 11, 12]


def test_where_the_sample_is_all_there_is_the_other_half_judges(tmp_path):
    choosing, judging = split_for_pruning(tiny.loaded(tiny.TEXT), texts(tmp_path, 12), 256)
    assert numbers(choosing) == [1, 3, 5, 7, 9, 11]
    assert numbers(judging) == [2, 4, 6, 8, 10, 12]


def test_of_many_some_at_equal_distances_judge(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "JUDGES", 10)
    choosing, judging = split_for_pruning(tiny.loaded(tiny.TEXT), texts(tmp_path, 100), 8)
    assert len(judging.labels) == 10
    assert not set(numbers(choosing)) & set(numbers(judging))
    assert np.diff([0, *numbers(judging), 101]).max() < 25


def test_some_choose_and_others_judge(tmp_path):
    loaded = tiny.loaded(tiny.TEXT)
    rows = pruning_rows(loaded, CHOOSING, JUDGING, MEANS, PartialResult(tmp_path / "it.part"))
    assert rows.how.tolist() == ["zero"] * 5 + ["mean"] * 5
    for how, ways in (("zero", "zero"), ("mean", MEANS.astype(np.float32))):
        steps = list(greedy(loaded, *CHOOSING, ways, judged=JUDGING))
        result = rows[rows.how == how]
        assert result.step.tolist() == [step.step for step in steps]
        assert result.loss.tolist() == pytest.approx([step.loss for step in steps])
        for name in ("accuracy", "turned_wrong", "turned_right"):
            assert result[name].tolist() == [getattr(step, name) for step in steps]
        assert result["layer"].tolist()[1:] == [step.layer for step in steps[1:]]
        assert np.isnan(result["layer"].iloc[0])


@pytest.mark.parametrize("ended_after", first_of([1, 0, 3, 5, 8]))
def test_what_is_ended_goes_on_with_the_next_head(tmp_path, monkeypatch, ended_after):
    loaded = tiny.loaded(tiny.TEXT)
    unbroken = pruning_rows(loaded, CHOOSING, JUDGING, MEANS, PartialResult(tmp_path / "unbroken.part"))
    taken = []

    def ending(*args, **kwargs):
        for step in greedy(*args, **kwargs):
            if len(taken) == ended_after:
                raise KeyboardInterrupt
            taken.append(step)
            yield step

    with monkeypatch.context() as patched:
        patched.setattr(module, "greedy", ending)
        with pytest.raises(KeyboardInterrupt):
            pruning_rows(loaded, CHOOSING, JUDGING, MEANS, PartialResult(tmp_path / "it.part"))
    done, _ = PartialResult(tmp_path / "it.part").load()
    assert done == ended_after
    again = pruning_rows(loaded, CHOOSING, JUDGING, MEANS, PartialResult(tmp_path / "it.part"))
    assert again.equals(unbroken)
