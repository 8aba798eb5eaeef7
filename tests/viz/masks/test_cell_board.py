import numpy as np
import pytest

from tests.viz.pixels import pixels
from tests.viz.scene import drawn, whole
from viz.masks.cell_board import attention_shift, cell_board

TOKENS = ("[CLS]", 'a"b', "[SEP]")
MASK = np.array([[True, True, True], [True, False, True], [True, True, True]])
WEIGHTS = MASK / MASK.sum(axis=1, keepdims=True)
WORDS = ("[CLS]", "not", "film", "[SEP]")
BEFORE, AFTER = np.array([0.1, 0.4, 0.3, 0.2]), np.array([0.25, 0.0, 0.55, 0.2])
ALLOWED = np.array([True, False, True, True])


def test_every_cell_says_which_it_is():
    cells, _, _ = drawn(cell_board(WEIGHTS, TOKENS, mask=MASK, query=2))
    assert [cell["description"] for cell in cells][3:5] == ['1 a"b to 0 [CLS]', '1 a"b to 1 a"b, masked']
    assert [cell["strokeWidth"] for cell in cells][3:5] == [0.3, 2]


@pytest.mark.parametrize("n", [6, 26, 64])
def test_names_have_room_beside_each_other_and_the_query_has_its_own(n):
    board = whole(cell_board(np.eye(n), ["a"] * n, mask=np.ones((n, n), bool), query=5))
    (named,) = (parameter["value"] for parameter in board["params"] if parameter["name"] == "named")
    assert 5 in named
    assert min(np.diff(named)) * board["width"] / n >= 11


def test_masked_cells_are_hatched_and_the_row_of_the_query_is_framed():
    cells, (hatched,), (row,) = drawn(cell_board(WEIGHTS, TOKENS, mask=MASK, query=2))
    ink = pixels(hatched["url"])[..., 3] > 0
    side = ink.shape[0] // 3
    assert (ink.reshape(3, side, 3, side).any(axis=(1, 3)) == ~MASK).all()
    assert row["y"] == cells[6]["y"]
    assert row["height"] == cells[6]["height"]


def rows(chart) -> list[dict]:
    return chart.frame.to_dict("records")


def test_keys_go_from_the_largest_loss_to_the_largest_gain():
    result = rows(attention_shift(BEFORE, AFTER, WORDS, allowed=ALLOWED))
    assert [row["key"] for row in result] == ["1 not", "3 [SEP]", "0 [CLS]", "2 film"]
    assert result[0]["change"] == pytest.approx(-0.4)
    assert [row["end"] for row in result] == ["masked", "after", "after", "after"]


def test_of_many_keys_those_that_changed_most_are_shown(monkeypatch):
    monkeypatch.setattr("viz.masks.cell_board.MOST_KEYS", 2)
    result = rows(attention_shift(BEFORE, AFTER, WORDS, allowed=ALLOWED))
    assert [row["key"] for row in result] == ["1 not", "2 film"]
