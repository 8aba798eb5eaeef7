import numpy as np
import pytest

from model.atlas import pruned as module
from model.atlas.progress import Progress
from model.atlas.pruned import pruned
from model.pruning import greedy
from tests.model import tiny

TEXTS = ("great film", "not a great film", "x y z", "great films not x y", "a film", "not")
LABELS = (1, 0, 1, 0, 1, 0)
MEANS = np.random.default_rng(0).normal(size=(2, 2, 4))


def test_one_half_chooses_and_the_other_judges(tmp_path):
    loaded = tiny.loaded(tiny.TEXT)
    rows = pruned(loaded, TEXTS, LABELS, MEANS, Progress(tmp_path / "it.part"))
    assert rows.how.tolist() == ["zero"] * 5 + ["mean"] * 5
    for how, ways in (("zero", "zero"), ("mean", MEANS.astype(np.float32))):
        steps = list(greedy(loaded, TEXTS[::2], LABELS[::2], ways, judged=(TEXTS[1::2], LABELS[1::2])))
        found = rows[rows.how == how]
        assert found.step.tolist() == [step.step for step in steps]
        assert found.loss.tolist() == pytest.approx([step.loss for step in steps])
        assert found.accuracy.tolist() == [step.accuracy for step in steps]
        assert found["layer"].tolist()[1:] == [step.layer for step in steps[1:]]
        assert np.isnan(found["layer"].iloc[0])


@pytest.mark.parametrize("ended_after", [0, 1, 3, 5, 8])
def test_what_is_ended_goes_on_with_the_next_head(tmp_path, monkeypatch, ended_after):
    loaded = tiny.loaded(tiny.TEXT)
    unbroken = pruned(loaded, TEXTS, LABELS, MEANS, Progress(tmp_path / "unbroken.part"))
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
            pruned(loaded, TEXTS, LABELS, MEANS, Progress(tmp_path / "it.part"))
    done, _ = Progress(tmp_path / "it.part").load()
    assert done == ended_after
    again = pruned(loaded, TEXTS, LABELS, MEANS, Progress(tmp_path / "it.part"))
    assert again.equals(unbroken)
