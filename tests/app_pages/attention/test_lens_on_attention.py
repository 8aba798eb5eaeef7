from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.address import Control
from app_pages.show import all_heads
from app_pages.subject import cache
from app_pages.subject import subject as module
from app_pages.subject.subject import OPENED, FileSubject, LiveSubject
from model import checkpoint
from model.lenses import LENSES, through
from model.lenses.rollout import rollout
from model.record.from_arrays import from_arrays
from tests.app_pages.charts import described, shown
from tests.app_pages.linked import ROUNDING, captions, choose, linked
from tests.app_pages.shown_subject import subject_of
from tests.model import tiny
from tests.viz.export.offline_parts import Parts

Open = Callable[..., AppTest]

TEXT = "not great film"
CHOSEN = {"checkpoint": "imdb-post-ln", "layer": "1"}


def through_lens(lens: str, **query: str) -> dict[str, str]:
    """What an address says: with the second head, where the lens has heads."""
    return {"lens": lens, "layer": "1", **query} | ({"head": "1"} if LENSES[lens].has_heads else {})


def expected(
    lens: str, model_input: object, name: str = "imdb-post-ln", number: int | None = None
) -> np.ndarray:
    seen = through(lens, cache.loaded(name), model_input, number)
    return seen.pattern[1, 1 if LENSES[lens].has_heads else 0]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("lens", LENSES)
def test_the_address_restores_the_lens(open_app, lens):
    app = open_app(text=TEXT, **through_lens(lens, **CHOSEN))
    assert app.selectbox(key="lens").value == lens
    chart = linked(app)
    np.testing.assert_allclose(chart.map, expected(lens, TEXT), atol=ROUNDING)
    assert (chart.state("quantity"), chart.state("reach")) == (LENSES[lens].quantity, "1")
    assert ("same weight for all" in chart.state("even_text")) == LENSES[lens].sums_to_1
    (about,) = (block.value for block in app.markdown if LENSES[lens].formula in block.value)
    assert LENSES[lens].source in about


def _grid(kind: str) -> dict[str, int]:
    """Without a class token there is a position less."""
    return {"n_positions": 4} if kind == "Digit" else {}


@pytest.mark.slow
@pytest.mark.parametrize("lens", LENSES)
@pytest.mark.parametrize("kind", ["Text", "Digit"])
def test_every_lens_without_classes(open_app, checkpoints, lens, kind):
    config = {"Text": tiny.TEXT, "Digit": tiny.DIGIT}[kind]
    loaded = tiny.loaded(replace(config, class_names=(), pooling="mean", **_grid(kind)))
    checkpoint.save(checkpoints / "headless", loaded.model, {}, loaded.tokenizer)
    app = open_app(kind=kind, text=TEXT, checkpoint="headless", lens=lens)
    assert linked(app).map.max() > 0
    assert not app.warning
    is_explained = any("the gradient is of $p \\cdot p$" in block.value for block in app.markdown)
    assert is_explained == (lens == "gradient × attention")


@pytest.mark.slow
@pytest.mark.parametrize("lens", LENSES)
def test_every_lens_of_a_digit(open_app, lens):
    app = open_app(kind="Digit", checkpoint="mnist-post-ln", **through_lens(lens))
    model_input = subject_of(app).model_input
    np.testing.assert_allclose(linked(app).map, expected(lens, model_input, "mnist-post-ln"), atol=ROUNDING)


def test_a_lens_without_heads_leaves_the_head_that_was_chosen(open_app):
    app = open_app(text=TEXT, lens="rollout", head="1", **CHOSEN, forgiven=["head"])
    assert app.selectbox(key="no_head").disabled
    chart = linked(app)
    assert (chart.kept[:2], chart.name, chart.frames["frame"]["name"].tolist()) == (
        (1, 0),
        "L1",
        ["L0", "L1"],
    )
    assert described(app, "Share of the attention of 2 layers")
    app.selectbox(key="layer").set_value(0).run()
    app.selectbox(key="lens").set_value("attention").run()
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == (0, 1)


def test_a_choice_in_the_chart_is_a_layer_where_there_are_no_heads(open_app):
    app = open_app(text=TEXT, head="1", lens="rollout", **CHOSEN, forgiven=["head"])
    choose(app, layer=0, query=2)
    assert linked(app).kept == (0, 0, 2)
    app.selectbox(key="lens").set_value("attention").run()
    assert linked(app).kept == (0, 1, 2)  # the head that was chosen before
    choose(app, layer=1, head=0)
    assert linked(app).kept == (1, 0, 2)


def test_beside_lines_a_click_chooses_a_layer_where_there_are_no_heads(open_app, monkeypatch):
    for lens in ("value zeroing", "attention"):
        clicks, taken = {}, {}
        with monkeypatch.context() as patched:
            patched.setattr(
                all_heads,
                "clickable",
                lambda _, key, take, clicks=clicks, **__: clicks.update({key: take}),
            )
            assert not open_app(text=TEXT, view="lines", **through_lens(lens, **CHOSEN)).exception
            patched.setattr(
                Control, "take", lambda control, value, taken=taken: taken.update({control.key: value})
            )
            clicks["overview"]({"layer": 0.0, "head": 0.0})
        assert taken == ({"layer": 0, "head": 0} if LENSES[lens].has_heads else {"layer": 0})


