import pytest
import torch

from model.train.recipes import recipe
from model.train.run_state import Progress, load_state, phase_of, save_state
from model.train.step import make_optimizers
from tests.model import tiny

RECIPE = recipe("imdb-pre-ln")
DESCRIBED = {"preset": "imdb-pre-ln", "betas": (0.9, 0.98)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "state.safetensors"


def test_a_run_goes_on_with_what_it_had(path):
    model = tiny.build(tiny.TEXT)
    made = make_optimizers(model, RECIPE, phase=2)
    model(torch.tensor([[2, 5, 3]])).sum().backward()
    for optimizer in made:
        optimizer.step()
    film = {"step": torch.tensor([4])}
    progress = Progress(
        recipe=DESCRIBED, precision="fp32", phase=2, step=5, log=[{"loss": 1.5}], evaluations=[], film=film
    )
    save_state(path, progress, model, made)

    other = tiny.build(tiny.TEXT, seed=1)
    assert phase_of(path) == 2
    others = make_optimizers(other, RECIPE, phase=2)
    loaded = load_state(path, other, others, DESCRIBED)
    assert (loaded.phase, loaded.step, loaded.log, loaded.evaluations) == (2, 5, [{"loss": 1.5}], [])
    assert loaded.precision == "fp32"
    assert torch.equal(loaded.film["step"], film["step"])
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)
    for one, two in zip(made, others, strict=True):
        before, after = one.state_dict()["state"], two.state_dict()["state"]
        assert before.keys() == after.keys()
        assert all(torch.equal(before[key][name], after[key][name]) for key in before for name in before[key])


def test_without_a_file_a_run_begins(path):
    model = tiny.build(tiny.TEXT)
    assert phase_of(path) == 0
    progress = load_state(path, model, make_optimizers(model, RECIPE, phase=2), DESCRIBED)
    assert (progress.phase, progress.step, progress.film, progress.precision) == (0, 0, None, None)
