"""What a stroke over tokens changes, and what the browser is sent for it."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.pages import MASKS
from app_pages.subject.subject import LiveSubject
from model.capture.intervention import without_keys

Open = Callable[..., AppTest]
AT = {"text": "not great film", "checkpoint": "imdb-pre-ln"}  # five tokens
NAN = float("nan")


@pytest.fixture
def open_masks(open_app: Open) -> Open:
    return lambda **query: open_app(MASKS, **AT, **query)


def component(app: AppTest) -> Any:
    assert not app.exception
    (block,) = (b.proto for b in app.get("bidi_component") if b.proto.component_name == "word_stroke")
    return block


def sent(app: AppTest) -> dict[str, Any]:
    return json.loads(component(app).json)


def stroke(app: AppTest, *positions: object, **changes: object) -> AppTest:
    """The app after a stroke in the browser, whose message has these changes."""
    data = sent(app)
    message = {
        "positions": list(positions),
        "stamp": data["stamp"],
        "number": data["answered"] + 1,
        **changes,
    }
    return send(app, message)


def send(app: AppTest, message: object) -> AppTest:
    states = app._tree.get_widget_states()
    trigger = states.widgets.add(id=f"$$STREAMLIT_INTERNAL_KEY_{component(app).id}__events")
    trigger.json_trigger_value = json.dumps([{"event": "taken", "value": message}])
    return app._run(states)


def test_a_stroke_blocks_its_tokens_and_is_in_the_address(open_masks):
    app = stroke(open_masks(layer="1", query="2 great"), 3, 1)
    assert app.query_params["masks_keys"] in ("1.3", ["1.3"])
    data = sent(app)
    assert (data["hidden"], data["answered"], data["exact"], data["query"]) == ([1, 3], 1, False, 2)
    after = LiveSubject("imdb-pre-ln", AT["text"], intervention=without_keys(1, 3)).record
    np.testing.assert_allclose(data["scores"], after.scores[1, 0, 2], rtol=1e-6)
    assert all(data["allowed"])
    assert sent(stroke(app))["hidden"] == []
    assert "masks_keys" not in app.query_params


def test_a_stroke_over_a_row_too_long_for_a_board_blocks_pairs_of_its_query(open_masks, monkeypatch):
    monkeypatch.setattr("app_pages.masks.page.LARGEST_BOARD", 4)
    app = open_masks(masks_kind="Block pairs", masks_cells="0-1.2-2", query="2 great")
    assert sent(app)["hidden"] == [2]
    stroke(app, 3, 4)
    assert app.query_params["masks_cells"] in ("0-1.2-3.2-4", ["0-1.2-3.2-4"])


def test_under_other_masks_a_click_chooses_the_query(open_masks):
    app = open_masks(masks_kind="Causal", query="2 great")
    data = sent(app)
    assert (data["hides"], data["hidden"]) == (False, [3, 4])
    assert data["allowed"] == [True, True, True, False, False]
    assert app.selectbox(key="query").value == 2
    assert stroke(app, 3).selectbox(key="query").value == 3


def test_it_is_said_where_the_mask_does_not_hold(open_masks):
    assert not sent(open_masks(masks_keys="1", masks_heads="H1"))["masks"]
    assert sent(open_masks(masks_keys="1", masks_heads="H1", head="1"))["masks"]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "change",
    [
        *(
            {"positions": value}
            for value in (None, 1, "1", [5], [-1], [0.5], [True], [NAN], ["1"], [[1]], {})
        ),
        {"number": NAN},
        {"number": None},
        {"stamp": "another text"},
        {"stamp": None},
    ],
    ids=str,
)
def test_a_message_of_nonsense_changes_nothing(open_masks, change):
    app = open_masks(masks_keys="2")
    address = dict(app.query_params)
    stroke(app, 1, **change)
    assert (sent(app)["hidden"], sent(app)["answered"]) == ([2], 0)
    assert dict(app.query_params) == address


def test_a_message_of_another_form_changes_nothing(open_masks):
    app = open_masks(masks_keys="2")
    for message in (None, 1, "x", [], [1], {}, {"positions": [1]}):
        assert sent(send(app, message))["hidden"] == [2]
