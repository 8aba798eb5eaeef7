"""Pictures and patches that are no squares, against `transformers` (eager) with the same weights."""

import numpy as np
import pytest

from model.capture import Intervention, capture
from model.capture.intervention import MaskChoice
from model.checkpoint import load
from model.experiments.embeddings import patch_pictures
from model.huggingface import describe
from model.theory.permutation_equivariance import shuffled_picture
from tests.model.huggingface.agreement import agree, picture, read_size
from tests.model.huggingface.folders import build, encoder, rewrite


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "changed", "size", "grid"),
    [
        ("ViTForImageClassification", {"image_size": [32, 64], "patch_size": [8, 4]}, (32, 64), (4, 16)),
        ("ViTModel", {"image_size": [48, 16], "patch_size": 16}, (48, 16), (3, 1)),
        ("ViTModel", {"image_size": [27, 45]}, (27, 45), (3, 5)),
        ("DeiTModel", {"image_size": [16, 40], "patch_size": [4, 10]}, (16, 40), (4, 4)),
        ("IJepaModel", {"image_size": [24, 40]}, (24, 40), (3, 5)),
        ("Dinov2Model", {}, (24, 40), (3, 5)),
        ("Dinov2Model", {}, (27, 45), (3, 5)),
        ("Dinov2WithRegistersModel", {}, (40, 16), (5, 2)),
        ("DINOv3ViTModel", {}, (24, 40), (3, 5)),
        ("DINOv3ViTModel", {"image_size": [16, 40]}, (27, 45), (3, 5)),
        ("BeitModel", {}, (24, 40), (3, 5)),
        ("BeitModel", {"image_size": [32, 48]}, (32, 48), (4, 6)),
        (
            "Data2VecVisionForImageClassification",
            {"use_shared_relative_position_bias": True},
            (40, 24),
            (5, 3),
        ),
        ("CLIPVisionModel", {}, (24, 45), (3, 5)),
        ("SiglipVisionModel", {}, (40, 24), (5, 3)),
    ],
)
def test_rectangles_are_read_as_by_their_own_library(architecture, changed, size, grid, tmp_path):
    model = build(tmp_path, architecture, **changed)
    read_size(tmp_path, *size)
    loaded = load(tmp_path)
    assert loaded.config.patch_grid == grid
    interpolated = architecture.startswith(("CLIP", "Siglip"))
    options = {"interpolate_pos_encoding": True} if interpolated else {}
    record = agree(model, loaded, picture(*size), **options)
    assert record.patch_grid == grid
    assert record.tokens[-1] == f"r{grid[0] - 1}c{grid[1] - 1}"


def test_pictures_of_another_shape_are_stretched_and_cut_by_height_and_width(tmp_path):
    loaded = encoder(tmp_path, "ViTModel", image_size=[32, 64], patch_size=[8, 4])
    half = np.zeros((10, 10, 3), np.uint8)
    half[:, 5:] = 255
    patches = patch_pictures(loaded, half)
    assert patches.shape == (4 * 16, 8, 4, 3)
    brightness = patches.reshape(4, 16, -1).mean(axis=-1)
    assert (brightness[:, :6] == 0).all()
    assert (brightness[:, 10:] == 255).all()
    order = [0, *range(64, 0, -1)]
    whole = picture(32, 64)
    shuffled = shuffled_picture(loaded, whole, order)
    assert shuffled.shape == (32, 64, 3)
    np.testing.assert_array_equal(shuffled[:8, :4], whole[24:, 60:])


def test_masks_of_neighbours_follow_rows_and_columns(tmp_path):
    loaded = encoder(tmp_path, "ViTModel", image_size=[16, 32], patch_size=[8, 4])
    record = capture(
        loaded, np.zeros((16, 32, 3), np.uint8), Intervention(masks=(MaskChoice(kind="window", radius=1),))
    )
    row, column = np.divmod(np.arange(16), 8)
    near = np.maximum(abs(np.subtract.outer(row, row)), abs(np.subtract.outer(column, column))) <= 1
    np.testing.assert_array_equal(record.mask[0, 0, 1:, 1:], near)


def test_a_rectangle_is_described_in_both_directions(tmp_path):
    build(tmp_path, "ViTModel", image_size=[32, 64], patch_size=[8, 4])
    assert dict(describe(tmp_path).summary)["input"] == (
        "pictures of 32 × 64 in colour, as 64 patches of 8 × 4"
    )
    build(tmp_path, "DINOv3ViTModel")
    read_size(tmp_path, 27, 45)
    assert "do not fill 27 × 45: the last 3 rows and 5 columns of pixels are not read." in " ".join(
        describe(tmp_path).notes
    )


def test_a_square_table_of_dinov2_is_asked_for(tmp_path):
    build(tmp_path, "Dinov2Model")
    rewrite(tmp_path, image_size=[32, 64])
    assert "image_size [32, 64], which must be the side of a square" in str(describe(tmp_path).problem)
