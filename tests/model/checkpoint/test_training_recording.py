import gzip
import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import save as serialize

from model import checkpoint
from model.checkpoint.training_recording import (
    distances_to_final,
    formation_index,
    formation_step,
    read_recording,
)
from model.train.snapshot import join_snapshots, take_snapshot
from tests.model import tiny
from tests.tolerance import rounding

PROBE = "not great film"
HISTORY = {
    "recipe": {"phases": [{"task": "masked tokens"}, {"task": "sentiment"}]},
    "probes": [PROBE],
    "film_gradients": "before clipping",
}


@pytest.fixture
def filmed(tmp_path, monkeypatch):
    """A checkpoint that was filmed at steps 0 and 4 of one phase and 0 and 2 of the next."""
    monkeypatch.setattr(checkpoint, "CHECKPOINTS", tmp_path)
    loaded = tiny.loaded(tiny.TEXT)
    shots = []
    for phase, step in ((0, 0), (0, 4), (1, 0), (1, 2)):
        loaded.model.zero_grad()
        ids = torch.tensor([loaded.tokenizer.encode(PROBE).ids])
        loaded.model(ids).sum().backward()
        shots.append(take_snapshot(loaded, [PROBE], phase, step, accuracy=step / 10))
        with torch.no_grad():
            for parameter in loaded.model.parameters():
                parameter.mul_(1.1)
    checkpoint.save(tmp_path / "tiny", loaded.model, HISTORY, loaded.tokenizer, join_snapshots(shots))
    return tmp_path / "tiny"


def test_moments_are_counted_from_the_beginning_of_the_run_also_those_when_heads_formed(filmed):
    film = read_recording(checkpoint.load(filmed, "cpu"))
    assert film.run_step.tolist() == [0, 4, 5, 7]
    assert [film.tasks[number] for number in film.phase] == ["masked tokens"] * 2 + ["sentiment"] * 2
    assert film.accuracy.tolist() == pytest.approx([0, 0.4, 0, 0.2])
    assert not film.is_clipped
    (probe,) = film.probes
    assert probe.tokens == ("[CLS]", "not", "great", "film", "[SEP]")
    assert probe.pattern.shape == (4, 2, 2, 5, 5)
    assert film.gradient_norm.shape == (4, 2)
    assert (film.gradient_norm > 0).all()
    (probe,) = film.probes
    assert film.n_steps == 8
    by_hand = [[sum(heads) / 2 for heads in layers] for layers in probe.entropy.astype(float)]
    np.testing.assert_allclose(probe.layer_entropy, by_hand, rtol=rounding(2))
    moments = formation_index(distances_to_final(film.probes[0].pattern))
    assert formation_step(film, 0).tolist() == [[[0, 4, 5, 7][head] for head in layer] for layer in moments]


def test_a_run_that_does_not_say_so_clipped_its_gradients(filmed):
    loaded = checkpoint.load(filmed, "cpu")
    del loaded.history["film_gradients"]
    assert read_recording(loaded).is_clipped


def test_a_film_comes_from_where_the_checkpoint_lies(filmed, tmp_path_factory):
    film = read_recording(checkpoint.load(filmed, "cpu"))
    own = shutil.copytree(filmed, tmp_path_factory.mktemp("own") / filmed.name)
    (filmed / "film.safetensors.gz").unlink()  # the project's, of the same name
    assert read_recording(checkpoint.load(own, "cpu")).run_step.tolist() == film.run_step.tolist()


def test_without_a_film_there_is_none(filmed):
    (filmed / "film.safetensors.gz").unlink()
    assert read_recording(checkpoint.load(filmed, "cpu")) is None


def test_a_film_of_no_input_gives_one_sentence(filmed):
    history = json.loads((filmed / "history.json").read_text())
    (filmed / "history.json").write_text(json.dumps(history | {"probes": []}))
    with pytest.raises(ValueError, match="it names no input that was watched"):
        read_recording(checkpoint.load("tiny", "cpu"))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "content",
    [b"", b"nonsense", gzip.compress(b"nonsense"), gzip.compress(serialize({"step": torch.zeros(2)}))],
    ids=["empty", "not gzipped", "no film", "half a film"],
)
def test_a_damaged_film_gives_one_sentence(filmed, content):
    (filmed / "film.safetensors.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"film|recording") as caught:
        read_recording(checkpoint.load(filmed, "cpu"))
    assert "\n" not in str(caught.value)


def test_a_film_that_unpacks_to_too_much_is_refused(filmed, monkeypatch):
    monkeypatch.setattr(checkpoint, "MAX_RECORDING_BYTES", 100)
    with pytest.raises(ValueError, match="unpacks to more than"):
        read_recording(checkpoint.load(filmed, "cpu"))


def heads(*weights_on_first_key: float) -> np.ndarray:
    """[moment, 1, 1, 1, 2] in 255ths."""
    weights = np.array([[[[[w, 1 - w]]]] for w in weights_on_first_key])
    return (weights * 255).round().astype(np.uint8)


def test_the_way_ends_at_zero_and_is_the_divergence_from_the_last_form():
    way = distances_to_final(heads(0.0, 0.5, 1.0))[:, 0, 0]
    assert way[2] == 0
    assert way[0] == pytest.approx(np.log(2), rel=0.01)  # no key in common
    # JSD of (1/2, 1/2) and (1, 0), the mixture being (3/4, 1/4)
    mixed = 0.5 * (np.log(0.5 / 0.75) / 2 + np.log(0.5 / 0.25) / 2) + 0.5 * np.log(1 / 0.75)
    assert way[1] == pytest.approx(mixed, rel=0.02)


@pytest.mark.parametrize(
    ("way", "moment"),
    [
        ([4, 3, 1, 0], 2),
        ([4, 1, 3, 0], 3),  # it went away again
        ([4, 4, 4, 0], 3),
        ([0, 0, 0, 0], 3),  # it never moved: as far as at first to the end
        ([4, 1, 1, 0], 1),
    ],
)
def test_a_head_has_formed_once_it_stays_less_than_half_as_far(way, moment):
    assert formation_index(np.array(way, float)[:, None, None]).item() == moment


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("accuracy", np.zeros(1, np.float32)),
        ("gradient_norm", np.zeros((4, 1), np.float32)),
        ("pattern.0", np.zeros((4, 1, 2, 5, 5), np.uint8)),
        ("pattern.0", np.zeros((4, 2, 2, 5, 5), np.float32)),
        ("step", np.zeros(4, np.float32)),
    ],
)
def test_a_film_of_another_shape_gives_one_sentence(filmed, name, array):
    arrays = checkpoint.recording_arrays(filmed) | {name: array}
    content = serialize({key: torch.from_numpy(value.copy()) for key, value in arrays.items()})
    (filmed / "film.safetensors.gz").write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match=rf"the recording of tiny does not fit its history: {name} is "):
        read_recording(checkpoint.load(filmed, "cpu"))
