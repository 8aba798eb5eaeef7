import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.compare.logit_curves import logit_curves

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
    with pytest.raises(ValueError, match=r"1 stages of 3 classes, got logits of \(2, 3\)"):
        curves(stages=("embed",))
