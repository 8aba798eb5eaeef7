from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import torch

from model.capture import capture
from model.checkpoint import load
from model.inputs import Picture, Text, as_input, prepare, reads_pairs
from tests.model import tiny
from tests.model.huggingface.folders import build
from tests.model.tiny import DIGIT, TEXT

COLOUR = replace(DIGIT, n_channels=3)


@pytest.fixture
def coloured() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (8, 8, 3), dtype=np.uint8)


def test_inputs_are_values(image):
    assert Text("film") == Text("film") != Text("films")
    assert Picture.of(image) == Picture.of(image.copy()) != Picture.of(255 - image)
    assert len({Text("film"), Text("film"), Picture.of(image), Picture.of(image.copy())}) == 2
    # the same bytes in another shape are another picture
    assert Picture.of(image) != Picture.of(image.reshape(4, 16))
    with pytest.raises(FrozenInstanceError):
        Text("film").text = "other"


@pytest.mark.parametrize("shape", [(8, 8), (3, 5), (1, 1), (4, 2, 3)])
def test_a_picture_gives_its_array_back_read_only(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    picture = Picture.of(pixels)
    np.testing.assert_array_equal(picture.array, pixels)
    np.testing.assert_array_equal(Picture.of(pixels.swapaxes(0, 1)).array, pixels.swapaxes(0, 1))
    with pytest.raises(ValueError, match="read-only"):
        picture.array[0] = 0


def test_a_picture_keeps_what_it_was_made_of(image):
    picture, before = Picture.of(image), image.copy()
    image[:] = 0
    np.testing.assert_array_equal(picture.array, before)


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((8, 8)),
        np.zeros((8, 8, 1), np.uint8),
        np.zeros((8, 8, 4), np.uint8),
        np.zeros(8, np.uint8),
        np.zeros((0, 8), np.uint8),
    ],
)
def test_what_is_no_picture_is_refused(wrong):
    with pytest.raises(ValueError, match=r"a picture must be uint8 of \[height, width\] or .*, got"):
        as_input(wrong)


def test_strings_arrays_and_inputs_come_to_the_same(text_loaded, digit_loaded, image):
    for loaded, plain, value in (
        (text_loaded, "great film", Text("great film")),
        (digit_loaded, image, Picture.of(image)),
    ):
        assert as_input(plain) == as_input(value) == value
        (inputs, positions), (expected, others) = prepare(loaded, plain), prepare(loaded, value)
        assert torch.equal(inputs, expected)
        assert positions == others
        np.testing.assert_array_equal(capture(loaded, plain).logits, capture(loaded, value).logits)


def test_what_stands_at_the_positions_of_a_text(text_loaded):
    inputs, positions = prepare(text_loaded, "Great films [MASK] 🎬 [PAD]")
    assert positions.tokens == ("[CLS]", "great", "film", "##s", "[MASK]", "[UNK]", "[PAD]", "[SEP]")
    roles = ("class", "word", "word", "continuation", "mask", "unknown", "padding", "separator")
    assert positions.roles == roles
    assert (positions.unit, positions.units) == ("token", "tokens")
    assert positions.labels[2:4] == ("2 film", "3 ##s")
    assert positions.pieces == positions.tokens
    assert positions.without_prefix(positions.tokens)[2:4] == ("film", "s")
    assert (positions.patch_grid, positions.first_patch, len(positions)) == (None, 0, 8)
    assert inputs.shape == (1, 8)


def test_what_stands_at_the_positions_of_a_picture(digit_loaded, image):
    _, positions = prepare(digit_loaded, image)
    assert positions.tokens == positions.labels == positions.pieces
    assert positions.tokens == ("[CLS]", "r0c0", "r0c1", "r1c0", "r1c1")
    assert positions.roles == ("class", "patch", "patch", "patch", "patch")
    assert (positions.unit, positions.units) == ("patch", "patches")
    assert (positions.patch_grid, positions.first_patch) == ((2, 2), 1)
    _, without = prepare(tiny.loaded(replace(DIGIT, pooling="mean", n_positions=4)), image)
    assert without.roles == ("patch",) * 4
    assert without.first_patch == 0


def test_a_coloured_picture_goes_into_an_encoder_of_colours(coloured):
    loaded = tiny.loaded(COLOUR)
    inputs, _ = prepare(loaded, coloured)
    assert inputs.shape == (1, 3, 8, 8)
    np.testing.assert_allclose(inputs[0].permute(1, 2, 0), coloured / 255, atol=1e-6)
    record = capture(loaded, coloured)
    assert np.isfinite(record.logits).all()
    assert not np.array_equal(record.logits, capture(loaded, coloured[..., ::-1].copy()).logits)


def test_colours_and_grey_levels_take_each_others_place(coloured, image):
    grey, colour = tiny.loaded(DIGIT), tiny.loaded(COLOUR)
    brightness = coloured @ np.array([0.299, 0.587, 0.114])
    np.testing.assert_allclose(prepare(grey, coloured)[0][0], brightness / 255, atol=1e-6)
    repeated = np.stack([image] * 3, axis=-1)
    assert torch.equal(prepare(colour, image)[0], prepare(colour, repeated)[0])
    np.testing.assert_allclose(prepare(grey, repeated)[0], prepare(grey, image)[0], atol=1e-6)


def test_a_picture_of_any_size_is_resized(coloured):
    white = np.full((5, 17, 3), 255, np.uint8)
    assert torch.equal(prepare(tiny.loaded(COLOUR), white)[0], torch.ones(1, 3, 8, 8))
    assert prepare(tiny.loaded(DIGIT), coloured[:3])[0].shape == (1, 8, 8)


def test_two_texts_are_for_encoders_of_pairs(tmp_path):
    build(tmp_path / "pairs", "BertModel")
    pairs = load(tmp_path / "pairs")
    assert reads_pairs(pairs)
    tokens = ("[CLS]", "the", "film", "[SEP]", "a", "story", "[SEP]")
    assert prepare(pairs, Text("the film", "a story"))[1].tokens == tokens
    pairs.tokenizer.post_processor = tiny.tokenizer(40).post_processor  # without a form for two texts
    for loaded in (pairs, tiny.loaded(TEXT)):
        assert not reads_pairs(loaded)
        with pytest.raises(ValueError, match=f"^{loaded.name} reads one text, got two"):
            prepare(loaded, Text("the film", "a story"))


def test_a_text_without_a_token_is_refused():
    loaded = tiny.loaded(TEXT)
    loaded.tokenizer.post_processor = None
    with pytest.raises(ValueError, match="tiny finds no token in this text"):
        prepare(loaded, " ")
