import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st

from app_pages.attention import attributed_answer
from app_pages.subject import cache, shipped_inputs
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.experiments.masked_word import guesses
from tests.app_pages.charts import shown, weights
from tests.app_pages.linked import ROUNDING, choose, linked
from tests.app_pages.shown_subject import subject_of
from tests.model import tiny

TEXT = "not great film"


def test_the_maps_are_those_of_the_record_and_the_chosen_one_is_in_large(open_app):
    chart = linked(open_app(text=TEXT, checkpoint="imdb-pre-ln", layer="1", head="1", query="2 great"))
    assert (chart.kept, chart.name) == ((1, 1, 2), "L1 H1")
    pattern = LiveSubject("imdb-pre-ln", TEXT).record.pattern
    np.testing.assert_allclose(chart.weights, np.moveaxis(pattern, 2, 0), atol=ROUNDING)
    np.testing.assert_allclose(chart.map, pattern[1, 1], atol=ROUNDING)


def test_the_chart_does_not_wait_for_the_check_of_its_map(open_app, monkeypatch):
    order: list[str] = []

    def noted(name: str, function: Callable) -> Callable:
        return lambda *arguments, **options: (order.append(name), function(*arguments, **options))[1]

    monkeypatch.setattr(st, "vega_lite_chart", noted("chart", st.vega_lite_chart))
    monkeypatch.setattr(attributed_answer, "faithfulness", noted("check", attributed_answer.faithfulness))
    assert not open_app(text=TEXT).exception
    assert order[:2] == ["chart", "check"]


@pytest.mark.parametrize("part", ["mean", "maximum"])
def test_over_the_heads_of_a_layer_the_matrix_is_alone(open_app, part):
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", layer="1", part=part)
    figure = shown(app)
    assert any(block.value.startswith(f"**L1, {part} over its heads**") for block in app.markdown)
    heads = LiveSubject("imdb-pre-ln", TEXT).record.pattern[1]
    expected = heads.mean(axis=0) if part == "mean" else heads.max(axis=0)
    np.testing.assert_allclose(weights(figure), expected, rtol=1e-6)


def test_the_colour_scale_is_said(open_app):
    app = open_app(text=TEXT)
    chart = linked(app)
    assert (chart.state("reach"), chart.data["tops"]) == ("1", None)
    app.segmented_control(key="scale").set_value("to own maximum").run()
    chart = linked(app)
    assert chart.state("reach") == "each map's own maximum"
    largest = LiveSubject(subject_of(app).checkpoint, TEXT).record.pattern.max(axis=(-2, -1)).ravel()
    np.testing.assert_allclose(chart.data["tops"], largest)
    np.testing.assert_allclose(chart.frames["frame"]["top"], largest)


def test_lines_take_the_place_of_the_matrix(open_app):
    app = open_app(text=TEXT, view="lines")
    assert not app.exception
    assert not app.get("plotly_chart")
    assert app.toggle(key="all_queries").value
    app.toggle(key="all_queries").set_value(False).run()
    assert not app.exception


def test_of_a_digit_the_class_token_is_a_button_and_the_patches_are_the_picture(open_app):
    app = open_app(kind="Digit", query="r1c0")
    chart = linked(app)
    assert chart.kept[2] == 3
    assert chart.data["queries"] == ["[CLS]"]
    assert chart.frames["patches"]["position"].tolist() == [1, 2, 3, 4]
    choose(app, query=0)
    assert app.selectbox(key="query").value == 0


def test_the_answer_and_whether_it_is_right(open_app):
    app = open_app(kind="Digit", digit="1")  # labelled 2
    probabilities = LiveSubject(subject_of(app).checkpoint, subject_of(app).model_input).record.probabilities
    label = str(probabilities.argmax())
    assert app.metric[0].value == label
    assert app.metric[0].delta == ("correct" if label == "2" else "wrong, it is 2")
    (answer,) = (block.proto.body for block in app.get("html") if 'class="answer"' in block.proto.body)
    _, second, third = probabilities.argsort(kind="stable")[::-1][:3]
    others = re.findall(r'<span class="other">(\d): ', answer)  # "0 0.5 %" read as 00.5 %
    assert others == [str(second), str(third)]


@pytest.mark.slow
def test_the_label_is_a_class_whatever_that_is_called(open_app, checkpoints):
    names = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    loaded = tiny.loaded(replace(tiny.DIGIT, class_names=names))
    checkpoint.save(checkpoints / "in-words", loaded.model, {})
    verdicts = set()
    for digit in range(12):
        metric = open_app(kind="Digit", checkpoint="in-words", digit=str(digit)).metric[0]
        label = names[shipped_inputs.test_digits()[1][digit]]
        assert metric.delta == ("correct" if metric.value == label else f"wrong, it is {label}")
        verdicts.add(metric.delta)
    assert len(verdicts) > 2


@pytest.mark.slow
def test_of_an_example_it_is_known_whether_it_is_read_correctly_and_of_what_is_typed_not(open_app):
    answers = {"I expected to be bored, but I was not bored for a single minute.": "positive"}
    answers["The film is not good."] = "negative"
    for text, answer in answers.items():
        metric = open_app(text=text).metric[0]
        assert metric.delta == ("correct" if metric.value == answer else f"wrong, it is {answer}")
    assert not open_app(text="The film is not good").metric[0].delta


