from itertools import pairwise

import numpy as np
import pytest

from model.record import Positions
from tests.viz.records import head_record
from tests.viz.scene import drawn, items, scene, whole
from tests.viz.vision import contrast, rgb
from viz.attention.token_strip import knock_out_bars, row_sums, signed_strip, token_strip, weight_strip
from viz.builders.palette import ACCENT, FALLS, RISES, TO_ONE, WeightScale, weight_colours
from viz.builders.theme import MIDDLE

TEXT = "[CLS] it is not a bad film , but far from the mas ##ter ##piece i had hoped for . [SEP]"
SENTENCE = TEXT.split()


def text(tokens):
    goes_on = [len(token) > 2 and token.startswith("##") and index > 0 for index, token in enumerate(tokens)]
    roles = tuple("continuation" if is_continuation else "word" for is_continuation in goes_on)
    return Positions(tokens=tuple(tokens), roles=roles, continuing_prefix="##")


def even(tokens):
    return np.full(len(tokens), 1 / len(tokens))


@pytest.mark.parametrize("width", [320, 700, 1500])
def test_lines_fit_the_width_and_keep_the_order_of_the_text(width):
    tokens = SENTENCE * 8
    boxes, _, _ = drawn(weight_strip(text(tokens), even(tokens), query=0), width=width)
    assert len(boxes) == len(tokens)
    for before, after in pairwise(boxes):
        if after["y"] == before["y"]:
            assert after["x"] >= before["x2"]
        else:
            assert after["y"] >= before["y"] + before["height"]
            assert after["x"] == 0
    assert max(box["x2"] for box in boxes) <= width


def test_a_wider_page_needs_fewer_lines():
    n_lines = [
        len(
            {box["y"] for box in drawn(weight_strip(text(SENTENCE), even(SENTENCE), query=0), width=width)[0]}
        )
        for width in (300, 600, 2000)
    ]
    assert n_lines[0] > n_lines[1] > n_lines[2] == 1


def test_the_pieces_of_a_word_touch_and_stay_on_one_line():
    for width in (300, 420, 540):
        boxes, texts, _ = drawn(weight_strip(text(SENTENCE), even(SENTENCE), query=0), width=width)
        mas, ter, piece = boxes[12:15]
        assert mas["x2"] == pytest.approx(ter["x"])
        assert ter["x2"] == pytest.approx(piece["x"])
        assert mas["y"] == ter["y"] == piece["y"]
        assert [text["text"] for text in texts[12:15]] == ["mas", "##ter", "##piece"]


def test_a_word_of_endless_pieces_is_broken_to_fit():
    tokens = ["donau", *["##dampfschiff"] * 30]
    boxes, _, _ = drawn(weight_strip(text(tokens), even(tokens), query=0), width=600)
    assert max(box["x2"] for box in boxes) <= 600


def test_colours_reach_as_far_as_the_scale():
    weights = np.array([0.0, 0.3, 0.1])
    for scale in (TO_ONE, WeightScale(0.3, "0 to the maximum")):
        boxes, _, _ = drawn(weight_strip(text(["a", "b", "c"]), weights, query=0, scale=scale))
        colours = rgb(*(box["fill"] for box in boxes))
        assert np.abs(colours - weight_colours(weights / scale.largest)).max() <= 0.5


@pytest.mark.parametrize("dark", [False, True])
def test_text_reads_on_every_box(dark):
    weights = np.linspace(0, 1, 201)
    boxes, texts, _ = drawn(weight_strip(text(["a"] * 201), weights, query=0), dark=dark)
    assert texts[0]["fill"] == ("white" if dark else "black")
    assert texts[-1]["fill"] == ("black" if dark else "white")
    for letters, box in zip(texts, boxes, strict=True):
        assert contrast(letters["fill"], box["fill"]) >= 4.5


PARTLY = ["[CLS]", "it", "is", "not", "a", "bad", "mas", "##ter", "##piece", "[SEP]"]
ALLOWED = np.array([token not in ("not", "##ter") for token in PARTLY])


def blocked():
    return weight_strip(text(PARTLY), ALLOWED / ALLOWED.sum(), allowed=ALLOWED, query=1)


def test_the_masked_tokens_alone_are_struck_out_in_their_boxes():
    boxes, _, strikes, _ = drawn(blocked(), width=400)
    struck = [boxes[index] for index in np.flatnonzero(~ALLOWED)]
    assert [(strike["x"], strike["x2"]) for strike in strikes] == [(box["x"], box["x2"]) for box in struck]
    for strike, box in zip(strikes, struck, strict=True):
        assert strike["y"] == box["y"] + box["height"] / 2


def test_the_cover_says_what_is_masked_and_lies_on_every_token():
    boxes, *_, cover = drawn(blocked(), width=400)
    assert [box["x"] for box in cover] == [box["x"] for box in boxes]
    descriptions = [box["description"] for box in cover]
    assert descriptions == [
        token + ("" if allowed else ", masked") for token, allowed in zip(PARTLY, ALLOWED, strict=True)
    ]


def test_a_second_click_on_what_can_be_blocked_differs_from_the_first():
    (click,) = (parameter for parameter in whole(blocked())["params"] if "select" in parameter)
    assert (click["name"], click["select"]["fields"]) == ("key", ["position", "blocked"])


