import gzip
import struct
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from model.inputs.digits import examples, read_idx, read_mnist, to_input, to_labels, to_pictures
from tests.model.tiny import DIGIT


def idx(values: np.ndarray) -> bytes:
    return struct.pack(f">3sB{values.ndim}I", b"\0\0\x08", values.ndim, *values.shape) + values.tobytes()


IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
LABELS = np.array([7, 1], np.uint8)


def mnist(folder, images=IMAGES, labels=LABELS):
    (folder / "train-images-idx3-ubyte").write_bytes(idx(images))
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(labels)))
    return folder


@pytest.mark.parametrize("name", ["plain", "packed.gz"])
def test_read_idx(tmp_path, name):
    content = idx(IMAGES)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    values = read_idx(tmp_path / name)
    assert values.dtype == np.uint8
    np.testing.assert_array_equal(values, IMAGES)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "not a whole idx file"),
        (b"\0\0\x08", "not a whole idx file"),
        (idx(IMAGES)[:9], "not a whole idx file"),  # in the middle of the sizes
        (idx(IMAGES)[:-1], r"promises \(2, 3, 4\) bytes and holds 23"),
        (idx(IMAGES) + b"\0", r"promises \(2, 3, 4\) bytes and holds 25"),
        (b"\0\0\x0d" + idx(IMAGES)[3:], "not an idx file of bytes"),  # floats
        (b"\x89PNG" + b"\0" * 1000, "not an idx file of bytes"),
        # 2^32 - 1 by 2^32 - 1 by ...: a product that overflows 64 bits
        (b"\0\0\x08\x04" + b"\xff" * 16, "promises .* and holds 0"),
    ],
    ids=["empty", "magic cut", "sizes cut", "values cut", "too long", "floats", "other", "overflow"],
)
def test_a_damaged_idx_file_is_refused(tmp_path, content, sentence):
    (tmp_path / "digits").write_bytes(content)
    with pytest.raises(ValueError, match=f"digits .*{sentence}|digits {sentence}"):
        read_idx(tmp_path / "digits")


@pytest.mark.parametrize(
    "damage", [lambda packed: packed[:-9], lambda _: b"no gzip", lambda p: p[:12] + b"\xff" * 9]
)
def test_a_damaged_gzip_file_is_refused(tmp_path, damage):
    (tmp_path / "digits.gz").write_bytes(damage(gzip.compress(idx(IMAGES))))
    with pytest.raises(ValueError, match=r"digits\.gz is not a whole idx file"):
        read_idx(tmp_path / "digits.gz")


def test_read_mnist_finds_its_files_packed_or_not_and_further_down(tmp_path):
    below = tmp_path / "MNIST" / "raw"
    below.mkdir(parents=True)
    images, labels = read_mnist(mnist(below, np.zeros((2, 28, 28), np.uint8)), "train")
    assert images.shape == (2, 28, 28)
    np.testing.assert_array_equal(labels, LABELS)
    assert read_mnist(tmp_path, "train")[0].shape == images.shape


def test_read_mnist_says_which_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="t10k-images-idx3-ubyte"):
        read_mnist(tmp_path, "t10k")


def test_images_and_labels_must_belong_together(tmp_path):
    images = np.zeros((3, 28, 28), np.uint8)
    with pytest.raises(ValueError, match=r"images of \(3, 28, 28\) and labels of \(2,\)"):
        read_mnist(mnist(tmp_path, images), "train")


def test_the_digits_that_come_with_the_project():
    images, labels = examples()
    assert images.shape == (10_000, 28, 28)
    assert np.bincount(labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


def test_input_is_scaled_to_one():
    images = np.array([[[0, 51], [102, 255]]], np.uint8)
    config = replace(DIGIT, image_size=2, patch_size=1)
    torch.testing.assert_close(to_input(images, config), torch.tensor([[[0, 0.2], [0.4, 1]]]))


def test_input_is_enlarged_bilinearly():
    images = np.array([[[0, 255], [0, 255]]], np.uint8)
    config = replace(DIGIT, image_size=4, patch_size=2)
    row = [0, 0.25, 0.75, 1]  # centres of the pixels of a line twice as fine
    torch.testing.assert_close(to_input(images, config), torch.tensor([[row] * 4]))


def test_input_is_enlarged_bicubically_as_pillow_does_it():
    images = examples()[0][:3]
    config = replace(DIGIT, image_size=56, patch_size=14, n_positions=17, resize="bicubic")
    by_pillow = [Image.fromarray(image).resize((56, 56), Image.Resampling.BICUBIC) for image in images]
    ours = to_pictures(to_input(images, config)).astype(int)
    # Pillow rounds its weights, and after each of the two directions.
    assert np.abs(ours - np.stack([np.asarray(image) for image in by_pillow])).max() <= 1


def test_labels():
    labels = to_labels(LABELS)
    assert labels.dtype == torch.int64
    assert labels.tolist() == [7, 1]


@pytest.mark.parametrize("n_channels", [1, 3])
def test_what_went_in_comes_out_as_a_picture_again(n_channels):
    shape = (2, 8, 8) if n_channels == 1 else (2, 8, 8, 3)
    images = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    inputs = to_input(images, replace(DIGIT, n_channels=n_channels))
    assert inputs.shape == ((2, 8, 8) if n_channels == 1 else (2, 3, 8, 8))
    np.testing.assert_array_equal(to_pictures(inputs), images)


def test_grey_is_as_bright_as_the_colours():
    colours = np.eye(3, dtype=np.uint8).reshape(1, 1, 3, 3) * 255  # red, green, blue beside each other
    config = replace(DIGIT, image_size=3, patch_size=1, n_positions=10)
    seen = to_input(colours.repeat(3, axis=1), config)
    torch.testing.assert_close(seen, torch.tensor([[[0.299, 0.587, 0.114]] * 3]))
