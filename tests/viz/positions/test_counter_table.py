import numpy as np
import pytest

from tests.viz.scene import drawn, whole
from viz.palette import ACCENT
from viz.positions.counter_table import counter_table

BITS = np.array([[0, 0], [1, 0], [0, 1]])


def table(**changes):
    options = {"position": 9, "title": "in binary", "heading": "bit"} | changes
    return counter_table(1 - 2 * BITS, BITS.astype(str), ["bit 0|2", "bit 1|4"], [8, 9, 10], **options)


def test_cells_row_by_row():
    colours, texts, *_ = drawn(table())
    assert [item["text"] for item in texts] == ["0", "0", "1", "0", "0", "1"]
    assert [item["y"] for item in texts] == sorted(item["y"] for item in texts)
    assert colours[0]["fill"] != colours[2]["fill"]


def test_the_row_of_the_position_is_framed():
    _, texts, _, (frame,) = drawn(table())
    assert frame["stroke"] == ACCENT
    framed = [text["text"] for text in texts if frame["y"] < text["y"] < frame["y"] + frame["height"]]
    assert framed == ["1", "0"]


def test_what_the_table_is_stands_above_it():
    spec = whole(table())
    assert spec["title"]["text"] == "in binary"
    assert spec["layer"][0]["layer"][0]["encoding"]["x"]["title"] == "bit"


def test_shapes_must_fit():
    with pytest.raises(ValueError, match=r"expected values and texts of \(1, 1\)"):
        counter_table(BITS, BITS.astype(str), ["a"], [0], position=0, title="", heading="")
