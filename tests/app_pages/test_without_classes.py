"""Encoders without classes, of a text and of a picture, open every part that is about an input."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model import checkpoint
from tests.model import tiny
from tests.slow import one_of_each

Open = Callable[..., AppTest]

STREAM = ("norms", "shares", "spread of the tokens", "cosines", "representations")
PARTS = [
    *(("attention", {"part": part}) for part in ("this head", "mean")),
    *(("positions", {"positions": part}) for part in ("Sinusoids", "This encoder", "Embeddings")),
    *(("positions", {"positions": "This encoder", "positions_own": own}) for own in ("lengths", "all pairs")),
    *(("inside_a_head", {"inside": part}) for part in ("Step by step", "LayerNorm")),
    ("inside_a_head", {"inside": "Why √d_k", "inside_scale": "this encoder"}),
    ("heads", {"heads_scatter": "true"}),
    *(("compare", {"compare_view": view}) for view in ("all heads", "difference")),
    *(("compare", {"compare_part": "Stream", "compare_stream": part}) for part in STREAM),
]


@pytest.fixture
def open_headless(open_app: Open, checkpoints: Path) -> Open:
    for kind, config in {
        "imdb": tiny.TEXT,
        "mnist": replace(tiny.DIGIT, pooling="mean", n_positions=4),
    }.items():
        for seed, ending in enumerate(("pre-ln", "post-ln")):
            loaded = tiny.loaded(replace(config, class_names=()), seed)
            checkpoint.save(checkpoints / f"{kind}-{ending}", loaded.model, {}, loaded.tokenizer)
    return lambda page, **query: open_app(f"app_pages/{page}/page.py", **query)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", ["Text", "Digit"])
@pytest.mark.parametrize(("page", "part"), one_of_each(PARTS))
def test_every_part_draws_its_figures(open_headless, page, part, kind):
    app = open_headless(page, kind=kind, text="not great", **part)
    assert not app.exception
    assert not app.info
    assert app.get("vega_lite_chart") or app.get("plotly_chart")
    assert "Prediction" not in [metric.label for metric in app.metric]


def test_there_are_no_logits_to_read_off_the_stream(open_headless):
    app = open_headless("compare", compare_part="Stream", compare_stream="answer by layer")
    assert not app.exception
    assert [message.value for message in app.info] == [
        f"imdb-{ending}-ln has no classes, and so no logits." for ending in ("pre", "post")
    ]


def test_beside_an_encoder_with_classes_the_logits_of_that_one_are_drawn(open_headless, checkpoints):
    loaded = tiny.loaded(tiny.TEXT)
    checkpoint.save(checkpoints / "imdb-pre-ln", loaded.model, {}, loaded.tokenizer)
    app = open_headless("compare", compare_part="Stream", compare_stream="answer by layer")
    assert not app.exception
    assert [message.value for message in app.info] == ["imdb-post-ln has no classes, and so no logits."]
    (message,) = (caption.value for caption in app.caption if "any other class is grey" in caption.value)
    assert message.startswith("imdb-pre-ln predicts **")
    assert "Both" not in message
