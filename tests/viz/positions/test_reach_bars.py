import numpy as np
import pytest

from tests.viz.scene import scene
from viz.positions.reach_bars import HOLDS, SEES, reach_bars


def test_two_bars_a_layer() -> None:
    sees, holds = np.array([[2, 2], [3, 0]]), np.array([[2, 2], [5, 2]])
    rows = reach_bars(sees, holds, half=9, names=["L0", "L1"]).frame.set_index(["bar", "layer"])
    assert rows.loc[(SEES, "L1"), ["before", "after"]].tolist() == [-3, 0]
    assert rows.loc[(HOLDS, "L1"), ["before", "after"]].tolist() == [-5, 2]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="holds"):
        reach_bars(np.zeros((2, 2)), np.zeros((1, 2)), half=9, names=["L0", "L1"])


def test_the_axis_names_the_token_itself() -> None:
    reached = np.full((3, 2), 19)
    figure = reach_bars(reached, reached, half=19, names=["L0", "L1", "L2"])
    labels = shown_texts(scene(figure, width=1200))
    assert {"−10", "0", "10"} <= labels


def shown_texts(part: dict) -> set[str]:
    own = {str(part["text"])} if part.get("text") is not None and part.get("opacity", 1) > 0 else set()
    return own.union(*(shown_texts(item) for item in part.get("items", [])))
