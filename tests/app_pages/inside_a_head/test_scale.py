"""Why sqrt(d_k), on random vectors and on the checkpoint's own."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.subject.subject import LiveSubject
from tests.app_pages.shown_text import joined_captions, shown_text
from tests.model.huggingface.folders import build

TEXT = "not great film"
PART = {"text": TEXT, "inside": "Why √d_k"}


def charts(app: AppTest) -> dict[str, dict]:
    """Vega-Lite specifications by the first words of their descriptions."""
    specs = [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]
    return {spec["description"].partition(" over")[0]: spec for spec in specs}


def test_random_vectors_to_begin_with(opened):
    app = opened()
    assert "c = 0.0625" in shown_text(app)
    assert "c^2 d_k = 1$" in shown_text(app)
    assert {
        "Variance of scaled dot products",
        "Entropy of the softmax",
        "Norm of the gradient of the softmax",
    } <= set(charts(app))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"inside_d_k": "256", "inside_factor": "1"}, "c^2 d_k = 256$"),
        ({"inside_d_k": "256", "inside_factor": "1/d_k"}, "c^2 d_k = 0.00391$"),
        ({"inside_d_k": "16", "inside_factor": "another power", "inside_power": "0.25"}, "c^2 d_k = 4$"),
    ],
)
def test_the_sliders_are_in_the_address(opened, query, expected):
    assert expected in shown_text(opened(**query))


@pytest.mark.parametrize("kind", ["Text", "Digit"])
def test_the_checkpoints_own_vectors(opened, kind):
    app = opened(kind=kind, inside_scale="this encoder", layer="1", head="1")
    assert "L1 H1 on this input" in shown_text(app)
    assert f"d_k = {4 if kind == 'Text' else 3}$" in shown_text(app)
    result = charts(app)
    assert sum("heads" in description for description in result) == 3


def test_the_numbers_are_those_of_the_record(opened):
    app = opened(inside_scale="this encoder", checkpoint="imdb-pre-ln", layer="1")
    scores = LiveSubject("imdb-pre-ln", TEXT).record.scores[1, 0].astype(float)
    assert f"variance **{scores.var() * 4:.3g}**" in shown_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "trained", "left_out"),
    [
        (
            "T5EncoderModel",
            "trained without the scale",
            "adds a bias by distance to its scores, which is left out",
        ),
        (
            "DebertaV2Model",
            "trained with the scale",
            "adds scores of positions to its scores, which is left out",
        ),
    ],
)
def test_what_an_encoder_divides_and_adds_is_said(opened, checkpoints, architecture, trained, left_out):
    build(checkpoints / "own", architecture)
    app = opened(checkpoint="own", inside_scale="this encoder")
    assert trained in joined_captions(app)
    assert left_out in joined_captions(app)


def test_the_page_opens_where_one_sees_what_the_scale_is_for(opened):
    """Without it the gradient is less than half as large; and the example stands above the figures."""
    app = opened()
    with_scale, without = (
        float(result)
        for result in re.search(
            r"a median of \*\*(\S+)\*\*; without a scale they are \S+ and (\S+)\.", shown_text(app)
        ).groups()
    )
    assert without < with_scale / 2
    assert shown_text(app).index("By hand") < shown_text(app).index("With the scale")


def test_what_is_so_without_a_scale_is_said_once(opened):
    app = opened(inside_factor="1")
    assert "(0: all on one key, 1: the same on all)" in shown_text(app)
    assert "without a scale they are" not in shown_text(app)


def test_two_scores_by_hand(opened):
    """softmax(112, 96) and softmax(14, 12): 1 / (1 + e^16) and 1 / (1 + e^-2)."""
    app = opened()
    (message,) = (block.value for block in app.markdown if block.value.startswith("By hand"))
    assert r"1.13 \times 10^{-7}" in message
    assert "14 and 12, the weights 0.88 and 0.12" in message
