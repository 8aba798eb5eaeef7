import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.positions.embedding_scatter import embedding_scatter

PLACES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]])
TOKENS = ("[CLS]", "film", "[SEP]")


def scatter(**options):
    options = {"selected": 0} | options
    return embedding_scatter(PLACES, TOKENS, **options)


@pytest.mark.parametrize("width", [400, 1200])
def test_one_unit_is_as_long_across_as_down(width):
    _, _, marks, _ = drawn(scatter(selected=2), width=width)
    origin, right, top = marks  # the chosen one comes last
    assert right["x"] - origin["x"] == pytest.approx(2 * (origin["y"] - top["y"]))
    assert all(0 < mark["x"] < width for mark in marks)


def test_lines_go_to_the_neighbours_of_the_chosen_one():
    _, lines, marks, _ = drawn(scatter(selected=1, neighbours=[0, 2]), width=600)
    chosen = marks[-1]
    assert chosen["stroke"] == ACCENT
    assert [(line["x2"], line["y2"]) for line in lines] == [(chosen["x"], chosen["y"])] * 2
    assert {(line["x"], line["y"]) for line in lines} == {(mark["x"], mark["y"]) for mark in marks[:2]}


def test_the_colours_go_along_the_positions():
    _, _, marks, _ = drawn(scatter(), width=600)
    assert {mark["description"]: mark["fill"] for mark in marks} == {
        "[CLS]": "rgb(15, 139, 141)",
        "film": "rgb(135, 128, 136)",
        "[SEP]": "rgb(176, 66, 214)",
    }
    assert [mark["stroke"] for mark in marks] == ["rgb(135, 128, 136)", "rgb(176, 66, 214)", ACCENT]


def test_words_stand_behind_and_cannot_be_clicked():
    positions = np.concatenate((PLACES, [[1.0, 1.0]]))
    chart = embedding_scatter(positions, TOKENS, selected=0, neighbours=[3], background=["the"])
    words, lines, marks, _ = drawn(chart, width=600)
    assert [word["text"] for word in words] == ["the"]
    assert (lines[0]["x"], lines[0]["y"]) == (words[0]["x"], words[0]["y"])
    assert len(marks) == 3


def test_patches_are_pictures_in_frames():
    pictures = np.full((2, 4, 4), 255, np.uint8)
    _, _, images, marks, labels = drawn(scatter(thumbnails=pictures), width=600)
    assert len(images) == 2
    assert [label["text"] for label in labels] == ["[CLS]"]  # the class token has no picture
    frames = [mark for mark in marks if mark.get("shape") == "square"]
    assert [frame["description"] for frame in frames] == ["film", "[SEP]"]
    assert {frame["fillOpacity"] for frame in frames} == {0}
    centres = {(image["x"] + image["width"] / 2, image["y"] + image["height"] / 2) for image in images}
    assert {(frame["x"], frame["y"]) for frame in frames} == centres


def test_of_many_tokens_the_chosen_and_its_neighbours_are_labelled():
    rng = np.random.default_rng(0)
    names = [f"t{index}" for index in range(100)]
    *_, labels = drawn(embedding_scatter(rng.random((100, 2)), names, selected=7, neighbours=[9]), width=600)
    assert {label["text"] for label in labels} == {"t7", "t9"}


def test_tokens_in_one_spot_share_a_label():
    positions = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    *_, labels = drawn(embedding_scatter(positions, ("a", "b", "b"), selected=2), width=600)
    assert [label["text"] for label in labels] == ["a", "b"]


def test_one_vector_lies_in_the_middle():
    _, _, (mark,), _ = drawn(embedding_scatter(np.zeros((1, 2)), ("a",), selected=0), width=600)
    assert 200 < mark["x"] < 400
