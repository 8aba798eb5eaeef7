import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.heads.stage_positions import stage_positions

STAGES, TOKENS = ("embed", "L0 mid"), ("the", "film", "the")
EFFECTS = np.array([[0.5, np.nan, -1.0], [0.0, 0.25, 0.1]])


def figure(effects=EFFECTS, **options):
    style = {"query": 1, "what": "log-odds of positive", "signed": True}
    return stage_positions(effects, STAGES, TOKENS, **style | options)


def test_stages_go_down_and_positions_across():
    _, cover = drawn(figure(), width=600)
    corners = {cell["description"]: (cell["x"], cell["y"]) for cell in cover}
    assert corners["embed, 0 the"][1] < corners["L0 mid, 0 the"][1]
    assert corners["embed, 0 the"][0] < corners["embed, 1 film"][0] < corners["embed, 2 the"][0]


def test_the_column_of_the_query_is_framed():
    _, cover = drawn(figure(), width=600)
    framed = {cell["description"] for cell in cover if cell["stroke"] == ACCENT}
    assert framed == {"embed, 1 film", "L0 mid, 1 film"}


def test_a_position_without_a_partner_says_so():
    frame = figure().frame.set_index("name")
    assert frame.loc["embed, 1 film", "exact"] == "no partner"
    assert frame.loc["embed, 2 the", "exact"] == "−1"


def test_many_positions_come_in_order():
    effects = np.zeros((2, 50))
    names = [f"r{index}" for index in range(50)]
    made = stage_positions(effects, STAGES, names, query=None, what="x", signed=True)
    _, cover = drawn(made, width=900)
    row = sorted(
        (cell for cell in cover if cell["description"].startswith("embed")), key=lambda cell: cell["x"]
    )
    assert [cell["description"] for cell in row] == [f"embed, {index} r{index}" for index in range(50)]


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \(2, 3\)"):
        figure(EFFECTS[:1])
