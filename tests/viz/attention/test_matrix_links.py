import numpy as np
import pytest

from model.record.from_arrays import from_arrays
from tests.viz.scene import drawn
from viz.attention.linked_heads import linked_heads
from viz.attention.matrix_links import COLOUR, MatrixLink, cell_labels

# "the old films" in four pieces: the → film ##s, old → film ##s
TOKENS = ["the", "old", "film", "##s"]
RECORD = from_arrays(np.full((1, 2, 4, 4), 0.25), TOKENS)
LINKS = (
    MatrixLink(range(1), range(2, 4), "det: the → films", np.array([[True, False]])),
    MatrixLink(range(1, 2), range(2, 4), "amod: old → films", np.array([[False, False]])),
)


def outlines(head: int, links: tuple[MatrixLink, ...] = LINKS) -> list[dict]:
    layers = drawn(linked_heads(RECORD, selected=(0, head), links=links), width=1000)
    return [item for layer in layers for item in layer if item.get("stroke") == COLOUR]


def cell_of(layers: list[list[dict]]) -> tuple[float, float, float]:
    """Left and upper edge of the large map, and the side of a cell, by the cells that the pointer finds."""
    first = layers[-1][0]
    return first["x"], first["y"], first["width"]


@pytest.mark.parametrize("head", [0, 1])
def test_the_cells_of_each_link_are_outlined(head: int) -> None:
    layers = drawn(linked_heads(RECORD, selected=(0, head), links=LINKS), width=1000)
    left, top, cell = cell_of(layers)
    the, old = outlines(head)
    for item, row in ((the, 0), (old, 1)):
        assert item["x"] == pytest.approx(left + 2 * cell, abs=2.5)
        assert item["width"] == pytest.approx(2 * cell, abs=5)
        assert item["y"] == pytest.approx(top + row * cell, abs=2.5)
        assert item["height"] == pytest.approx(cell, abs=5)
    assert (the["strokeWidth"] > old["strokeWidth"]) == (head == 0)
    assert bool(the.get("strokeDash")) == (head == 1)
    assert old["strokeDash"]


def test_the_links_are_named_where_the_pointer_is() -> None:
    cells = linked_heads(RECORD, links=LINKS).frames["cells"]
    named = cells[cells["link"] != ""]
    assert named[["position", "key"]].to_numpy().tolist() == [[0, 2], [0, 3], [1, 2], [1, 3]]
    assert named["link"].tolist() == ["det: the → films"] * 2 + ["amod: old → films"] * 2


def test_a_cell_of_two_links_names_both() -> None:
    twice = (LINKS[0], LINKS[0]._replace(label="dep: the → films"))
    assert cell_labels(twice, (4, 4))[0, 2] == "det: the → films; dep: the → films"


def test_links_that_are_switched_off_leave_the_form_as_it_is() -> None:
    on, off = linked_heads(RECORD, links=LINKS), linked_heads(RECORD, links=())
    assert on.specification == off.specification
    assert outlines(0, ()) == []
    assert "links" not in linked_heads(RECORD).frames
