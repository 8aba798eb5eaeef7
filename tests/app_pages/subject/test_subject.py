import shutil

import numpy as np
import pytest
from safetensors.numpy import save_file

from app_pages.subject import cache, encoders, shipped_inputs
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.inputs import Picture, Text

DIGIT = Picture.of(np.arange(784, dtype=np.uint8).reshape(28, 28))


@pytest.mark.usefixtures("checkpoints")
def test_a_record_is_made_once_and_cannot_be_written_to():
    record = LiveSubject("imdb-pre-ln", Text("great film")).record
    assert LiveSubject("imdb-pre-ln", Text("great film")).record is record
    assert LiveSubject("imdb-post-ln", Text("great film")).record is not record
    with pytest.raises(ValueError, match="read-only"):
        record.pattern[0, 0, 0, 0] = 1


@pytest.mark.usefixtures("checkpoints")
@pytest.mark.parametrize("text", ["\x00", "great " * 20_000])
def test_any_text_becomes_a_record(text):
    assert np.isfinite(LiveSubject("imdb-pre-ln", Text(text)).record.pattern).all()


@pytest.mark.usefixtures("checkpoints")
def test_the_tokens_beyond_the_encoder_are_named():
    # of 12 positions two are [CLS] and [SEP]
    assert (
        LiveSubject("imdb-pre-ln", Text("great " * 15)).left_out_phrase
        == "last 5 tokens: its tokenizer keeps the beginning"
    )
    assert (
        LiveSubject("imdb-pre-ln", Text("great " * 11)).left_out_phrase
        == "last token: its tokenizer keeps the beginning"
    )
    assert LiveSubject("imdb-pre-ln", Text("great")).left_out_phrase == ""
    assert LiveSubject("mnist-pre-ln", DIGIT).left_out_phrase == ""


def test_checkpoints_are_listed_by_what_they_take(checkpoints):
    assert encoders.checkpoints(encoders.TEXT) == ["imdb-pre-ln", "imdb-post-ln"]
    (checkpoints / "imdb-pre-ln" / "config.json").write_text("{")
    assert encoders.checkpoints(encoders.TEXT) == ["imdb-pre-ln", "imdb-post-ln"]
    assert encoders.checkpoints(encoders.DIGIT) == ["imdb-pre-ln", "mnist-pre-ln", "mnist-post-ln"]


def test_a_pair_is_the_same_name_with_either_ending(checkpoints):
    both = ("mnist-pre-ln", "mnist-post-ln")
    assert encoders.pair("mnist-pre-ln") == encoders.pair("mnist-post-ln") == both
    (checkpoints / "mnist-post-ln").rename(checkpoints / "mnist")
    assert encoders.pair("mnist-pre-ln") is None
    assert encoders.pair("mnist") is None


def test_damaged_predictions_count_as_none(checkpoints):
    (checkpoints / "mnist-pre-ln" / "predictions.safetensors").write_bytes(b"{")
    assert encoders.predictions("mnist-pre-ln") is None
    assert len(encoders.predictions("mnist-post-ln")["loss"]) == 10_000
    of_two = {"predicted": np.array([7, 2], np.uint8), "loss": np.array([0.5, 1], np.float32)}
    save_file(of_two, checkpoints / "mnist-post-ln" / "predictions.safetensors")
    cache.clear()  # nothing else of the checkpoint has changed
    assert encoders.predictions("mnist-post-ln") is None
    with pytest.raises(ValueError, match=r"^mnist-pre-ln/predictions.safetensors cannot be read"):
        checkpoint.predictions("mnist-pre-ln")


def test_the_test_digits_are_there_and_read_only():
    images, labels = shipped_inputs.test_digits()
    assert (images.shape, labels.shape) == ((10_000, 28, 28), (10_000,))
    assert not images.flags.writeable
    assert not labels.flags.writeable


def test_pairs_come_first(checkpoints):
    shutil.copytree(checkpoints / "imdb-pre-ln", checkpoints / "an-encoder")
    assert encoders.checkpoints(encoders.TEXT) == ["imdb-pre-ln", "imdb-post-ln", "an-encoder"]
    assert encoders.checkpoints(encoders.DIGIT) == ["mnist-pre-ln", "mnist-post-ln"]
