from functools import partial

import numpy as np
import pytest

from tests.viz.scene import drawn, items, scene
from viz.builders.palette import CATEGORIES, POST_LN, PRE_LN
from viz.compare import stage_curves as module
from viz.compare.stage_curves import logit_curves, stage_curves, stage_similarity

STAGES = ("embed", "L0 mid", "L0 post")
CURVES = {"z": np.array([1.0, 2.0, 4.0]), "a": np.array([0.5, 0.0])}
VALUES = np.array([[np.nan, 0.25, 1.0], [0.5, 0.75, np.nan]])


def test_a_curve_for_each_side_in_its_colour():
    for options, (one, other) in (({}, CATEGORIES[:2]), ({"colours": (POST_LN, PRE_LN)}, (POST_LN, PRE_LN))):
        points = drawn(stage_curves(CURVES, STAGES, y_title="norm", **options), width=600)[-1]
        assert [point["fill"] for point in points] == [one] * 3 + [other] * 2


def test_stages_stand_in_their_own_order_and_the_shallower_side_ends_earlier():
    points = drawn(stage_curves(CURVES, STAGES, y_title="norm"), width=600)[-1]
    across = [point["x"] for point in points]
    assert across[0] < across[1] < across[2]
    assert across[3:] == across[:2]


@pytest.mark.parametrize(("options", "top"), [(None, 4), (8, 8)])
def test_the_axis_starts_at_zero(options, top):
    *_, points = drawn(stage_curves(CURVES, STAGES, y_title="norm", from_zero_to=options), width=600)
    assert [point["y"] for point in points] == [240 * (1 - value / top) for value in (1, 2, 4, 0.5, 0)]


LOGITS = np.array([[0.0, 1.0, 2.0], [3.0, -1.0, 0.0]])


def curves(logits=LOGITS, stages=("embed", "L0 mid"), classes=("a", "b", "c"), **marked):
    return logit_curves(logits, stages, classes, marked=marked, title="side", domain=(-2, 4))


def test_a_marked_class_has_its_colour_and_its_name_at_the_end():
    *_, names = drawn(curves(c="#112233"), width=400)
    ((name),) = names
    assert (name["text"], name["fill"]) == ("c", "#112233")


@pytest.mark.parametrize("width", [300, 700])
def test_a_long_name_stays_within_the_chart(width):
    *_, names = drawn(curves(classes=("negative", "positive", "c"), negative="#112233"), width=width)
    ((name),) = names
    assert name["x"] + 8 + 60 < width - 40  # its letters, and the axis on the left


def test_every_class_has_its_logit_and_probability_at_every_stage():
    rows = curves().frame.to_dict("records")
    assert [(row["stage"], row["class"], row["logit"]) for row in rows[2:4]] == [
        ("embedding", "c", 2.0),
        ("L0 after attention", "a", 3.0),
    ]
    assert sum(row["probability"] for row in rows[:3]) == pytest.approx(1)
    assert rows[2]["probability"] == pytest.approx(np.exp(2) / np.exp([0, 1, 2]).sum())


def test_a_band_lies_behind_the_curves():
    bands = {"a": (np.array([2.0, 3.0]), np.array([1.0, 2.5]))}
    figure = stage_curves(CURVES, STAGES, y_title="norm", bands=bands, colours=(PRE_LN, POST_LN))
    assert figure.frames["band"]["high"].tolist() == [3, 5.5]
    marks = items(scene(figure, width=600))
    (shade,), (mean, *_) = (
        [mark["items"] for mark in marks if mark.get("marktype") == kind] for kind in ("area", "line")
    )
    assert {item["fill"] for item in shade} == {item["stroke"] for item in mean} == {POST_LN}
    assert [item["y"] for item in mean] == pytest.approx([240 * (1 - value / 5.5) for value in (2, 3)])
    assert len(drawn(figure, width=600)[-1]) == 5


def test_what_is_no_number_is_left_out():
    options = {"z": np.array([np.nan, 1.0]), "a": np.array([0.5])}
    figure = stage_curves(options, STAGES, y_title="CKA", bands={"z": (options["z"], options["z"])})
    assert figure.frame["value"].tolist() == [1.0, 0.5]
    assert figure.frames["band"]["mean"].tolist() == [1.0]


def heatmap(values=VALUES, **options):
    rows, columns = ("z", "a")[: len(values)], ("q", "p", "o")[: values.shape[1]]
    options = {"names": ("pre", "post"), "what": "CKA", "signed": False, "side": 300} | options
    return stage_similarity(values, rows, columns, **options)


def test_rows_and_columns_stand_as_given_even_where_nothing_is_defined():
    cells, text, _ = drawn(heatmap())
    assert len(cells) == 6
    assert [mark["text"] for mark in sorted(text, key=lambda mark: (mark["y"], mark["x"]))] == [
        "–", "0.25", "1.00", "0.50", "0.75", "–",
    ]  # fmt: skip


def test_hover_says_why_a_number_is_missing():
    assert heatmap(undefined="all alike").frame["exact"].tolist()[-2:] == ["0.7500", "all alike"]


def test_cells_too_small_for_numbers_have_none():
    names = [f"s{number}" for number in range(30)]
    options = {"names": ("a", "b"), "what": "CKA", "signed": False, "side": 300}
    assert len(drawn(stage_similarity(np.ones((30, 30)), names, names, **options))) == 2


norm_heatmap = partial(module.norm_heatmap, limit=8)
NORMS = np.array([[1.0, 2.0, 3.0], [4.0, 8.0, 6.0]])


def test_stages_are_rows_and_tokens_are_columns():
    (trace,) = norm_heatmap(NORMS, ("embed", "L0 mid"), ("the", "<b>", "the")).specification.data
    assert np.asarray(trace.z).tolist() == NORMS.tolist()
    assert list(trace.y) == ["embedding", "L0 after attention"]
    assert list(trace.x) == ["0 the", "&lt;b&gt;", "2 the"]
    assert (trace.zmin, trace.zmax) == (0, 8)
