"""One map in detail: lines of several heads, one query in each layer, and the strongest keys in numbers."""

from dataclasses import replace

import numpy as np
import pytest

from app_pages.controls.attention_controls import ALSO_HEADS
from app_pages.controls.pages import ATTENTION
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from tests.app_pages.charts import shown, table, weights
from tests.app_pages.shown_subject import subject_of
from tests.model import tiny
from viz.attention.head_view import MOST_HEADS

TEXT = "not great film"


def test_other_heads_of_the_layer_are_drawn_with_the_chosen_one(open_app):
    app = open_app(
        ATTENTION, ALSO_HEADS.to([0, 1]), text=TEXT, checkpoint="imdb-pre-ln", view="lines", head="1"
    )
    lines = table(app, "Lines of L0 H0, L0 H1", "head", "weight")
    pattern = LiveSubject("imdb-pre-ln", TEXT).record.pattern[0]
    for head in (0, 1):
        of_head = lines[lines["head"] == f"L0 H{head}"]
        assert len(of_head) == np.count_nonzero(pattern[head])
        expected = pattern[head][of_head["query"], of_head["key"]]
        np.testing.assert_allclose(of_head["weight"], expected, rtol=1e-6)
    app.multiselect(key="also_heads").set_value([]).run()
    assert set(table(app, "Lines of L0 H1 from", "head", "weight")["head"]) == {"L0 H1"}


def test_over_the_heads_of_a_layer_no_other_heads_are_drawn(open_app):
    app = open_app(
        ATTENTION,
        ALSO_HEADS.to([0]),
        text=TEXT,
        checkpoint="imdb-pre-ln",
        view="lines",
        part="mean",
        forgiven={"also_heads"},
    )
    assert set(table(app, "Lines of", "head", "weight")["head"]) == {"L0, mean over its heads"}
    assert not any(widget.key == "also_heads" for widget in app.multiselect)


def test_heads_beyond_the_colours_are_named(open_app, checkpoints):
    loaded = tiny.loaded(replace(tiny.TEXT, d_model=16, n_heads=8))
    checkpoint.save(checkpoints / "many-heads", loaded.model, {}, loaded.tokenizer)
    app = open_app(ATTENTION, ALSO_HEADS.to(list(range(8))), text=TEXT, checkpoint="many-heads", view="lines")
    assert len(set(table(app, "Lines of", "head", "weight")["head"])) == MOST_HEADS
    assert any("Left out: L0 H6, L0 H7." in caption.value for caption in app.caption)


@pytest.mark.parametrize(("part", "how"), [("this head", None), ("mean", "mean"), ("maximum", "max")])
def test_one_query_in_each_layer(open_app, part, how):
    app = open_app(
        text=TEXT,
        checkpoint="imdb-pre-ln",
        view="one query by layer",
        part=part,
        layer="1",
        head="1",
        query="2 great",
    )
    figure = shown(app, "by_layer")
    rows = LiveSubject("imdb-pre-ln", TEXT).record.pattern[:, :, 2]
    expected = rows[:, 1] if how is None else getattr(rows, how)(axis=1)
    np.testing.assert_allclose(weights(figure), expected, rtol=1e-6)
    assert "great" in figure["layout"]["title"]["text"]


def test_of_a_picture_one_query_is_shown_on_a_picture_for_each_layer(open_app):
    app = open_app(kind="Digit", view="one query by layer", part="mean", query="r1c0")
    pictures = table(app, "What r1c0 attends to in each layer, mean", "strongest patch", "weight")
    rows = subject_of(app).record.pattern[:, :, 3].mean(axis=1)
    np.testing.assert_allclose(pictures["weight"], rows[:, 1:].max(axis=1), rtol=1e-6)
    assert pictures["selected"].tolist() == [True, *[False] * (len(rows) - 1)]
    app = open_app(kind="Digit", view="lines", forgiven={"view"})
    assert app.segmented_control(key="view").value == "matrix"
