import numpy as np
import pytest

from tests.viz.scene import drawn, scene
from viz.builders.palette import CATEGORIES, POST_LN, PRE_LN
from viz.compare.stage_curves import logit_curves, stage_curves

STAGES = ("embed", "L0 mid", "L0 post")
CURVES = {"z": np.array([1.0, 2.0, 4.0]), "a": np.array([0.5, 0.0])}


def test_a_curve_for_each_side_in_its_colour():
    for given, (one, other) in (({}, CATEGORIES[:2]), ({"colours": (POST_LN, PRE_LN)}, (POST_LN, PRE_LN))):
        points = drawn(stage_curves(CURVES, STAGES, y_title="norm", **given), width=600)[-1]
        assert [point["fill"] for point in points] == [one] * 3 + [other] * 2


def test_stages_stand_in_their_own_order_and_the_shallower_side_ends_earlier():
    points = drawn(stage_curves(CURVES, STAGES, y_title="norm"), width=600)[-1]
    across = [point["x"] for point in points]
    assert across[0] < across[1] < across[2]
    assert across[3:] == across[:2]


@pytest.mark.parametrize(("given", "top"), [(None, 4), (8, 8)])
def test_the_axis_starts_at_zero(given, top):
    *_, points = drawn(stage_curves(CURVES, STAGES, y_title="norm", from_zero_to=given), width=600)
    assert [point["y"] for point in points] == [240 * (1 - value / top) for value in (1, 2, 4, 0.5, 0)]


def test_more_values_than_stages_are_refused():
    with pytest.raises(ValueError, match="3 values need as many stages, got 2"):
        stage_curves(CURVES, STAGES[:2], y_title="norm")


def test_no_curves_make_an_empty_chart():
    assert drawn(stage_curves({}, (), y_title="norm"), width=600) == [[]]


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
        ("embed", "c", 2.0),
        ("L0 mid", "a", 3.0),
    ]
    assert sum(row["probability"] for row in rows[:3]) == pytest.approx(1)
    assert rows[2]["probability"] == pytest.approx(np.exp(2) / np.exp([0, 1, 2]).sum())


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \(1, 3\), got logits of \(2, 3\)"):
        curves(stages=("embed",))


# Bands


def test_a_band_lies_behind_the_curves():
    bands = {"a": (np.array([2.0, 3.0]), np.array([1.0, 2.5]))}
    figure = stage_curves(CURVES, STAGES, y_title="norm", bands=bands, colours=(PRE_LN, POST_LN))
    assert figure.frames["band"]["high"].tolist() == [3, 5.5]
    (shade,), (mean, *_) = (of_kind(scene(figure, width=600), kind) for kind in ("area", "line"))
    assert {item["fill"] for item in shade} == {item["stroke"] for item in mean} == {POST_LN}
    assert [item["y"] for item in mean] == pytest.approx([240 * (1 - value / 5.5) for value in (2, 3)])
    assert len(drawn(figure, width=600)[-1]) == 5


def of_kind(part, kind):
    """The items of each mark of that kind, from the bottom; curves of several kinds lie deeper than points."""
    if part.get("marktype") == kind:
        return [part["items"]]
    return [mark for item in part.get("items", ()) for mark in of_kind(item, kind)]


def test_what_is_no_number_is_left_out():
    given = {"z": np.array([np.nan, 1.0]), "a": np.array([0.5])}
    figure = stage_curves(given, STAGES, y_title="CKA", bands={"z": (given["z"], given["z"])})
    assert figure.frame["value"].tolist() == [1.0, 0.5]
    assert figure.frames["band"]["mean"].tolist() == [1.0]


def test_a_band_needs_stages_too():
    with pytest.raises(ValueError, match="3 values need as many stages, got 2"):
        stage_curves({}, STAGES[:2], y_title="norm", bands={"a": (np.zeros(3), np.zeros(3))})
