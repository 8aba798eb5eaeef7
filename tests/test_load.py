"""What the load driver does without a server."""

import random

import pytest
from streamlit.proto.Checkbox_pb2 import Checkbox
from streamlit.proto.Selectbox_pb2 import Selectbox
from streamlit.proto.Slider_pb2 import Slider

from benchmarks.addresses import pages
from benchmarks.load.__main__ import p95
from benchmarks.load.browser_window import Widget, Window
from benchmarks.load.lesson import SCENARIOS, words


def test_every_page_is_in_the_mix():
    assert {scenario.page for scenario in SCENARIOS} == set(pages())


def test_the_words_are_different_ones_and_none_is_within_another():
    own_words = words(32)
    assert len(set(own_words)) == 32
    assert not any(one in other for one in own_words for other in own_words if one != other)


@pytest.mark.parametrize(
    ("widget", "now", "others"),
    [
        (Widget("checkbox", Checkbox(), ""), False, [True]),
        (Widget("selectbox", Selectbox(options=["a", "b"]), ""), "a", ["b"]),
        (Widget("selectbox", Selectbox(options=["a"]), ""), "a", [None]),
        (Widget("slider", Slider(min=0, max=2, step=1), ""), [1.0], [[0.0], [2.0]]),
    ],
)
def test_a_change_is_to_another_value(widget, now, others):
    assert widget.other(now, random.Random(0)) in others


@pytest.mark.parametrize(
    ("widget", "value", "is_offered"),
    [
        (Widget("selectbox", Selectbox(options=["a"]), ""), "b", False),
        (Widget("selectbox", Selectbox(options=["a"]), ""), None, True),
        (Widget("slider", Slider(min=0, max=2, step=1), ""), [3.0], False),
        (Widget("slider", Slider(min=0, max=2, step=1), ""), [2.0], True),
        (Widget("checkbox", Checkbox(), ""), True, True),
    ],
)
def test_what_is_no_longer_offered_cannot_be_held(widget, value, is_offered):
    assert widget.offers(value) == is_offered


def test_a_change_is_sent_with_what_the_other_widgets_hold():
    window = Window("http://127.0.0.1:9")
    for key, now in (("head", "1"), ("layer", "0"), ("example", None)):
        element = Selectbox(id=f"a-b-{key}", options=["0", "1"], query_param_key=key)
        window.widgets[key], window.values[key] = Widget("selectbox", element, ""), now
    sent = {
        state.id: state.string_value
        for state in window._change("head", "0").rerun_script.widget_states.widgets
    }
    assert sent == {"a-b-head": "0", "a-b-layer": "0"}


def test_the_address_follows_a_widget_and_leaves_out_what_is_the_first():
    window = Window("http://127.0.0.1:9")
    widget = Widget(
        "selectbox", Selectbox(id="a-b-head", options=["0", "1"], default=0, query_param_key="head"), ""
    )
    window.widgets["head"] = widget
    request = window._change("head", "1").rerun_script
    assert request.query_string == "head=1"
    assert request.widget_states.widgets[0].string_value == "1"
    assert window._change("head", "0").rerun_script.query_string == ""


def test_the_95th_percentile():
    assert p95([1.0] * 99 + [5.0]) == 1
    assert p95([3.0]) == 3
    assert p95([]) == 0
