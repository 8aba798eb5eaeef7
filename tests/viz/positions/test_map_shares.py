import numpy as np
import pytest

from viz.positions.map_shares import map_shares


def test_shares_of_a_head_sum_to_one() -> None:
    figure = map_shares({"a": np.array([1.0, 3.0]), "b": np.array([3.0, 1.0])}, head=1)
    rows = figure.frame.set_index(["head", "map"])
    assert rows["share"].to_dict() == pytest.approx(
        {(0, "a"): 0.25, (0, "b"): 0.75, (1, "a"): 0.75, (1, "b"): 0.25}
    )
    assert rows.loc[(1, "a"), "size"] == 3
    assert figure.frames["chosen"]["head"].tolist() == [1]
