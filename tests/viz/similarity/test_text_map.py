import numpy as np

from tests.viz.scene import drawn
from viz.builders.figure import VegaFigure
from viz.builders.number_format import percent
from viz.similarity.text_map import text_map

IMAGE = np.zeros((32, 48, 3), np.uint8)
SHARES = np.array([0.5, -0.25, 0.0, 2.0, 0.0, -1.0])


def figure(**changed: object) -> VegaFigure:
    options = {"text": "a cat", "elsewhere": -3.0, "probability": 0.25, "limit": 2.0} | changed
    return text_map(IMAGE, SHARES, (2, 3), **options)


def test_each_share_lies_on_its_patch_and_above_stand_text_logit_and_probability():
    result = figure()
    assert result.frame["share"].tolist() == SHARES.tolist()
    title = result.specification["title"]
    assert title["text"] == ["a cat"]
    assert title["subtitle"] == [
        f"logit −1.75 · probability {percent(0.25)}",
        "patches +1.25, no patch −3.00",
    ]
    *_, cover = drawn(result)
    assert [patch["description"] for patch in cover] == ["r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2"]


def test_a_share_has_one_colour_for_all_texts():
    colours, other = (drawn(figure(text=text))[0] for text in ("a cat", "a dog"))
    assert [patch["fill"] for patch in colours] == [patch["fill"] for patch in other]
    wider, *_ = drawn(figure(limit=20.0))
    assert wider[3]["fill"] != colours[3]["fill"]


def test_a_long_text_has_two_lines_and_an_ellipsis():
    title = figure(text="a photo of a cat " * 20, side=230).specification["title"]["text"]
    assert len(title) == 2
    assert title[1].endswith(" …")
    assert max(map(len, title)) <= 27


def test_the_legend_can_be_left_out():
    with_legend, without = (str(figure(has_legend=has).specification) for has in (True, False))
    assert "adds to the logit of the text" in with_legend
    assert "'legend': None" in without
