"""The training command as it is used: killed and resumed, shared between processes, refused."""

import gzip
import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from safetensors.torch import load as deserialize

from model.capture import capture
from model.checkpoint import load
from model.inputs.digits import examples
from tests.full_disk import FULL, full_after
from tests.model.train.conftest import ROOT, command, environment, run
from tests.refused import refused
from tests.tolerance import rounding

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["mnist-pre-ln", "imdb-post-ln"])
def test_killed_run_ends_with_the_same_weights(name, data, trained, run_here, tmp_path):
    arguments = command(name, data[name], tmp_path)
    # The tokenizers library orders letters of equal frequency at random: both runs begin with one vocabulary.
    copy_prepared(trained(name).parent, tmp_path)
    killed = subprocess.Popen(arguments, cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True)
    evaluations = (line for line in killed.stderr if "'accuracy'" in line)
    for _ in range(3):  # of twenty in the first phase
        next(evaluations)
    killed.send_signal(signal.SIGKILL)
    killed.stderr.close()
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / name).exists()
    run_here(arguments)

    for file in ("model.safetensors", "film.safetensors.gz"):
        assert (tmp_path / name / file).read_bytes() == (trained(name) / file).read_bytes()
    assert history(tmp_path / name) == history(trained(name))


@pytest.mark.slow
def test_trained_checkpoint_opens_and_has_its_film(trained):
    loaded = load(trained("mnist-pre-ln"), "cpu")
    record = capture(loaded, examples()[0][0])
    film = deserialize(gzip.decompress((trained("mnist-pre-ln") / "film.safetensors.gz").read_bytes()))
    moments = len(film["step"])
    assert moments >= 15
    assert film["pattern.0"].shape == (moments, *record.pattern.shape)
    assert film["residual_norm.1"].shape == (moments, len(record.stages))
    assert film["gradient_norm"].shape == (moments, loaded.config.n_layers)
    assert film["entropy.0"].shape == (moments, loaded.config.n_layers, loaded.config.n_heads)
    assert (film["gradient_norm"] > 0).all()
    losses = [entry["loss"] for entry in loaded.history["log"]]
    assert losses[-1] < losses[0]
    assert loaded.history["recipe"]["quick"]
    assert loaded.history["precision"] == "fp32"
    assert loaded.history["data"] == {"name": "MNIST", "train": 54, "held_out": 6}


@pytest.mark.parametrize("name", ["mnist-pre-ln", "imdb-post-ln"])
def test_two_processes_take_the_steps_of_one(name, data, trained, tmp_path):
    copy_prepared(trained(name).parent, tmp_path)
    run(command(name, data[name], tmp_path, processes=2))
    one, two = (history(folder)["log"][0] for folder in (trained(name), tmp_path / name))
    # The first batch of the same weights: a mean over two halves, whose terms are added in another order.
    assert two["gradient_norm"] == pytest.approx(one["gradient_norm"], rel=1e-4)
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)


def test_state_of_another_recipe_is_refused(data, trained, run_here, tmp_path, capsys):
    shutil.copytree(
        trained("mnist-pre-ln").parent / "runs" / "mnist-pre-ln-quick",
        tmp_path / "runs" / "mnist-post-ln-quick",
    )
    capsys.readouterr()  # of the training, where this test is the first that needs it
    arguments = command("mnist-post-ln", data["mnist-post-ln"], tmp_path)
    with refused(capsys, "is of a run by another recipe; --fresh starts over"):
        run_here(arguments)


def test_a_run_that_was_killed_before_it_was_written_is_written(data, trained, run_here, tmp_path, capsys):
    name = "mnist-pre-ln"
    runs = shutil.copytree(
        trained(name).parent / "runs" / f"{name}-quick", tmp_path / "runs" / f"{name}-quick"
    )
    (tmp_path / name).mkdir()  # the checkpoint that this run is to replace
    with refused(capsys, "is finished; --fresh starts over"):
        run_here(command(name, data[name], tmp_path))
    (runs / "written").unlink()
    run_here(command(name, data[name], tmp_path))
    assert (tmp_path / name / "model.safetensors").read_bytes() == (
        trained(name) / "model.safetensors"
    ).read_bytes()


@pytest.mark.parametrize("room", [0, 10_000])
def test_on_a_full_disk_a_run_ends_in_one_sentence_and_goes_on_later(
    data, trained, run_here, tmp_path, room, capsys
):
    name = "mnist-pre-ln"
    runs = shutil.copytree(
        trained(name).parent / "runs" / f"{name}-quick", tmp_path / "runs" / f"{name}-quick"
    )
    (runs / "written").unlink()
    shutil.copytree(trained(name), tmp_path / name)
    before = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with full_after(room), refused(capsys, f"^model.train: {FULL}: {tmp_path / name}$"):
        run_here(command(name, data[name], tmp_path))
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    run_here(command(name, data[name], tmp_path))
    assert (runs / "written").exists()


def test_starting_over_leaves_nothing_of_the_run_before(data, trained, run_here, tmp_path):
    name, runs = "mnist-pre-ln", tmp_path / "runs"
    shutil.copytree(trained(name).parent / "runs" / f"{name}-quick", runs / f"{name}-quick")
    (runs / f"{name}-quick" / "state.safetensors").write_bytes(b"damaged")
    arguments = command(name, data[name], tmp_path)
    index = arguments.index("--out")
    run_here([*arguments[:index], *arguments[index + 2 :], "--fresh"])
    # Without --out a quick run is no checkpoint of the app's.
    written = runs / "quick" / name / "model.safetensors"
    assert written.read_bytes() == (trained(name) / "model.safetensors").read_bytes()


@pytest.mark.parametrize("name", ["looker", "imdb-article"])
def test_recipes_of_the_articles_run_through(name, trained):
    loaded = load(trained(name), "cpu")
    model_input = "a good film" if loaded.config.is_text else examples()[0][0]
    assert capture(loaded, model_input).probabilities.sum() == pytest.approx(1, rel=rounding(20))
    assert "published" in loaded.history["recipe"]
    losses = [entry["loss"] for entry in loaded.history["log"]]
    assert losses[-1] < losses[0]


def copy_prepared(one: Path, other: Path) -> None:
    """What the runs of one folder prepared."""
    (other / "runs").mkdir()
    for prepared in (one / "runs").glob("imdb-????????-*"):
        shutil.copytree(prepared, other / "runs" / prepared.name)


def history(folder: Path) -> dict:
    return json.loads((folder / "history.json").read_text(encoding="utf-8"))
