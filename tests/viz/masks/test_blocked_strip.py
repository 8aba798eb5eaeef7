import numpy as np

from tests.viz.scene import drawn
from viz.masks.blocked_strip import blocked_strip

TOKENS = ["[CLS]", "it", "is", "not", "a", "bad", "mas", "##ter", "##piece", "[SEP]"]
ALLOWED = np.array([token not in ("not", "##ter") for token in TOKENS])
WEIGHTS = ALLOWED / ALLOWED.sum()


def strip(**options):
    return blocked_strip(TOKENS, WEIGHTS, allowed=ALLOWED, query=1, **options)


def test_the_masked_tokens_alone_are_struck_out_in_their_boxes():
    boxes, _, _, strikes, _ = drawn(strip(), width=400)
    struck = [boxes[at] for at in np.flatnonzero(~ALLOWED)]
    assert [(strike["x"], strike["x2"]) for strike in strikes] == [(box["x"], box["x2"]) for box in struck]
    for strike, box in zip(strikes, struck, strict=True):
        assert strike["y"] == box["y"] + box["height"] / 2


def test_the_cover_says_what_is_masked_and_lies_on_every_token():
    boxes, *_, cover = drawn(strip(), width=400)
    assert [box["x"] for box in cover] == [box["x"] for box in boxes]
    said = [box["description"] for box in cover]
    assert said == [
        token + ("" if allowed else ", masked") for token, allowed in zip(TOKENS, ALLOWED, strict=True)
    ]


def test_a_second_click_differs_from_the_first():
    (click,) = (param for param in strip().to_dict()["params"] if param["name"] == "key")
    assert click["select"]["fields"] == ["position", "blocked"]


def test_the_colours_keep_their_one_legend():
    layers = strip().to_dict()["layer"]
    assert ["color" in layer["encoding"] for layer in layers] == [True, False, False, False, False]