def test_long_tokens_are_cut_and_markup_is_text():
    _, texts, cover = drawn(weight_strip(text(["<script>alert(1)</script>", "x" * 80]), even("ab"), query=0))
    assert [text["text"] for text in texts] == ["<script>alert(1)</scrip…", "x" * 23 + "…"]
    assert cover[1]["description"] == "x" * 80


def test_a_piece_is_written_as_in_the_vocabulary():
    read = Positions(tokens=("mas", "@@ter"), roles=("word", "continuation"), continuing_prefix="@@")
    boxes, texts, _ = drawn(weight_strip(read, np.ones(2), query=0))
    assert boxes[0]["x2"] == pytest.approx(boxes[1]["x"])
    assert [text["text"] for text in texts] == ["mas", "@@ter"]


def test_positions_of_a_view_are_those_of_the_input_and_its_notes_stand_above():
    read = Positions(tokens=("films", "it"), roles=("word",) * 2, numbers=(2, 5), merged=True)
    figure = weight_strip(read, np.array([0.25, 0.75]), query=1, notes=["words: merged"])
    assert figure.frame["position"].tolist() == [2, 5]
    assert figure.frame["selected"].tolist() == [False, True]
    assert "The 2 words" in figure.description
    assert "word 5" in figure.description
    assert figure.specification["title"]["text"] == ["words: merged"]


def test_a_record_gives_the_row_of_one_query():
    pattern = np.array([[0.25, 0.75], [0.5, 0.5]])
    figure = token_strip(head_record(pattern, ["a", "b"]), 0, 0, 1)
    assert figure.frame["weight"].tolist() == [0.5, 0.5]
    assert figure.frame["selected"].tolist() == [False, True]
    other = token_strip(head_record(pattern, ["a", "b"], keys=["x", "y"]), 0, 0, 0)
    assert other.frame["token"].tolist() == ["x", "y"]
    assert other.frame["weight"].tolist() == [0.25, 0.75]
    assert not other.frame["selected"].any()


def test_a_bar_is_as_high_as_its_row_sums_up_to():
    bars, (one,) = drawn(row_sums(np.array([[0.5, 0.5], [0.25, 0.0]]), ("a", "b"), query=1), width=300)
    heights = [bar["height"] for bar in bars]
    assert heights[1] == pytest.approx(heights[0] / 4)
    assert one["y"] == pytest.approx(bars[0]["y"])
    assert [bar["stroke"] == ACCENT for bar in bars] == [False, True]


@pytest.mark.parametrize("width", [300, 700])
@pytest.mark.parametrize(("n", "query"), [(6, 0), (26, 7), (64, 0), (64, 33)])
def test_upright_names_never_touch_and_the_query_has_its_own(n, query, width):
    tokens = ["a"] * n
    for figure in (
        row_sums(np.eye(n), tokens, query=query),
        knock_out_bars(tokens, np.zeros(n), query=query, limit=1, what="fall of P(good)"),
    ):
        labels = [item for item in items(scene(figure, width=width)) if str(item.get("text")).endswith(" a")]
        assert f"{query} a" in {label["text"] for label in labels}
        assert {label["angle"] % 360 for label in labels} == {270}
        assert np.diff(sorted(label["x"] for label in labels)).min() >= MIDDLE


TOKENS = ("[CLS]", "not", "not")


def bars(tokens=TOKENS, falls=(0.0, -0.5, 0.25), **options):
    return knock_out_bars(
        tokens, np.array(falls), **({"query": 1, "limit": 0.5, "what": "fall of P(good)"} | options)
    )


def test_a_fall_is_gold_above_and_a_rise_is_purple_below():
    coloured, ((zero),), _ = drawn(bars(), width=500)
    by_height = sorted(coloured, key=lambda bar: bar["x"])
    assert [bar["fill"] for bar in by_height[1:]] == [FALLS, RISES]
    assert by_height[1]["y"] == pytest.approx(zero["y"])
    assert by_height[2]["y"] + by_height[2]["height"] == pytest.approx(zero["y"])
    assert by_height[1]["height"] == pytest.approx(2 * by_height[2]["height"])


def test_each_token_has_its_own_bar_over_its_whole_height():
    *_, cover = drawn(bars(), width=500)
    assert len({bar["x"] for bar in cover}) == 3
    assert len({(bar["y"], bar["height"]) for bar in cover}) == 1
    assert cover[0]["height"] > 150


def test_signed_numbers_are_gold_above_0_and_purple_below_and_end_at_the_limit():
    figure = signed_strip(text(["a", "b", "c", "d"]), np.array([0.5, -0.5, 0, 0.25]), limit=0.5, what="adds")
    boxes, texts, cover = drawn(figure)
    fills = [box["fill"] for box in boxes]
    assert rgb(*fills[:2]).tolist() == rgb(RISES, FALLS).tolist()
    assert len(set(fills)) == 4
    assert fills[2].endswith(", 0)")
    assert [letters["text"] for letters in texts] == ["a", "b", "c", "d"]
    assert [box["description"] for box in cover] == ["a", "b", "c", "d"]
    assert figure.frame["value"].tolist() == [0.5, -0.5, 0, 0.25]


def test_letters_on_a_strong_signed_colour_are_light():
    _, texts, _ = drawn(signed_strip(text(["a", "b", "c"]), np.array([0.9, -0.9, 0.5]), limit=1, what="adds"))
    strong, also_strong, weak = (letters["fill"] for letters in texts)
    assert strong == also_strong != weak
    assert contrast(strong, "black") > contrast(weak, "black")