@pytest.mark.parametrize(("name", "number"), [("negative", 0), ("positive", 1)])
def test_the_relevance_is_for_the_chosen_class(open_app, name, number):
    lens = "gradient × attention"
    app = open_app(text=TEXT, lens_class=name, **through_lens(lens, **CHOSEN))
    chart = linked(app)
    np.testing.assert_allclose(chart.map, expected(lens, TEXT, number=number), atol=ROUNDING)
    assert f"lens: {lens}, of the class {name}" in captions(app)


def test_figures_say_their_lens(open_app):
    app = open_app(text=TEXT, **CHOSEN)
    assert "lens: " not in captions(app)
    app.selectbox(key="lens").set_value("norm-weighted").run()
    assert "lens: norm-weighted" in captions(app)
    app = open_app(text=TEXT, part="mean", lens="norm-weighted", **CHOSEN)
    assert "lens: norm-weighted" in shown(app)["data"][0]["colorbar"]["title"]["text"]
    assert any("lens: norm-weighted" in chart.proto.spec for chart in app.get("vega_lite_chart"))


def test_words_are_merged_behind_the_lens(open_app):
    app = open_app(text="films", words="true", lens="value zeroing", **CHOSEN)
    assert not app.exception
    one = expected("value zeroing", "films")
    merged = linked(app).map
    assert merged.shape[0] < len(one)
    np.testing.assert_allclose(merged[0].sum(), one[0].sum(), atol=len(merged) * ROUNDING)


def test_what_rows_were_divided_by_stands_beside(open_app):
    def captions_through(lens: str) -> str:
        app = open_app(text=TEXT, **through_lens(lens, **CHOSEN))
        return " ".join(caption.value for caption in app.caption)

    assert "Before each row is divided by its sum" in captions_through("norm-weighted")
    assert "Mixing ratio 0." in captions_through("residual and LayerNorm")


def test_long_work_goes_in_steps(open_app, monkeypatch):
    requests = []
    monkeypatch.setattr(module, "in_steps", lambda steps, text, _: requests.append((len(steps), text)))
    assert not open_app(text=TEXT, lens="value zeroing, rolled out", **CHOSEN).exception
    assert requests[0] == (2, "Leaving out one value after another …")


def opened(open_app: Open, record: object, **query: Any) -> AppTest:
    made = FileSubject(file_name="mine.npz", record=record, settings={}, picture=None)
    return open_app(session={OPENED: made}, kind="Record", **query)


def test_a_record_has_the_lenses_that_need_no_encoder(open_app):
    pattern = np.random.default_rng(0).dirichlet(np.ones(3), (2, 2, 3)).astype(np.float32)
    record = from_arrays(pattern, ["a", "b", "c"])
    app = opened(open_app, record, lens="value zeroing", forgiven=["lens"])
    assert app.selectbox(key="lens").options == ["attention", "rollout"]
    assert app.selectbox(key="lens").value == "attention"
    assert any("The other lenses need the encoder" in block.value for block in app.markdown)
    app.selectbox(key="lens").set_value("rollout").run()
    np.testing.assert_allclose(linked(app).map, rollout(record).pattern[0, 0], atol=ROUNDING)


def test_attention_between_two_inputs_has_no_other_lens(open_app):
    record = from_arrays(np.full((1, 1, 2, 3), 1 / 3), ["a", "b"], keys=["x", "y", "z"])
    app = opened(open_app, record, lens="rollout", forgiven=["lens"])
    assert not app.exception
    assert all(box.key != "lens" for box in app.selectbox)


@pytest.mark.usefixtures("without_vega")
def test_the_offline_page_says_the_lens(open_app, monkeypatch):
    made = {}
    monkeypatch.setattr(
        "app_pages.attention.save_buttons._draw_button",
        lambda label, content, *_args, **_options: made.update({label: content}),
    )
    open_app(text=TEXT, lens="rollout", **CHOSEN)
    content = made["Save as web page"]()
    assert b"lens: rollout" in content
    datasets = Parts(content).data()["datasets"]
    assert datasets["state"]["quantity"] == ["share of the attention"]
    assert datasets["frame"]["name"][:2] == ["L0", "L1"]  # maps of layers
    assert all(datasets["frame"]["about"])


def test_the_map_of_another_class_is_not_checked_against_the_answer(open_app):
    options = {"text": TEXT, "lens": "gradient × attention", **CHOSEN}
    record = LiveSubject("imdb-post-ln", TEXT).record
    names = list(record.class_names)
    predicted = names.pop(int(record.logits.argmax()))
    unchecked = "Knock-outs are measured on the predicted class: choose that one to check this map."
    for name, is_unchecked in (("predicted", False), (predicted, False), (names[0], True)):
        app = open_app(lens_class=name, faithful="true", **options)
        assert not app.exception
        assert (unchecked in [line.value for line in app.markdown]) == is_unchecked
        assert any("Rank correlation with" in line.value for line in app.markdown) != is_unchecked
