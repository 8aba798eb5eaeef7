"""What a permutation of its vectors does to a head."""

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from model.theory.permutation_equivariance import REORDERINGS, reordering_indices
from tests.app_pages.shown_text import shown_text
from tests.model.huggingface.folders import build

Open = Callable[..., AppTest]

EXPERIMENT = {
    "text": "not great film",
    "positions": "Experiments",
    "positions_try": "reorder the input of one head",
}


@pytest.fixture
def opened(open_app: Open) -> Open:
    return lambda **query: open_app("app_pages/positions/page.py", **EXPERIMENT, **query)


def deviations(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric if "difference" in metric.label}


def annotations(app: AppTest) -> list[str]:
    (chart,) = (chart for chart in app.get("plotly_chart") if chart.key == "permutation")
    return [note["text"] for note in json.loads(chart.proto.spec)["layout"]["annotations"]]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", ["Text", "Digit"])
@pytest.mark.parametrize("order", REORDERINGS)
def test_it_holds_without_a_mask_and_fails_with_a_causal_one(opened, kind, order):
    app = opened(kind=kind, positions_order=order)
    plain, causal = deviations(app).values()
    assert "10⁻" in plain or plain == "0"
    assert "10⁻" not in causal
    assert "<b>=</b>" in annotations(app)
    app.segmented_control(key="positions_order_mask").set_value("causal mask").run()
    assert not app.exception
    assert "<b>≠</b>" in annotations(app)


def test_the_order_that_changes_nothing(opened):
    """One of the 120 shuffles of five tokens leaves all in their places, also the query "great", the longest word."""
    seed = next(seed for seed in range(10_000) if reordering_indices("shuffled", 5, seed) == (0, 1, 2, 3, 4))
    app = opened(positions_try_seed=str(seed))
    assert list(deviations(app).values()) == ["0", "0"]
    assert "keeps its row 2" in shown_text(app)
    app.segmented_control(key="positions_order_mask").set_value("causal mask").run()
    assert "<b>=</b>" in annotations(app)
    assert "nothing can change" in shown_text(app)
    assert "the equation fails" not in shown_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "reason", "moves_along"),
    [
        ("MPNetModel", "adds a bias to each score", True),
        ("EsmModel", "rotates queries and keys by their positions", False),
        ("DebertaV2Model", "adds scores of relative positions", False),
    ],
)
def test_positions_within_the_attention_are_said_to_make_the_order_count(
    opened, checkpoints, architecture, reason, moves_along
):
    build(checkpoints / "own", architecture)
    app = opened(checkpoint="own")
    message = shown_text(app)
    assert "<b>≠</b>" in annotations(app)
    assert f"its output changes: this encoder {reason}" in message
    assert "Without that the equation would hold" in message
    assert "takes its output along unchanged" not in message
    assert ("so they move with them" in message) == moves_along
