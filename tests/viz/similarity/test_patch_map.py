import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.similarity.patch_map import patch_map

COSINES = np.linspace(-1, 1, 36).reshape(6, 6)


def test_the_cosines_of_the_patch_lie_where_the_others_do() -> None:
    figure = patch_map(COSINES, (2, 3), 4)
    assert figure.frame.sort_values("patch")["cosine"].tolist() == COSINES[4].tolist()
    *_, cover = drawn(figure)
    assert [cell["description"] for cell in cover if cell["stroke"] == ACCENT] == ["r1c1"]
    assert "the state of r1c1" in figure.specification["description"]


def test_of_another_picture_no_patch_is_outlined() -> None:
    figure = patch_map(COSINES[:4], (2, 3), 3, other_picture=True)
    *_, cover = drawn(figure)
    assert not [cell for cell in cover if cell["stroke"] == ACCENT]
    assert "the state of patch 3 of another picture" in figure.specification["description"]


@pytest.mark.parametrize(
    ("grid", "patch", "message"),
    [((2, 3), 6, "the patches are 0 to 5, got 6"), ((2, 2), 0, "a grid of 2 × 2 patches has no 6 cosines")],
)
def test_what_does_not_fit_is_refused(grid: tuple[int, int], patch: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        patch_map(COSINES, grid, patch)
