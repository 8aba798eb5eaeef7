import numpy as np
import pytest

from app_pages.positions.bias_by_distance import offsets_text


@pytest.mark.parametrize(
    ("offsets", "text"),
    [
        ([3], "offset +3"),
        ([-1], "offset −1"),
        (range(91, 160), "the 69 offsets +91 to +159"),  # of one bucket
        ([-8, -7, 7, 8], "the 4 offsets −8 … +8"),
    ],
)
def test_all_offsets_that_share_the_largest_bias_are_named(offsets: list[int], text: str) -> None:
    assert offsets_text(np.array(offsets)) == text
