import numpy as np
import pytest

from model.measures.head_table import head_table
from model.record.from_arrays import from_arrays

N = 9


def record():
    """A head that looks at the token before, and one that spreads its weight."""
    before = np.zeros((N, N))
    before[range(N), [0, *range(N - 1)]] = 1
    return from_arrays(np.stack([before, np.full((N, N), 1 / N)])[None], [f"t{index}" for index in range(N)])


def test_a_row_for_each_head_with_its_numbers() -> None:
    table = head_table(record())
    assert table[["layer", "head"]].to_numpy().tolist() == [[0, 0], [0, 1]]
    assert table["entropy"].tolist() == pytest.approx([0, 1])
    assert table["previous"].tolist() == pytest.approx([8 / 9, 8 / 81])
    # The mean of |i - j| over all pairs of nine positions is 80 / 27.
    assert table["distance (tokens)"].tolist() == pytest.approx([8 / 9, 80 / 27])
    assert table["role"].tolist() == ["previous-token head", "uniform head"]


def test_rows_that_do_not_sum_to_1_leave_out_what_they_do_not_have() -> None:
    table = head_table(from_arrays(np.full((1, 2, 3, 3), 0.1), ["a", "b", "c"]))
    assert not {"entropy", "distance (tokens)", "sink"} & set(table.columns)
    assert {"layer", "head", "role", "previous"} <= set(table.columns)
    assert len(table) == 2
