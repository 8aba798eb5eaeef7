import numpy as np

from tests.viz.scene import whole
from viz.builders.palette import POST_LN, PRE_LN
from viz.heads.pruning_curve import Curve, pruning_curve

PRE = Curve(
    "pre",
    ("", "L0 H1", "L1 H0"),
    np.array([0.9, 0.9, 0.52]),
    np.array([0.3, 0.31, 0.9]),
    ("", "", "−38 points"),
    1,
)
POST = Curve(
    "post", ("", "L1 H1", "L0 H0"), np.array([0.88, 0.88, 0.875]), np.array([0.3, 0.3, 0.4]), ("",) * 3, 2
)


def test_a_row_an_encoder_and_step():
    frame = pruning_curve({"a-pre-ln": PRE, "a-post-ln": POST}).frame
    assert len(frame) == 6
    assert frame[frame["encoder"] == "a-pre-ln"]["accuracy"].tolist() == [0.9, 0.9, 0.52]
    assert frame["went"].tolist() == ["", "L0 H1", "L1 H0", "", "L1 H1", "L0 H0"]
    assert frame["step"].tolist() == [0, 1, 2, 0, 1, 2]


def test_the_placements_have_their_colours():
    for order in (("a-pre-ln", "a-post-ln"), ("a-post-ln", "a-pre-ln")):
        made = pruning_curve({name: PRE if "pre" in name else POST for name in order})
        scale = whole(made)["layer"][1]["encoding"]["color"]["scale"]
        assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
            "a-pre-ln": PRE_LN,
            "a-post-ln": POST_LN,
        }


def test_how_many_may_go_is_marked():
    made = pruning_curve({"a-pre-ln": PRE, "a-post-ln": POST})
    assert made.frames["may_go"]["step"].tolist() == [1, 2]


def test_the_axis_begins_below_the_least():
    (least,) = [
        parameter["value"]
        for parameter in pruning_curve({"a": PRE}).specification["params"]
        if parameter["name"] == "least"
    ]
    assert least == 0.5
