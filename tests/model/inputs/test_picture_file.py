import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import DeiTImageProcessorPil, ViTImageProcessorPil

from model.checkpoint import load
from model.config import two_sides
from model.huggingface import describe
from model.inputs import picture_file, prepare
from model.inputs.picture_file import ASSUMED, picture_sides, read_picture
from tests.model.huggingface.folders import build

GREY = np.arange(48, dtype=np.uint8).reshape(6, 8)
COLOUR = np.arange(144, dtype=np.uint8).reshape(6, 8, 3)


@pytest.mark.parametrize("pixels", [GREY, COLOUR], ids=["grey", "colour"])
def test_pixels_are_read_as_they_are(pixels, tmp_path):
    Image.fromarray(pixels).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png"), pixels)


def test_what_is_transparent_is_white(tmp_path):
    Image.new("RGBA", (2, 1), (9, 9, 9, 0)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png"), np.full((1, 2, 3), 255))


def test_sixteen_bits_become_eight(tmp_path):
    Image.fromarray(np.array([[0, 257, 65535]], np.uint16)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png"), [[0, 1, 255]])


def test_what_is_no_picture_is_refused_in_one_sentence(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"^there is no file a\.png$"):
        read_picture(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"^b\.png is not a picture"):
        read_picture(tmp_path / "b.png")
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 40, 3), np.uint8)).save(tmp_path / "c.png")
    (tmp_path / "d.png").write_bytes((tmp_path / "c.png").read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"^d\.png cannot be read"):
        read_picture(tmp_path / "d.png")
    monkeypatch.setattr(picture_file, "MOST_PIXELS", 1599)
    with pytest.raises(ValueError, match="more than 1,599 pixels"):
        read_picture(tmp_path / "c.png")


def test_a_line_of_millions_of_pixels_is_no_picture(tmp_path):
    Image.new("1", (1, 30_000)).save(tmp_path / "line.png")
    with pytest.raises(ValueError, match="more than 20,000 pixels a side"):
        read_picture(tmp_path / "line.png")


@pytest.fixture
def vit(tmp_path: Path) -> Path:
    build(tmp_path / "it", "ViTForImageClassification")
    return tmp_path / "it"


def normalised(folder: Path, picture: np.ndarray) -> torch.Tensor:
    """What the patches are cut from."""
    loaded = load(folder)
    embedding = loaded.model.embedding
    return (prepare(loaded, picture)[0] - embedding.means) / embedding.deviations


PICTURES = [
    np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    for shape in ((32, 32, 3), (45, 70, 3), (300, 20, 3), (7, 5, 3))
]
SETTINGS = [
    ViTImageProcessorPil(size={"height": 32, "width": 32}),
    ViTImageProcessorPil(
        size={"height": 32, "width": 32}, resample=3, image_mean=[0.1, 0.2, 0.3], image_std=[0.2, 0.3, 0.4]
    ),
    ViTImageProcessorPil(size={"height": 32, "width": 32}, do_normalize=False),
    DeiTImageProcessorPil(size={"height": 40, "width": 40}, crop_size={"height": 32, "width": 32}),
]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("processor", SETTINGS, ids=["vit", "other", "plain", "deit"])
@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: "x".join(map(str, picture.shape[:2])))
def test_pictures_are_prepared_as_transformers_prepares_them(vit, processor, picture):
    processor.save_pretrained(vit)
    theirs = processor(picture, return_tensors="pt")["pixel_values"]
    torch.testing.assert_close(normalised(vit, picture), theirs, atol=2e-6, rtol=0)


def test_one_number_is_the_side_of_a_square(vit):
    settings = {"size": 40, "do_center_crop": True, "crop_size": 32, "resample": 3}
    (vit / "preprocessor_config.json").write_text(json.dumps(settings))
    processor = DeiTImageProcessorPil(size=40, crop_size=32, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    theirs = processor(PICTURES[1], return_tensors="pt")["pixel_values"]
    torch.testing.assert_close(normalised(vit, PICTURES[1]), theirs, atol=2e-6, rtol=0)


def test_what_has_to_be_assumed_is_said(vit):
    assert ASSUMED in describe(vit).notes
    (vit / "preprocessor_config.json").write_text(json.dumps({"size": 32}))
    assert describe(vit).notes == ()


@pytest.mark.parametrize(
    "values",
    [
        {"image_mean": "0.5"},
        {"image_mean": [0.5]},
        {"image_std": [0.5, 0, 0.5]},
        {"resample": 17},
        {"size": {"height": 10**9, "width": 3}},
        {"size": "large"},
        {"rescale_factor": None},
    ],
)
def test_nonsense_in_the_settings_is_refused(vit, values):
    (vit / "preprocessor_config.json").write_text(json.dumps(values))
    assert describe(vit).problem


def test_a_grey_picture_has_all_colours_alike(vit):
    pixels = prepare(load(vit), PICTURES[0][..., 0])[0][0]
    assert (pixels[0] == pixels[1]).all()
    assert (pixels[0] == pixels[2]).all()


@pytest.mark.parametrize(
    ("values", "side"),
    [
        (None, 518),
        ({}, 518),
        ({"size": 224}, 224),
        ({"size": {"height": 96, "width": 96}}, 96),
        ({"size": {"height": 96, "width": 64}}, (96, 64)),
        (
            {
                "size": {"shortest_edge": 256},
                "do_center_crop": True,
                "crop_size": {"height": 224, "width": 224},
            },
            224,
        ),
        ({"size": {"shortest_edge": 256}, "do_center_crop": True}, 518),
        ({"size": {"shortest_edge": 256}, "crop_size": 224, "do_center_crop": False}, 518),
        ({"size": 224, "do_resize": False}, 518),
    ],
)
def test_height_and_width_that_are_read(values, side):
    assert picture_sides(values, (518, 518)) == two_sides(side)
