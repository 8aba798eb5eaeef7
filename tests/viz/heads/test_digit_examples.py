import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.heads.digit_examples import digit_examples

IMAGES = np.random.default_rng(0).integers(0, 256, (3, 28, 28), dtype=np.uint8)


def figure(queries=(0, 5, None), keys=(48, None, 7)):
    return digit_examples(
        IMAGES, queries, keys, [0.99, 0.5, 0.25], numbers=[7, 1, 40], patch_grid=(7, 7), columns=2
    )


def test_query_and_key_lie_on_their_patches() -> None:
    _, keys, pictures, queries, texts, _ = drawn(figure())
    side = pictures[0]["width"]
    assert len(pictures) == 3
    assert len(keys) == len(queries) == 2  # the class token has no place
    first, last = queries[0], keys[0]
    assert (first["x"], first["y"]) == pytest.approx((pictures[0]["x"], pictures[0]["y"]))
    assert (first["width"], first["height"]) == pytest.approx((side / 7, side / 7))
    assert last["x"] + last["width"] == pytest.approx(pictures[0]["x"] + side)
    assert last["y"] + last["height"] == pytest.approx(pictures[0]["y"] + side)
    second = queries[1]
    assert second["x"] == pytest.approx(pictures[1]["x"] + 5 * side / 7)
    third = keys[1]
    assert third["y"] == pytest.approx(pictures[2]["y"] + side / 7)
    assert texts[0]["text"] == "0.99, digit 7"


def test_everything_is_said_in_words() -> None:
    assert "digit 7: row 0, column 0 looks at row 6, column 6, weight 0.99" in figure().description
    assert "digit 40: the class token looks at row 1, column 0" in figure().description


def test_lists_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="expected shape"):
        figure(queries=(0, 5))


def test_none_make_an_empty_figure() -> None:
    none = digit_examples(IMAGES[:0], [], [], [], numbers=[], patch_grid=(7, 7), columns=2)
    assert not len(none.frame)
