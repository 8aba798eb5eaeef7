import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model import checkpoint
from tests.model import tiny

Open = Callable[..., AppTest]

PAGE = "app_pages/compare.py"


@pytest.fixture
def open_compare(open_app: Open) -> Open:
    return lambda **query: open_app(PAGE, **query)


def titles(app: AppTest) -> list[str]:
    assert not app.exception
    return [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in app.get("plotly_chart")]


def test_either_of_a_pair_shows_both(open_compare: Open) -> None:
    for name in ("mnist-pre-ln", "mnist-post-ln"):
        app = open_compare(kind="Digit", checkpoint=name, layer="1")
        assert [metric.label for metric in app.metric] == ["pre-LN", "post-LN"]
        assert titles(app) == ["pre-LN L1 H0", "post-LN L1 H0"]


def test_the_difference_says_which_way_it_goes(open_compare: Open) -> None:
    assert titles(open_compare(compared="post-LN minus pre-LN", head="1")) == ["L0 H1, post-LN minus pre-LN"]


def test_the_page_says_that_heads_do_not_correspond(open_compare: Open) -> None:
    assert any("do not correspond by number" in caption.value for caption in open_compare().caption)


def test_a_checkpoint_without_its_counterpart(open_compare: Open, checkpoints: Path) -> None:
    (checkpoints / "imdb-pre-ln").rename(checkpoints / "mine")
    app = open_compare(checkpoint="mine")
    assert titles(app) == []
    assert app.info[0].value.startswith("mine has no counterpart")


def test_a_damaged_counterpart_gives_one_sentence(open_compare: Open, checkpoints: Path) -> None:
    (checkpoints / "imdb-pre-ln" / "model.safetensors").write_bytes(b"{")
    app = open_compare(checkpoint="imdb-post-ln")
    assert titles(app) == []
    assert app.info[0].value.startswith("The pair of imdb-post-ln cannot be compared")


def test_encoders_of_other_shapes_are_not_subtracted(open_compare: Open, checkpoints: Path) -> None:
    deeper = tiny.loaded(replace(tiny.TEXT, n_layers=3))
    checkpoint.save(checkpoints / "imdb-pre-ln", deeper.model, {}, deeper.tokenizer)
    app = open_compare(checkpoint="imdb-post-ln")
    assert titles(app) == []
    assert "differ in more than the placement of the norm" in app.info[0].value
