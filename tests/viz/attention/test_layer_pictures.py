from dataclasses import replace

import numpy as np
import pytest

from model.record import AttentionRecord
from tests.viz.scene import drawn
from viz.attention.layer_pictures import layer_pictures
from viz.builders.palette import ACCENT, WeightScale, tiles

IMAGE = np.zeros((16, 24), np.uint8)
RECORD = AttentionRecord(  # a class token, and patches of 2 rows and 3 columns
    tokens=("[CLS]", *(f"r{row}c{column}" for row in range(2) for column in range(3))),
    roles=("class", *["patch"] * 6),
    pattern=np.full((4, 1, 7, 7), 1 / 7, np.float32),
    mask=np.ones((4, 1, 7, 7), bool),
    patch_grid=(2, 3),
)
WEIGHTS = np.full((4, 7), 0.1)
WEIGHTS[np.arange(4), np.arange(4) + 1] = 0.4


def figure_of(record=RECORD, weights=WEIGHTS, **options):
    return layer_pictures(record, IMAGE, weights, **{"query": 0} | options)


def test_tokens_after_the_patches_are_left_out():
    record = replace(
        RECORD,
        tokens=(*RECORD.tokens, "[detection 1]"),
        roles=(*RECORD.roles, "special"),
        pattern=np.full((4, 1, 8, 8), 1 / 8, np.float32),
        mask=np.ones((4, 1, 8, 8), bool),
    )
    frame = figure_of(record, np.hstack([WEIGHTS, np.full((4, 1), 0.9)])).frame
    assert frame["strongest patch"].tolist() == ["r0c0", "r0c1", "r0c2", "r1c0"]
    np.testing.assert_allclose(frame["on all patches"], WEIGHTS[:, 1:].sum(axis=1))


def test_of_equal_weights_no_patch_is_the_strongest():
    weights = WEIGHTS.copy()
    weights[0] = 1 / 7
    weights[1, 5] = 0.4
    assert figure_of(weights=weights).frame["strongest patch"].tolist() == [
        "6 alike",
        "2 alike",
        "r0c2",
        "r1c0",
    ]


def test_each_layer_is_a_picture_over_the_weights_of_its_patches():
    figure = figure_of(scale=WeightScale(0.4), what="mean over its heads")
    frame = figure.frame
    assert frame["name"].tolist() == ["L0", "L1", "L2", "L3"]
    assert frame["strongest patch"].tolist() == ["r0c0", "r0c1", "r0c2", "r1c0"]
    np.testing.assert_allclose(frame["weight"], 0.4)
    np.testing.assert_allclose(frame["on all patches"], WEIGHTS[:, 1:].sum(axis=1))
    expected = tiles(WEIGHTS[:, 1:].reshape(4, 2, 3), tops=np.full(4, 0.4), side=256)
    assert frame["on_light"].tolist() == [tile.on_light for tile in expected]
    assert (
        figure.description
        == "What [CLS] attends to in each layer, mean over its heads, a picture for each of 4 layers"
    )


def test_pictures_lie_apart_in_the_shape_of_the_grid_and_the_chosen_layer_is_framed():
    boxes, pictures, *_, cover = drawn(figure_of(layer=2))
    assert len(boxes) == len(pictures) == len(cover) == 4
    corners = {(round(box["x"]), round(box["y"])) for box in cover}
    assert len(corners) == 4
    for box in cover:
        assert box["width"] / box["height"] == pytest.approx(3 / 2)
    assert [index for index, box in enumerate(cover) if box["stroke"] == ACCENT] == [2]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"expected shape \(4, 7\), got weights of \(4, 6\)"):
        figure_of(weights=np.ones((4, 6)))
    with pytest.raises(ValueError, match="without a grid of patches"):
        figure_of(record=replace(RECORD, patch_grid=None))
