"""A temperature on the attention of the checkpoint, and the prediction that follows."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.inside_a_head_controls import temperature_label
from app_pages.inside_a_head.temperature import TEMPERATURES
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.capture.intervention import at_temperature
from model.measures.head_measures import entropy
from tests.app_pages.charts import described, table
from tests.app_pages.shown_text import shown_text
from tests.model import tiny
from tests.model.huggingface.folders import build
from tests.tolerance import encoder_rounding

TEXT = "not great film"
PART = {"text": TEXT, "inside": "Why √d_k", "inside_scale": "temperature"}


def strips(app: AppTest, words: str) -> list[dict]:
    specs = [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]
    return [spec for spec in specs if words in spec["description"]]


def test_as_trained_to_begin_with(opened):
    app = opened()
    assert app.select_slider(key="inside_temperature").value == 1
    (verdict,) = (
        block.proto.body for block in app.get("html") if "At T = 1, the prediction" in block.proto.body
    )
    assert "as before" in verdict
    assert "Total variation" not in shown_text(app)
    assert len(strips(app, "tokens of the text")) == 1


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", ["Text", "Digit"])
@pytest.mark.parametrize("where", ["all heads", "this layer", "this head"])
@pytest.mark.parametrize("t", ["0: argmax", "0.3", "∞: uniform"])
def test_every_temperature_shows_both_patterns(opened, kind, where, t):
    app = opened(kind=kind, inside_where=where, inside_temperature=t)
    assert temperature_label(app.select_slider(key="inside_temperature").value) == t
    assert len(strips(app, "tokens of the text" if kind == "Text" else "patches")) == 2
    assert len(strips(app, "over the temperature of attention")) == 1


def test_the_prediction_is_that_of_the_changed_encoder(opened):
    app = opened(
        inside_temperature="∞: uniform",
        inside_where="this layer",
        layer="1",
        query="0 [CLS]",
        checkpoint="imdb-pre-ln",
    )
    changed = LiveSubject("imdb-pre-ln", TEXT, intervention=at_temperature(TEMPERATURES[-1], layer=1)).record
    assert app.metric[0].value == changed.class_names[changed.logits.argmax()]
    points = table(app, "Probability of", "temperature", "class", "probability")
    at_the_end = points[points["temperature"] == "∞"]["probability"]
    trained = LiveSubject("imdb-pre-ln", TEXT).record.probabilities
    shift = abs(changed.probabilities - trained).sum() / 2
    assert f"Total variation of the prediction: {shift:#.2g}." in shown_text(app)
    shares = [
        entropy(record.pattern[1, 0], record.mask[1, 0])[0]
        for record in (LiveSubject("imdb-pre-ln", TEXT).record, changed)
    ]
    for title, share in zip(("As trained", "At T = ∞: uniform"), shares, strict=True):
        assert f"**{title}**: weights of query 0 in L1 H0, entropy {share:.2f} of 1" in shown_text(app)
    assert at_the_end.to_list() == pytest.approx(changed.probabilities, abs=encoder_rounding(changed.config))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("config", [tiny.TEXT, tiny.DIGIT])
def test_without_classes_the_pooled_state_is_followed(opened, checkpoints, config):
    loaded = tiny.loaded(replace(config, class_names=()))
    checkpoint.save(checkpoints / "headless", loaded.model, {}, loaded.tokenizer)
    app = opened(kind="Text" if config.is_text else "Digit", checkpoint="headless", inside_temperature="0.3")
    assert not app.metric
    bodies = [block.proto.body for block in app.get("html")]
    assert any("At T = 0.3, the pooled state changes by" in body for body in bodies)
    (line,) = described(app, "cosine distance of the pooled state, over")["tables"]
    as_trained, *_ = line[line["stage"] == "1"]["value"]
    assert as_trained == pytest.approx(0, abs=1e-6)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "scores", "words"),
    [
        ("T5EncoderModel", r"\frac1T \left(q_i \cdot k_j + B_{ij}\right)", "does not divide by"),
        (
            "MPNetModel",
            r"\frac1T \left(q_i \cdot k_j / \sqrt{d_k} + B_{ij}\right)",
            "and a bias $\\sqrt{d_k}$ times as large",
        ),
        ("DebertaV2Model", r"/ \sqrt{3 \, d_k}\right)", "the plain sum of their maps"),
    ],
)
def test_the_scores_are_those_of_the_encoder_at_hand(opened, checkpoints, architecture, scores, words):
    build(checkpoints / "own", architecture)
    app = opened(checkpoint="own")
    assert scores in shown_text(app)
    assert words in shown_text(app)


def test_the_way_back(opened):
    app = opened(inside_temperature="0.3")
    app.button(key="inside_as_trained").click().run()
    assert not app.exception
    assert app.select_slider(key="inside_temperature").value == 1


def test_every_temperature_has_a_name_of_its_own():
    assert len({temperature_label(t) for t in TEMPERATURES}) == len(TEMPERATURES)
    assert sorted(TEMPERATURES) == list(TEMPERATURES)
