import numpy as np
import pytest

from model.record.from_arrays import from_arrays
from tests.viz.scene import drawn
from viz.attention.linked_data import MOST_CELLS
from viz.attention.linked_heads import linked_heads
from viz.attention.matrix_links import COLOUR, MatrixLink, cell_labels, with_outlines
from viz.attention.token_heatmaps import weight_heatmap
from viz.export.export_style import ExportStyle
from viz.export.save import figure_bytes

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
def test_the_cells_of_each_link_are_outlined(head):
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


def test_the_links_are_named_where_the_pointer_is():
    cells = linked_heads(RECORD, links=LINKS).frames["cells"]
    named = cells[cells["link"] != ""]
    assert named[["position", "key"]].to_numpy().tolist() == [[0, 2], [0, 3], [1, 2], [1, 3]]
    assert named["link"].tolist() == ["det: the → films"] * 2 + ["amod: old → films"] * 2


def test_a_cell_of_two_links_names_both():
    twice = (LINKS[0], LINKS[0]._replace(label="dep: the → films"))
    assert cell_labels(twice, range(4), range(4))[0, 2] == "det: the → films; dep: the → films"


def test_links_that_are_switched_off_leave_the_form_as_it_is():
    on, off = linked_heads(RECORD, links=LINKS), linked_heads(RECORD, links=())
    assert on.specification == off.specification
    assert outlines(0, ()) == []
    assert "links" not in linked_heads(RECORD).frames


def test_in_a_map_whose_rows_answer_the_pointer_the_cells_of_links_do_so_too():
    n = MOST_CELLS + 1
    record = from_arrays(np.full((1, 2, n, n), 1 / n), [f"w{index}" for index in range(n)])
    link = MatrixLink(range(60, 61), range(3, 5), "amod: w60 → w3", np.array([[True, False]]))
    cells = linked_heads(record, links=(link,)).frames["cells"]
    assert cells["position"].tolist() == [*range(n), 60, 60]
    assert cells["key"].isna().tolist() == [True] * n + [False] * 2
    assert cells["key"].tolist()[n:] == [3, 4]
    assert cells["link"].tolist() == [""] * n + ["amod: w60 → w3"] * 2
    (*_, first, second) = next(
        layer
        for layer in drawn(linked_heads(record, links=(link,)), width=1000)
        if len(layer) == n + 2 and layer[0].get("fillOpacity") == 0
    )
    row = next(
        layer
        for layer in drawn(linked_heads(record, links=()), width=1000)
        if len(layer) == n and layer[0].get("fillOpacity") == 0
    )[60]
    assert first["width"] == pytest.approx(row["width"] / n)
    assert second["x"] == pytest.approx(first["x"] + first["width"])
    assert first["y"] == pytest.approx(row["y"])
    assert row["width"] == pytest.approx(n * row["height"])


def heatmap(window: tuple[range, range] | None = None, links: tuple[MatrixLink, ...] = LINKS, head: int = 0):
    figure = weight_heatmap(RECORD.pattern[0, head], TOKENS, window=window)
    return with_outlines(figure, links, (0, head), window)


def test_a_heatmap_outlines_the_links_and_names_them_in_the_tooltip():
    drawn_figure = heatmap().specification
    the, old = drawn_figure.layout.shapes
    corners = [(shape.x0, shape.x1, shape.y0, shape.y1) for shape in (the, old)]
    assert corners == [
        pytest.approx((1.5, 3.5, -0.5, 0.5), abs=0.05),
        pytest.approx((1.5, 3.5, 0.5, 1.5), abs=0.05),
    ]
    assert the.line.width > old.line.width
    assert (the.line.dash, old.line.dash) == (None, "4px,3px")
    trace = drawn_figure.data[0]
    assert trace.hovertemplate.endswith("%{customdata}<extra></extra>")
    assert trace.customdata[0].tolist() == ["", "", "<br>det: the → films", "<br>det: the → films"]
    assert trace.customdata[2].tolist() == [""] * 4


def test_an_outline_is_solid_only_in_a_head_that_follows_the_link():
    assert [shape.line.dash for shape in heatmap(head=1).specification.layout.shapes] == ["4px,3px"] * 2


def test_of_a_part_of_the_map_only_what_is_shown_is_outlined():
    figure = heatmap((range(1, 4), range(3, 4))).specification
    (old,) = figure.layout.shapes
    assert (old.x0, old.x1, old.y0, old.y1) == pytest.approx((-0.5, 0.5, -0.5, 0.5), abs=0.05)
    assert figure.data[0].customdata.tolist() == [["<br>amod: old → films"], [""], [""]]


def test_markup_in_a_word_is_text_in_the_tooltip():
    link = LINKS[0]._replace(label="det: <b>the</b> → films")
    assert (
        "<br>det: &lt;b&gt;the&lt;/b&gt; → films"
        in heatmap(links=(link,)).specification.data[0].customdata[0]
    )


def test_without_links_the_heatmap_is_as_it_was():
    assert heatmap(links=()).specification == weight_heatmap(RECORD.pattern[0, 0], TOKENS).specification


@pytest.mark.parametrize("head", [0, 1])
def test_what_is_outlined_is_in_the_saved_figure(head):
    svg = figure_bytes(heatmap(head=head), "svg", ExportStyle()).decode()
    outlines = [tag for tag in svg.split("<") if f'stroke="{COLOUR}"' in tag]
    assert len(outlines) == 2
    assert [("stroke-dasharray" in tag) for tag in outlines] == [head == 1, True]
