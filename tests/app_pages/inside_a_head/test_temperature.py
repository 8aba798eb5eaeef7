"""A temperature on the attention of the checkpoint, and the prediction that follows."""

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.inside_a_head.temperature import TEMPERATURES, answers_over, named, record_at
from tests.tolerance import through

Open = Callable[..., AppTest]

PAGE = "app_pages/inside_a_head/page.py"
TEXT = "not great film"


@pytest.fixture
def opened(open_app: Open) -> Open:
    def opened(**query: str) -> AppTest:
        app = open_app(PAGE, text=TEXT, inside="Why √d_k", inside_scale="temperature", **query)
        assert not app.exception
        return app

    return opened


def said(app: AppTest) -> str:
    return "\n".join(block.value for block in app.markdown)


def strips(app: AppTest, words: str) -> list[dict]:
    specs = [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]
    return [spec for spec in specs if words in spec["description"]]


def test_as_trained_to_begin_with(opened: Open) -> None:
    app = opened()
    assert app.select_slider(key="inside_temperature").value == 1
    assert "so the answer stays" in said(app)
    assert "**0.000** apart" in said(app)
    assert len(strips(app, "tokens of the text")) == 1


@pytest.mark.parametrize("kind", ["Text", "Digit"])
@pytest.mark.parametrize("where", ["all heads", "this layer", "this head"])
@pytest.mark.parametrize("t", ["0: argmax", "0.3", "∞: uniform"])
def test_every_temperature_shows_both_patterns(opened: Open, kind: str, where: str, t: str) -> None:
    app = opened(kind=kind, inside_where=where, inside_temperature=t)
    assert named(app.select_slider(key="inside_temperature").value) == t
    assert len(strips(app, "tokens of the text" if kind == "Text" else "patches")) == 2
    assert len(strips(app, "over the temperature of attention")) == 1


def test_the_prediction_is_that_of_the_changed_encoder(opened: Open) -> None:
    app = opened(
        inside_temperature="∞: uniform", inside_where="this layer", layer="1", checkpoint="imdb-pre-ln"
    )
    changed = record_at("imdb-pre-ln", TEXT, TEMPERATURES[-1], 1, None)
    assert app.metric[1].value == changed.class_names[changed.logits.argmax()]
    answers = answers_over("imdb-pre-ln", TEXT, 1, None)
    assert answers[-1] == pytest.approx(changed.probabilities, abs=through(changed.config))


def test_the_way_back(opened: Open) -> None:
    app = opened(inside_temperature="0.3")
    app.button(key="inside_as_trained").click().run()
    assert not app.exception
    assert app.select_slider(key="inside_temperature").value == 1


@pytest.mark.parametrize("nonsense", ["-1", "0.31", "hot", ""])
def test_nonsense_in_the_address_is_the_trained_temperature(opened: Open, nonsense: str) -> None:
    assert opened(inside_temperature=nonsense).select_slider(key="inside_temperature").value == 1


def test_every_temperature_has_a_name_of_its_own() -> None:
    assert len({named(t) for t in TEMPERATURES}) == len(TEMPERATURES)
    assert sorted(TEMPERATURES) == list(TEMPERATURES)
