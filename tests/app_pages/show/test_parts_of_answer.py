"""What answers are made of, on the pages Side by side and Norm placement."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from streamlit.testing.v1 import AppTest

from app_pages.controls import estimated_work
from app_pages.inputs.text_input import first_text
from app_pages.show import parts_of_answer
from app_pages.subject import shipped_inputs
from model import checkpoint
from model.checkpoint import load
from model.config import ModelConfig
from model.decompositions.answer_effects import answer_effects
from model.decompositions.answer_parts import answer_parts
from model.experiments.attribution import Explained, Similarity
from model.experiments.masked_word import masked_word
from model.inputs import InputLike, Picture
from tests.app_pages.charts import described, table
from tests.model import tiny
from viz.builders.number_format import format_number, percent

Open = Callable[..., AppTest]
NORM_PLACEMENT = "app_pages/norm_placement/page.py"
PARTS = {"norm_figure": "what an answer is made of"}
CHART = "What each of "
TEXT = "not great film"
PAIR = ("imdb-pre-ln", "imdb-post-ln")


@pytest.fixture
def open_parts(open_app: Open) -> Open:
    """Side by side, where it shows what the answers are made of."""
    query = {"compare_part": "Stream", "compare_stream": "answer by part"}
    return partial(open_app, "app_pages/compare/page.py", **query)


def shown_text(app: AppTest) -> str:
    assert not app.exception
    return "\n".join(part.value for kind in (app.caption, app.info) for part in kind)


def expected(name: str, model_input: InputLike, answer: Explained = None) -> pd.DataFrame:
    """The parts that the library returns, as the figure holds them."""
    parts = answer_parts(load(checkpoint.CHECKPOINTS / name), model_input, answer)
    return parts.frame[["part", "value"]].astype({"part": object})


def assert_shows(app: AppTest, **sides: pd.DataFrame) -> None:
    """`sides`: the parts by the title of the side, with _ for -."""
    rows = table(app, CHART, "side", "part", "value")
    assert list(rows["side"].unique()) == [side.replace("_", "-") for side in sides]
    for (_, of_side), frame in zip(rows.groupby("side", sort=False), sides.values(), strict=True):
        assert of_side["part"].tolist() == frame["part"].tolist()
        np.testing.assert_allclose(of_side["value"], frame["value"], atol=1e-6)


def put(folder: Path, name: str, config: ModelConfig) -> None:
    loaded = tiny.loaded(config, seed=7)
    checkpoint.save(folder / name, loaded.model, {}, loaded.tokenizer)


def test_both_encoders_are_divided_by_a_class_and_heads_are_taken_away_on_demand(open_parts):
    app = open_parts(text=TEXT)
    one, other = (expected(name, TEXT, 1) for name in PAIR)
    assert_shows(app, imdb_pre_ln=one, imdb_post_ln=other)
    names = load(checkpoint.CHECKPOINTS / PAIR[0]).config.class_names
    title = described(app, CHART)["title"]["text"]
    assert title == f"logit of {names[1]} minus {names[0]}"
    assert "effect" not in table(app, CHART, "side", "part", "value")
    app.toggle(key="without_heads").set_value(True).run()
    rows = table(app, CHART, "side", "part", "value", "effect")
    for name in PAIR:
        frame = answer_effects(load(checkpoint.CHECKPOINTS / name), TEXT, 1).frame
        shown = rows[(rows["side"] == name) & rows["effect"].notna()]
        assert shown["part"].tolist() == frame["part"].tolist()
        np.testing.assert_allclose(shown["effect"], frame["effect"], atol=1e-5)
        rho = format_number(spearmanr(frame["value"], frame["effect"]).statistic, ".2f")
        assert f"{name} **Spearman {rho}** over 4 heads" in shown_text(app)


def test_below_stand_the_sums_and_what_is_seen_in_numbers(open_parts):
    text = shown_text(open_parts(text=TEXT))
    for name in PAIR:
        parts = answer_parts(load(checkpoint.CHECKPOINTS / name), TEXT, 1)
        assert f"{name} {format_number(parts.recorded, '+.4f')} (difference\u00a0" in text
        of_layers = parts.frame[parts.frame["layer"].notna()]
        sizes = of_layers["value"].abs()
        first_half, largest = sizes[of_layers["layer"] == 0].sum() / sizes.sum(), sizes.idxmax()
        assert f"{name} {percent(first_half)} in the first half of the layers" in text
        share = percent(sizes[largest] / sizes.sum())
        assert f"{share} in {of_layers['part'][largest]} alone" in text
    assert "A part is what was written, not what would change without it." in text


def test_digits_are_divided_by_the_class_that_either_side_says(open_parts):
    digits = shipped_inputs.test_digits()[0]
    encoders = [load(checkpoint.CHECKPOINTS / name) for name in ("mnist-pre-ln", "mnist-post-ln")]

    def predictions(number: int) -> list[int]:
        logits = (parts_of_answer.answer_parts(encoder, digits[number]).quantity for encoder in encoders)
        return [int(quantity.split()[2]) for quantity in logits]

    number = next(number for number in range(20) if len(set(predictions(number))) == 2)
    by_option = zip(("what the first says", "what the second says"), predictions(number), strict=True)
    for option, class_number in by_option:
        app = open_parts(kind="Digit", digit=str(number), compare_class=option)
        one, other = (
            expected(name, Picture.of(digits[number]), class_number)
            for name in ("mnist-pre-ln", "mnist-post-ln")
        )
        assert_shows(app, mnist_pre_ln=one, mnist_post_ln=other)


def test_two_inputs_without_classes_are_divided_by_their_similarity(open_parts, checkpoints):
    put(checkpoints, "states", replace(tiny.TEXT, class_names=()))
    app = open_parts(checkpoint="states", compare_what="two inputs", text=TEXT, compare_text="film")
    one = expected("states", TEXT, Similarity("film")).assign(side="first text")
    other = expected("states", "film", Similarity(TEXT)).assign(side="second text")
    rows = table(app, CHART, "side", "part", "value")
    assert described(app, CHART)["title"]["text"] == "cosine similarity"
    assert rows["side"].tolist() == [*one["side"], *other["side"]]
    np.testing.assert_allclose(rows["value"], [*one["value"], *other["value"]], atol=1e-6)


def test_encoders_of_other_depth_and_without_classes_have_their_length(open_parts, checkpoints):
    for name, n_layers in (("states", 2), ("deeper", 3)):
        put(checkpoints, name, replace(tiny.TEXT, class_names=(), n_layers=n_layers))
    app = open_parts(checkpoint="states", compare_with="deeper", text=TEXT)
    assert_shows(app, states=expected("states", TEXT), deeper=expected("deeper", TEXT))


def test_where_the_answers_are_of_two_kinds_a_sentence_says_so(open_parts, checkpoints):
    put(checkpoints, "states", replace(tiny.TEXT, class_names=()))
    app = open_parts(checkpoint="imdb-pre-ln", compare_with="states", text=TEXT)
    names = ", ".join(load(checkpoints / "imdb-pre-ln").config.class_names)
    sentence = f"There is no number that both answer: imdb-pre-ln answers {names}; states has no classes."
    assert sentence in shown_text(app)
    assert not [chart for chart in app.get("vega_lite_chart") if CHART in chart.proto.spec]


def test_effects_that_take_long_wait_for_a_button(open_parts, monkeypatch):
    monkeypatch.setattr(estimated_work, "AT_ONCE", 0)
    app = open_parts(text=TEXT, without_heads="true")
    assert "Spearman" not in shown_text(app)
    for number in range(2):
        button = app.button(key=f"answer_effects_{number}")
        assert button.label.startswith(f"Take away each of the 4 heads of {PAIR[number]}")
        button.click().run()
    assert shown_text(app).count("Spearman") == 2


def test_an_encoder_that_cannot_be_divided_is_said_to_be_so(open_parts, monkeypatch):
    monkeypatch.setattr(parts_of_answer, "answer_parts", refused)
    assert "The answers cannot be divided: what Foo makes cannot be divided into parts." in shown_text(
        open_parts()
    )


def refused(*_: object) -> None:
    raise ValueError("what Foo makes cannot be divided into parts")


def test_norm_placement_shows_the_parts_of_the_readers_text(open_app):
    app = open_app(NORM_PLACEMENT, text=TEXT, **PARTS)
    one, other = (expected(name, TEXT, 1) for name in PAIR)
    assert_shows(app, pre_LN=one, post_LN=other)
    assert f"Of “{TEXT}” in imdb-pre-ln and imdb-post-ln:" in shown_text(app)
    link = next(link for link in app.get("page_link") if link.proto.label == "Side by side →")
    assert "compare_stream=answer+by+part" in link.proto.query_string


def test_norm_placement_computes_them_once_they_are_chosen(open_app, monkeypatch):
    monkeypatch.setattr(parts_of_answer, "answer_parts", refused)
    app = open_app(NORM_PLACEMENT)
    assert "cannot be divided" not in shown_text(app)
    app.segmented_control(key="norm_figure").set_value(PARTS["norm_figure"]).run()
    assert "cannot be divided" in shown_text(app)
    assert f"Of “{first_text()}”" in shown_text(app)


def test_the_heading_says_what_each_side_answers_and_to_which_class_a_bar_speaks(open_parts):
    app = open_parts(text=TEXT)
    summed, reading = described(app, CHART)["title"]["subtitle"]
    for name in PAIR:
        loaded = load(checkpoint.CHECKPOINTS / name)
        total = answer_parts(loaded, TEXT, 1).total
        answer = loaded.config.class_names[int(total > 0)]
        assert f"{name} {format_number(total, '+.3g')}, answer: {answer}" in summed
    assert reading == "up: towards positive; down: towards negative"


def test_what_is_too_small_for_a_bar_is_named(open_parts, monkeypatch):
    assert "too small to be seen" not in shown_text(open_parts(text=TEXT))
    monkeypatch.setattr(parts_of_answer, "_VISIBLE", 1e6)
    largest = [
        expected(name, TEXT, 1).set_index("part").loc[["token", "position"], "value"].abs().max()
        for name in PAIR
    ]
    names = " and ".join(
        f"{name} (at most {format_number(value, '.1g')})" for name, value in zip(PAIR, largest, strict=True)
    )
    sentence = f"Token and position are too small to be seen in {names}; in post-LN each LayerNorm divides"
    assert sentence in shown_text(open_parts(text=TEXT))


def test_a_masked_word_can_be_the_answer_that_is_divided(open_parts):
    text = "not [MASK] film"
    app = open_parts(text=text, answer_of="masked word", answer_word="great")
    words = [masked_word(load(checkpoint.CHECKPOINTS / name), text, "great") for name in PAIR]
    one, other = (expected(name, text, word) for name, word in zip(PAIR, words, strict=True))
    assert_shows(app, imdb_pre_ln=one, imdb_post_ln=other)
    title = described(app, CHART)["title"]
    assert title["text"] == "logit of “great” minus the mean over the vocabulary"
    assert len(title["subtitle"]) == 1  # no class is the answer
