from dataclasses import replace

import numpy as np
import pytest

from model.record import AttentionRecord
from tests.viz.records import head_record
from tests.viz.scene import drawn
from viz.attention.layer_pictures import layer_heatmap, layer_pictures
from viz.builders.palette import ACCENT, WeightScale, map_pictures

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
TOKENS = ["not", "great", "not"]
LAYER_WEIGHTS = np.array([[0.25, 0.75, 0.0], [0.1, 0.1, 0.8]])


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
    strongest = figure_of(weights=weights).frame["strongest patch"].tolist()
    assert strongest == ["6 alike", "2 alike", "r0c2", "r1c0"]


def test_each_layer_is_a_picture_over_the_weights_of_its_patches():
    figure = figure_of(scale=WeightScale(0.4), what="mean over its heads")
    frame = figure.frame
    assert frame["name"].tolist() == ["L0", "L1", "L2", "L3"]
    assert frame["strongest patch"].tolist() == ["r0c0", "r0c1", "r0c2", "r1c0"]
    np.testing.assert_allclose(frame["weight"], 0.4)
    np.testing.assert_allclose(frame["on all patches"], WEIGHTS[:, 1:].sum(axis=1))
    expected = map_pictures(WEIGHTS[:, 1:].reshape(4, 2, 3), tops=np.full(4, 0.4), side=256)
    assert frame["on_light"].tolist() == expected["on_light"]
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


def heatmap_of(weights=LAYER_WEIGHTS, **options):
    return layer_heatmap(head_record(np.eye(3), TOKENS), weights, **{"query": 2} | options)


def test_rows_are_layers_and_columns_keys():
    figure = heatmap_of(what="mean over the heads")
    assert (figure.frame.index.tolist(), figure.frame.columns.tolist()) == (
        ["L0", "L1"],
        ["0 not", "great", "2 not"],
    )
    np.testing.assert_allclose(figure.frame, LAYER_WEIGHTS, rtol=1e-6)
    assert figure.description == (
        "What “2 not” attends to in each layer, mean over the heads, layers down, keys across. "
        "Strongest: L0 great 0.75, L1 2 not 0.80"
    )
    (cells,) = figure.specification.data
    assert np.array(cells.text).tolist() == [[".25", ".75", ""], [".10", ".10", ".80"]]


def test_of_equal_weights_no_key_is_the_strongest():
    weights = np.array([[1 / 3, 1 / 3, 1 / 3], [0.1, 0.45, 0.45 + 1e-8]])
    assert heatmap_of(weights).description.endswith("Strongest: L0 3 keys alike 0.33, L1 2 keys alike 0.45")


def test_the_chosen_layer_is_framed_and_what_the_mask_forbids_has_no_number():
    mask = np.array([[True, True, False], [True, True, True]])
    figure = heatmap_of(layer=1, mask=mask)
    (frame,) = figure.specification.layout.shapes
    assert (frame.line.color, frame.y0, frame.y1) == (ACCENT, 0.5, 1.5)
    assert np.isnan(figure.frame.to_numpy()).tolist() == (~mask).tolist()
    assert figure.specification.data[0].text[0][2] == ""


def test_many_keys_have_no_numbers_and_notes_stand_below():
    n = 30
    record = head_record(np.eye(n), [f"t{index}" for index in range(n)])
    figure = layer_heatmap(record, np.full((2, n), 1 / n), query=0, notes=["special <tokens> hidden"])
    assert figure.specification.data[0].text is None
    assert figure.specification.data[0].colorbar.title.text.endswith("<br>special &lt;tokens&gt; hidden")
