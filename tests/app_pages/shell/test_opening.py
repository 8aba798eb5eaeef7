import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from PIL import Image

from app_pages.inputs import own_picture
from app_pages.inputs.drawing import code, picture
from app_pages.shell.opening import name_in_app, query_of
from model import checkpoint
from model.sources import locations
from tests.model.huggingface.folders import build


@pytest.fixture(autouse=True)
def _no_root() -> Iterator[None]:
    yield
    locations.use_models_folder(None)


@pytest.fixture
def digit(tmp_path: Path) -> Path:
    """A picture file with a stroke of ink."""
    pixels = np.zeros((40, 40), np.uint8)
    pixels[8:32, 18:22] = 255
    Image.fromarray(pixels).save(tmp_path / "one.png")
    return tmp_path / "one.png"


def parameters(query: str) -> dict[str, str]:
    return {key: value for key, (value,) in parse_qs(query.removeprefix("?")).items()}


def test_a_text_is_read_by_the_encoder_that_is_named():
    assert parameters(query_of(None, "a & b", None)) == {"kind": "Text", "text": "a & b"}
    query = query_of("imdb-post-ln", "ein schöner Film", None)
    assert parameters(query) == {"kind": "Text", "checkpoint": "imdb-post-ln", "text": "ein schöner Film"}
    assert parameters(query_of("mnist-pre-ln", None, None)) == {"kind": "Digit", "checkpoint": "mnist-pre-ln"}


def test_a_picture_is_drawn_for_encoders_of_digits(digit):
    for name in (None, "mnist-pre-ln"):
        query = parameters(query_of(name, None, digit))
        assert (query["kind"], query["source"]) == ("Digit", "Draw")
        expected = picture.from_file(digit.read_bytes())
        np.testing.assert_allclose(code.from_code(query["drawing"]), expected, atol=9)  # 16 grey levels


def test_a_picture_in_colour_is_held_for_every_session(tmp_path, monkeypatch):
    monkeypatch.setattr(own_picture, "_first_picture", None)
    Image.new("RGB", (50, 40), "red").save(tmp_path / "red.png")
    build(tmp_path / "vit", "ViTForImageClassification")
    name, _ = name_in_app(str(tmp_path / "vit"), None)
    query = parameters(query_of(name, None, tmp_path / "red.png"))
    assert query == {"kind": "Picture", "checkpoint": "vit", "source": "Own picture"}
    assert vars(own_picture)["_first_picture"].shape == (40, 50, 3)


@pytest.mark.parametrize(
    ("name", "text", "is_picture", "message"),
    [
        ("mnist-pre-ln", "a film", False, "mnist-pre-ln reads pictures: name one with --picture FILE"),
        ("imdb-pre-ln", None, True, 'imdb-pre-ln reads text: give it with --text "..."'),
        (None, None, True, "This file is not a picture; "),
    ],
)
def test_an_input_that_does_not_fit_is_refused(tmp_path, name, text, is_picture, message):
    file = tmp_path / "a.png"
    file.write_text("no picture")
    with pytest.raises(ValueError, match=message):
        query_of(name, text, file if is_picture else None)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    shutil.copytree(checkpoint.CHECKPOINTS / "imdb-pre-ln", tmp_path / "models" / "team" / "mine")
    return tmp_path / "models"


def test_a_folder_becomes_the_models_folder(models, monkeypatch):
    assert name_in_app(str(models / "team" / "mine"), None) == ("mine", models / "team" / "mine")
    assert locations.find("mine", checkpoint.CHECKPOINTS) == models / "team" / "mine"
    monkeypatch.chdir(models / "team")
    assert name_in_app("mine", None) == ("mine", models / "team" / "mine")
    (models / "team" / "mine").rename(models / "imdb-pre-ln")  # as one of the shipped encoders is called
    name, root = name_in_app(str(models / "imdb-pre-ln"), None)
    assert (name, root) == ("models:imdb-pre-ln", models / "imdb-pre-ln")
    assert locations.find(name, checkpoint.CHECKPOINTS) == models / "imdb-pre-ln"


def test_in_the_models_folder_it_has_its_name_there(models, tmp_path):
    for name in ("team/mine", str(models / "team" / "mine")):
        assert name_in_app(name, models) == ("team/mine", models)
    assert name_in_app("imdb-pre-ln", models) == ("imdb-pre-ln", models)
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="is not in the folder of --models: leave that option out"):
        name_in_app(str(models / "team" / "mine"), tmp_path / "other")


def test_one_of_two_encoders_in_a_folder_is_opened(tmp_path):
    build(tmp_path / "clip", "CLIPModel")
    assert name_in_app(str(tmp_path / "clip" / "text_model"), None) == ("clip/text_model", tmp_path / "clip")


def test_a_folder_with_two_encoders_opens_a_picture_and_texts(tmp_path):
    build(tmp_path / "clip", "CLIPModel")
    name, root = name_in_app(str(tmp_path / "clip"), None)
    assert (name, root) == ("clip", tmp_path / "clip")
    expected = {"kind": "Picture", "checkpoint": "clip/vision_model", "compare_what": "a picture and texts"}
    address = query_of(name, None, None)
    assert address.startswith("compare?")
    assert parameters(address.removeprefix("compare")) == expected
    address = query_of(name, "a cat", None)
    assert parameters(address.removeprefix("compare")) == expected | {"compare_texts": "a cat"}


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        (("config.json",), "model.safetensors is missing"),
        ((), "config.json"),
        (
            ("config.json", "pytorch_model.bin"),
            "pytorch_model.bin is not opened: .*`attention-loupe convert FOLDER`",
        ),
    ],
)
def test_a_folder_that_cannot_be_opened_is_refused_in_one_sentence(tmp_path, kept, message):
    build(tmp_path / "bert", "BertModel")
    (tmp_path / "bert" / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    for path in (tmp_path / "bert").iterdir():
        if path.name not in kept:
            path.unlink()
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        name_in_app(str(tmp_path / "bert"), None)


def test_a_folder_of_this_project_without_weights_is_refused(models):
    (models / "team" / "mine" / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="has no weights"):
        name_in_app(str(models / "team" / "mine"), None)
