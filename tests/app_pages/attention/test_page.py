import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.subject import cache, shipped_inputs
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.experiments.masked_tokens import guesses
from model.measures.attended_kinds import shares_by_kind
from tests.app_pages.charts import shown, weights
from tests.app_pages.shown_subject import subject_of
from tests.model import tiny

Open = Callable[..., AppTest]

TEXT = "not great film"


@pytest.mark.parametrize(
    ("part", "title", "reduce"),
    [
        ("this head", "**L1 H0** ", lambda heads: heads[0]),
        ("mean", "**L1, mean over its heads**", lambda heads: heads.mean(axis=0)),
        ("maximum", "**L1, maximum over its heads**", lambda heads: heads.max(axis=0)),
    ],
)
def test_the_matrix_is_of_what_is_chosen(open_app: Open, part: str, title: str, reduce: Callable) -> None:
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", layer="1", part=part)
    figure = shown(app)
    assert any(block.value.startswith(title) for block in app.markdown)
    expected = reduce(LiveSubject("imdb-pre-ln", TEXT).record.pattern[1])
    np.testing.assert_allclose(weights(figure), expected, rtol=1e-6)


def test_the_colour_scale_is_said(open_app: Open) -> None:
    app = open_app(text=TEXT)
    assert "0 to 1" in shown(app)["data"][0]["colorbar"]["title"]["text"]
    app.segmented_control(key="scale").set_value("to own maximum").run()
    assert "this map's own maximum" in shown(app)["data"][0]["colorbar"]["title"]["text"]


def test_lines_take_the_place_of_the_matrix(open_app: Open) -> None:
    app = open_app(text=TEXT, view="lines")
    assert not app.exception
    assert not app.get("plotly_chart")
    assert app.toggle(key="all_queries").value
    app.toggle(key="all_queries").set_value(False).run()
    assert not app.exception


def test_the_way_back_to_the_class_token(open_app: Open) -> None:
    app = open_app(kind="Digit", query="r1c0")
    assert app.selectbox(key="query").value == 3
    app.button(key="to_class").click().run()
    assert app.selectbox(key="query").value == 0
    assert app.button(key="to_class").disabled


def test_the_answer_and_whether_it_is_right(open_app: Open) -> None:
    app = open_app(kind="Digit", digit="1")  # labelled 2
    probabilities = LiveSubject(subject_of(app).checkpoint, subject_of(app).model_input).record.probabilities
    said = str(probabilities.argmax())
    assert app.metric[0].value == said
    assert app.metric[0].delta == ("correct" if said == "2" else "wrong, it is 2")
    (answer,) = (block.proto.body for block in app.get("html") if 'class="answer"' in block.proto.body)
    _, second, third = probabilities.argsort(kind="stable")[::-1][:3]
    others = re.findall(r'<span class="other">(\d): ', answer)  # "0 0.5 %" read as 00.5 %
    assert others == [str(second), str(third)]


def test_the_label_is_a_class_whatever_that_is_called(open_app: Open, checkpoints: Path) -> None:
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


def test_of_an_example_it_is_known_whether_it_is_read_correctly_and_of_what_is_typed_not(
    open_app: Open,
) -> None:
    answers = {"I expected to be bored, but I was not bored for a single minute.": "positive"}
    answers["The film is not good."] = "negative"
    for text, answer in answers.items():
        metric = open_app(text=text).metric[0]
        assert metric.delta == ("correct" if metric.value == answer else f"wrong, it is {answer}")
    assert not open_app(text="The film is not good").metric[0].delta


def test_a_typed_mask_is_filled(open_app: Open) -> None:
    app = open_app(text="not [MASK] film", checkpoint="imdb-pre-ln")
    assert not app.exception
    (found,) = guesses(cache.loaded("imdb-pre-ln"), "not [MASK] film").values()
    (line,) = (block.value for block in app.markdown if "In place of" in block.value)
    assert line.startswith("In place of **\\[MASK\\]**: ")
    assert f"`{found[0].token}` {100 * found[0].probability:.1f}\u2009%" in line


def test_an_encoder_that_never_learned_to_fill_a_mask_says_so(open_app: Open, checkpoints: Path) -> None:
    loaded = tiny.loaded(tiny.TEXT)
    checkpoint.save(checkpoints / "plain", loaded.model, {}, loaded.tokenizer)
    said = [caption.value for caption in open_app(text="not [MASK] film", checkpoint="plain").caption]
    assert "This encoder was not trained to fill in `[MASK]`." in said


def test_without_a_mask_nothing_is_filled(open_app: Open) -> None:
    assert not any("In place of" in block.value for block in open_app(text=TEXT).markdown)


def test_of_many_masks_the_first_are_listed_and_the_others_counted(open_app: Open) -> None:
    app = open_app(text="[MASK] " * 8, checkpoint="imdb-pre-ln")
    assert not app.exception
    said = [block.value for block in app.markdown if "In place of" in block.value]
    assert [line.partition(":")[0] for line in said] == [
        f"In place of **\\[MASK\\]** number {number}" for number in range(1, 6)
    ]
    assert "The other 3 masked tokens are not listed." in [caption.value for caption in app.caption]


def test_what_the_query_looks_at_most_is_listed(open_app: Open) -> None:
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", query="1 not")
    (listed,) = (html.proto.body for html in app.get("html") if "“not” attends to" in html.proto.body)
    weights = LiveSubject("imdb-pre-ln", TEXT).record.pattern[0, 0, 1]
    assert f"<td>{weights.max():.3f}</td>" in listed
    assert listed.index(f"{weights.max():.3f}") < listed.index(f"{np.sort(weights)[-2]:.3f}")


def test_a_head_is_described_by_what_it_looks_at_most(open_app: Open) -> None:
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln")
    by_what = {
        what: values[0, 0] for what, values in shares_by_kind(LiveSubject("imdb-pre-ln", TEXT).record).items()
    }
    (said,) = (block.value for block in app.markdown if block.value.startswith("**L0 H0**"))
    assert max(by_what, key=by_what.get) in said.replace("\\", "")
    assert f"{100 * max(by_what.values()):.0f}" in said


def test_a_token_that_occurs_twice_is_called_as_in_the_matrix(open_app: Open) -> None:
    app = open_app(text="not great not x y z a", checkpoint="imdb-pre-ln", query="3 not")
    (listed,) = (html.proto.body for html in app.get("html") if "“not ₃” attends to" in html.proto.body)
    assert "<td>not ₁</td>" in listed or "<td>not ₃</td>" in listed
    assert "sum of these 8" in listed


def test_the_largest_weight_leads_to_the_steps_that_it_comes_from(open_app: Open) -> None:
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", layer="1", head="1", query="2 great")
    pattern = subject_of(app).record.pattern[1, 1, 2]
    link = app.button(key="origin")
    assert link.label == f"Where does {pattern.max():.3f} come from? →"
    link.click().run()
    assert not app.exception
    assert [app.selectbox(key=key).value for key in ("layer", "head", "query")] == [1, 1, 2]
    assert app.session_state["inside_key"] == pattern.argmax()
