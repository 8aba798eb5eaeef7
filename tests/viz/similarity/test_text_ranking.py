import numpy as np

from tests.viz.scene import drawn
from viz.builders.figure import VegaFigure
from viz.similarity.text_ranking import text_ranking

TEXTS = ("a dull\nfilm", "<script>alert(1)</script>", "good", "a long " + "story " * 200)
COSINES = np.array([0.25, 0.75, 0.25, -0.5])


def figure(texts: tuple[str, ...] = TEXTS, cosines: np.ndarray = COSINES) -> VegaFigure:
    return text_ranking(texts, cosines, selected=(1, 3))


def test_texts_stand_by_rank_each_with_its_words_and_its_cosine():
    _, ranks, words, dots, numbers, cover = drawn(figure(), width=800)
    assert [mark["text"] for mark in ranks] == [1, 2, 3, 4]
    assert [mark["text"] for mark in words][:3] == ["<script>alert(1)</script>", "a dull film", "good"]
    assert [mark["text"] for mark in numbers] == ["0.7500", "0.2500", "0.2500", "−0.5000"]
    y = [mark["y"] for mark in words]
    assert y == sorted(y) == [mark["y"] for mark in dots]
    x = [mark["x"] for mark in dots]
    assert x[0] > x[1] == x[2] > x[3] > 0.58 * 800
    assert len(cover) == 4


def test_those_that_are_selected_are_green_and_bold():
    _, _, words, dots, *_ = drawn(figure(), width=800)
    assert dots[0]["fill"] == dots[2]["fill"] != dots[1]["fill"]
    assert [mark.get("fontWeight") for mark in words] == ["bold", "normal", "bold", "normal"]


def test_a_long_text_ends_before_the_axis():
    _, _, words, *_ = drawn(figure(), width=600)
    assert words[3]["limit"] + words[3]["x"] <= 0.58 * 600
    assert len(figure().frame["text"][3]) <= 300


def test_one_text_and_equal_cosines_are_drawn():
    for n in (1, 3):
        _, _, _, dots, *_ = drawn(figure(("film",) * n, np.ones(n)), width=700)
        assert len(dots) == n
        assert all(0.58 * 700 < mark["x"] < 700 for mark in dots)
