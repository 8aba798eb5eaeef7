from dataclasses import replace

import pytest

from model.experiments.head_steps import step_order
from tests.model import tiny
from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.inside.block_diagram import block_diagram

ORDER = {
    placement: step_order(replace(tiny.TEXT, norm_placement=placement), 1) for placement in ("pre", "post")
}


def diagram(placement, opened=()):
    labels = {name: name.replace("_", " ") for name in ORDER[placement]}
    return block_diagram(labels, opened=opened, head="L1 H3", placement=f"{placement}-LN")


def by_name(placement, layer):
    return dict(zip(ORDER[placement], layer, strict=True))


@pytest.mark.parametrize("placement", ORDER)
def test_the_boxes_stand_in_the_order_of_the_steps(placement):
    *_, texts, cover = drawn(diagram(placement))
    boxes = list(cover)
    assert [box["y"] for box in boxes] == sorted({box["y"] for box in boxes})
    names = [text["text"] for text in texts[: len(boxes)]]
    assert names == [f"{row}  {name.replace('_', ' ')}" for row, name in enumerate(ORDER[placement], 1)]
    for text, box in zip(texts, boxes, strict=False):
        assert box["y"] < text["y"] < box["y"] + box["height"]


@pytest.mark.parametrize("placement", ORDER)
def test_the_residual_connections_go_around_the_sublayers(placement):
    tips, *_, cover = drawn(diagram(placement))
    corners = diagram(placement).frames["corners"].to_dict(orient="records")
    boxes = by_name(placement, cover)
    ways = [[corner for corner in corners if corner["way"] == way] for way in range(len(boxes) + 1)]
    first, second = ways[-2:]
    leaves = {"pre": ("input", "add_attention"), "post": ("input", "norm_attention")}[placement]
    for way, source, target in zip(
        (first, second), leaves, ("add_attention", "add_feed_forward"), strict=True
    ):
        below = boxes[source]["y"] + boxes[source]["height"]
        follower = ORDER[placement][ORDER[placement].index(source) + 1]
        assert below < way[0]["y"] < boxes[follower]["y"]
        assert way[-1]["y"] == boxes[target]["y"] + boxes[target]["height"] / 2
        assert way[1]["x"] > max(box["x"] + box["width"] for box in cover)
    assert len(tips) == len(boxes) + 1


def test_what_a_head_does_by_itself_is_within_the_dashed_line():
    _, (dashed,), _, texts, cover = drawn(diagram("pre"))
    boxes = by_name("pre", cover)
    within = [name for name, box in boxes.items() if dashed["y"] < box["y"] < dashed["y"] + dashed["height"]]
    assert within == ["products", "scale", "mask", "softmax", "values"]
    assert "L1 H3" in [text["text"] for text in texts]


def test_a_rotation_and_a_bias_are_what_a_head_does_by_itself():
    names = list(ORDER["pre"])
    names.insert(names.index("products"), "rotate")
    names.insert(names.index("mask"), "bias")
    chart = block_diagram({name: name for name in names}, opened=(), head="L1 H3", placement="pre-LN")
    _, (dashed,), _, _, cover = drawn(chart)
    boxes = dict(zip(names, cover, strict=True))
    within = [name for name, box in boxes.items() if dashed["y"] < box["y"] < dashed["y"] + dashed["height"]]
    assert within == ["rotate", "products", "scale", "bias", "mask", "softmax", "values"]


def test_without_a_first_norm_the_residual_connections_stay():
    labels = {name: name for name in ORDER["pre"] if name != "norm_attention"}
    chart = block_diagram(labels, opened=(), head="L0 H0", placement="pre-LN")
    ways = chart.frames["corners"].groupby("way").size()
    assert (ways == 4).sum() == 2
    assert len(ways) == len(labels) + 1


def test_the_opened_steps_are_framed():
    cover = drawn(diagram("post", opened=("softmax", "expand")))[-1]
    framed = [name for name, box in by_name("post", cover).items() if box["stroke"] == ACCENT]
    assert framed == ["softmax", "expand"]


def test_norms_attention_and_feed_forward_have_their_tints():
    tints = by_name("pre", drawn(diagram("pre"))[2])
    assert tints["norm_attention"]["fill"] == tints["norm_feed_forward"]["fill"]
    assert tints["project"]["fill"] == tints["output"]["fill"]
    assert len({tints[name]["fill"] for name in ("norm_attention", "project", "expand", "input")}) == 4


def test_nothing_lies_outside():
    chart = diagram("post")
    width, height = (chart.specification[side] for side in ("width", "height"))
    *_, texts, cover = drawn(chart)
    assert all(0 < text["x"] < width and 0 < text["y"] < height for text in texts)
    assert max(box["y"] + box["height"] for box in cover) < height
