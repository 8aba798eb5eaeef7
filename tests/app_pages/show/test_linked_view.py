"""What a choice in the linked chart changes, and what the browser is sent for it."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.subject.subject import OPENED, FileSubject, LiveSubject
from model.capture import capture
from model.capture.intervention import without_keys
from model.record.from_arrays import from_arrays
from tests.app_pages.linked import ROUNDING, choose, linked, send
from viz.attention.linked_data import stamp_of

TEXT = "not great film"  # five tokens
AT = {"text": TEXT, "checkpoint": "imdb-pre-ln"}
NAN, INFINITE = float("nan"), float("inf")


def test_a_choice_is_taken_once_and_is_in_the_address(open_app):
    app = open_app(**AT)
    assert (linked(app).kept, linked(app).data["answered"]) == ((0, 0, 2), 0)
    choose(app, layer=1, head=1, query=3, coloured_by="answer")
    assert (linked(app).kept, linked(app).data["answered"]) == ((1, 1, 3), 1)
    assert linked(app).data["coloured_by"] == "answer"
    address = {name: app.query_params[name] for name in ("layer", "head", "query", "coloured_by")}
    assert address == {"layer": "1", "head": "1", "query": "3 film", "coloured_by": "answer"}
    app.selectbox(key="layer").set_value(0).run()
    assert (linked(app).kept, linked(app).data["answered"]) == ((0, 1, 3), 1)


def test_the_chart_is_the_same_whatever_is_chosen(open_app):
    """Streamlit then sends none of it again."""
    app = open_app(**AT)
    before, data = _sent(app), linked(app).data
    choose(app, layer=1, head=1, query=3)
    assert _sent(app) == before
    changed = {name for name, value in linked(app).data.items() if value != data[name]}
    assert changed == {"kept", "answered"}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "change",
    [
        *({"layer": value} for value in (-1, 2, NAN, INFINITE, 0.5, True, None, "0", [0], {}, 10**400)),
        {"head": -1},
        {"head": 2},
        {"query": -1},
        {"query": 5},
        {"query": "2 great"},
        {"number": NAN},
        {"number": "1"},
        {"stamp": "0123456789ab"},
        {"stamp": None},
        {"stamp": [1]},
        {"coloured_by": "weights"},
        {"coloured_by": [1]},
    ],
    ids=str,
)
def test_a_message_of_nonsense_changes_nothing(open_app, change):
    app = open_app(**AT, layer="1", query="2 great")
    address = dict(app.query_params)
    choose(app, **{"layer": 0, "query": 1} | change)
    assert (linked(app).kept, linked(app).data["answered"]) == ((1, 0, 2), 0)
    assert dict(app.query_params) == address


def test_a_message_of_another_form_changes_nothing(open_app):
    app = open_app(**AT, layer="1", query="2 great")
    for message in (None, 1, "x", [], [1, 2, 3], {}, {"layer": 0}):
        assert linked(send(app, message)).kept == (1, 0, 2)


def test_a_choice_of_the_text_before_is_not_taken(open_app):
    app = open_app(**AT, query="4 [SEP]")
    old = linked(app).data["stamp"]
    app.text_area(key="text").set_value("great").run()
    chart = linked(app)
    assert chart.kept[2] < chart.data["n_queries"] == 3
    np.testing.assert_allclose(chart.map, _pattern("great")[0, 0], atol=ROUNDING)
    choose(app, layer=1, query=0, stamp=old)
    assert linked(app).kept == chart.kept
    app.selectbox(key="checkpoint").select("imdb-post-ln").run()
    assert linked(app).data["stamp"] not in (old, chart.data["stamp"])


def test_the_stamp_is_that_of_the_record(open_app):
    chart = linked(open_app(**AT))
    stamp = stamp_of(LiveSubject("imdb-pre-ln", TEXT).record)
    assert (chart.data["stamp"], chart.state("stamp")) == (stamp, stamp)
    assert set(chart.frames["cells"]["stamp"]) == set(chart.frames["frame"]["stamp"]) == {stamp}


def test_what_the_answer_hangs_on(open_app):
    answer_colours = linked(open_app(**AT)).data["hidden"]
    record = LiveSubject("imdb-pre-ln", TEXT).record
    answer = int(record.logits.argmax())

    def of(probabilities: np.ndarray) -> float:
        return float(np.log(probabilities[answer] / (1 - probabilities[answer])))

    encoder = LiveSubject("imdb-pre-ln", TEXT).loaded
    hidden = [of(capture(encoder, TEXT, without_keys(key)).probabilities) for key in range(1, 5)]
    falls = of(record.probabilities) - np.array(hidden)
    np.testing.assert_allclose(answer_colours["effects"], [0, *falls], atol=1e-5)
    assert answer_colours["largest"] == pytest.approx(abs(falls).max())
    name = record.class_names[answer]
    assert answer_colours["words"] == [
        "falls without it by: not measured",
        *(f"falls without it by: {fall:+.3f} log-odds of {name}" for fall in falls),
    ]
    assert f"Gold: speaks for “{name}”" in answer_colours["note"]


def test_where_the_tokens_are_not_those_of_the_input_they_have_no_second_colouring(open_app):
    assert linked(open_app(**AT, hide_special="true")).data["hidden"] is None
    options = {"text": "films not", "checkpoint": "imdb-pre-ln"}
    assert linked(open_app(**options, words="true")).data["hidden"] is None
    assert linked(open_app(**options)).data["hidden"]


def test_of_a_large_record_the_chosen_head_alone_is_sent(open_app, monkeypatch):
    monkeypatch.setattr("viz.attention.linked_data.MOST_WEIGHTS", 50)
    app = open_app(**AT, layer="1", head="1")
    pattern = _pattern(TEXT)

    def weights() -> np.ndarray:
        return linked(app).numbers("weights").reshape(5, 5) / 65535

    np.testing.assert_allclose(weights(), pattern[1, 1], atol=ROUNDING)
    assert not linked(app).data["is_whole"]
    choose(app, head=0)
    np.testing.assert_allclose(weights(), pattern[1, 0], atol=ROUNDING)
    own = [linked(app).data[name] for name in ("own_layer", "own_head")]
    assert own == [1, 0]


def test_labels_that_look_like_markup_are_handed_over_as_they_are(open_app):
    record = from_arrays(np.full((1, 1, 3, 3), 1 / 3), ["<b>x</b>", "a b", ""])
    session = {OPENED: FileSubject(file_name="a.npz", record=record, settings={}, picture=None)}
    assert linked(open_app(kind="Record", session=session)).data["queries"] == ["<b>x</b>", "a·b", "·"]


def _pattern(text: str) -> np.ndarray:
    return LiveSubject("imdb-pre-ln", text).record.pattern


def _sent(app: AppTest) -> list[bytes]:
    return [chart.proto.SerializeToString() for chart in app.get("vega_lite_chart")]