def test_a_typed_mask_is_filled(open_app):
    app = open_app(text="not [MASK] film", checkpoint="imdb-pre-ln")
    assert not app.exception
    (result,) = guesses(cache.loaded("imdb-pre-ln"), "not [MASK] film").values()
    (line,) = (block.value for block in app.markdown if "In place of" in block.value)
    assert line.startswith("In place of **\\[MASK\\]**: ")
    assert f"`{result[0].token}` {100 * result[0].probability:.1f}\u2009%" in line


def test_what_would_fill_a_mask_after_each_layer(open_app):
    text = "not [MASK] film [MASK]"
    app = open_app(text=text, checkpoint="imdb-pre-ln")
    assert not app.exception
    loaded = cache.loaded("imdb-pre-ln")
    tables = [block.value.splitlines() for block in app.markdown if "| most probable |" in block.value]
    for number, (lines, position) in enumerate(zip(tables, (2, 4), strict=True), 1):
        (first, *_) = guesses(loaded, text)[position]
        assert (
            lines[0]
            == f"| number {number}, after | most probable | log P of `{first.token}`, nats | its rank |"
        )
        assert [line.split(" |")[0] for line in lines[2:]] == ["| embedding", "| L0", "| L1"]
        assert f"| `{first.token}` {100 * first.probability:.1f}\u2009%" in lines[-1]
        assert lines[-1].endswith(f"| {np.log(first.probability):+.2f} | 1 |".replace("-", "−"))


def test_an_encoder_that_never_learned_to_fill_a_mask_says_so(open_app, checkpoints):
    loaded = tiny.loaded(tiny.TEXT)
    checkpoint.save(checkpoints / "plain", loaded.model, {}, loaded.tokenizer)
    texts = [caption.value for caption in open_app(text="not [MASK] film", checkpoint="plain").caption]
    assert "This encoder was not trained to fill in `[MASK]`." in texts


def test_without_a_mask_nothing_is_filled(open_app):
    assert not any("In place of" in block.value for block in open_app(text=TEXT).markdown)


def test_of_many_masks_the_first_are_listed_and_the_others_counted(open_app):
    app = open_app(text="[MASK] " * 8, checkpoint="imdb-pre-ln")
    assert not app.exception
    texts = [block.value for block in app.markdown if "In place of" in block.value]
    assert [line.partition(":")[0] for line in texts] == [
        f"In place of **\\[MASK\\]** number {number}" for number in range(1, 6)
    ]
    assert "3 more masked tokens are not listed." in [caption.value for caption in app.caption]


def test_what_the_query_looks_at_most_is_listed(open_app):
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", query="1 not", view="lines")
    (listed,) = (html.proto.body for html in app.get("html") if "“not” attends to" in html.proto.body)
    weights = LiveSubject("imdb-pre-ln", TEXT).record.pattern[0, 0, 1]
    assert f"<td>{weights.max():.3f}</td>" in listed
    assert listed.index(f"{weights.max():.3f}") < listed.index(f"{np.sort(weights)[-2]:.3f}")


def test_a_token_that_occurs_twice_is_called_as_in_the_matrix(open_app):
    options = {"text": "not great not x y z a", "checkpoint": "imdb-pre-ln", "query": "3 not"}
    app = open_app(**options, view="lines")
    (listed,) = (html.proto.body for html in app.get("html") if "“3 not” attends to" in html.proto.body)
    assert "<td>1 not</td>" in listed or "<td>3 not</td>" in listed
    assert "<td>2 great</td>" not in listed  # which occurs once
    assert "sum of these 8" in listed
    names = linked(open_app(**options)).frames["keys"]["label"].tolist()
    assert names[1:4] == ["1 not", "great", "3 not"]


def test_the_largest_weight_leads_to_the_steps_that_it_comes_from(open_app):
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", layer="1", head="1", query="2 great")
    pattern = subject_of(app).record.pattern[1, 1, 2]
    link = app.button(key="origin")
    assert link.label == f"Where does {pattern.max():.3f} come from? →"
    link.click().run()
    assert not app.exception
    assert [app.selectbox(key=key).value for key in ("layer", "head", "query")] == [1, 1, 2]
    assert app.session_state["inside_key"] == pattern.argmax()


def test_of_a_picture_a_link_leads_to_the_patches_that_are_alike(open_app):
    app = open_app(kind="Digit", checkpoint="mnist-pre-ln", layer="1")
    app.button(key="alike").click().run()
    assert not app.exception
    assert app.selectbox(key="similarity_view").value == "one patch"
    assert app.selectbox(key="layer").value == 1
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln")
    assert "alike" not in [button.key for button in app.button]


def test_of_a_picture_the_line_below_the_title_speaks_of_patches(open_app):
    app = open_app()
    for kind, of_patches in (("Text", False), ("Digit", True), ("Text", False)):
        app.segmented_control(key="kind").set_value(kind).run()
        assert any("rows are patches" in block.proto.body for block in app.get("html")) == of_patches
