"""What the load driver does without a server."""

import random

import pytest
from streamlit.proto.Checkbox_pb2 import Checkbox
from streamlit.proto.Selectbox_pb2 import Selectbox
from streamlit.proto.Slider_pb2 import Slider

from benchmarks.addresses import pages
from benchmarks.load.__main__ import p95
from benchmarks.load.browser_window import Widget, Window
from benchmarks.load.lesson import PLACES, words


def test_every_page_is_in_the_mix() -> None:
    assert {place.page for place in PLACES} == set(pages())


def test_the_words_are_different_ones_and_none_is_within_another() -> None:
    found = words(32)
    assert len(set(found)) == 32
    assert not any(one in other for one in found for other in found if one != other)


@pytest.mark.parametrize(
    ("widget", "now", "others"),
    [
        (Widget("checkbox", Checkbox(), ""), False, [True]),
        (Widget("selectbox", Selectbox(options=["a", "b"]), ""), "a", ["b"]),
        (Widget("selectbox", Selectbox(options=["a"]), ""), "a", [None]),
        (Widget("slider", Slider(min=0, max=2, step=1), ""), [1.0], [[0.0], [2.0]]),
    ],
)
def test_a_change_is_to_another_value(widget: Widget, now: object, others: list) -> None:
    assert widget.other(now, random.Random(0)) in others


def test_the_address_follows_a_widget_and_leaves_out_what_is_the_first() -> None:
    window = Window("http://127.0.0.1:9")
    widget = Widget(
        "selectbox", Selectbox(id="a-b-head", options=["0", "1"], default=0, query_param_key="head"), ""
    )
    window.widgets["head"] = widget
    request = window._change("head", "1").rerun_script
    assert request.query_string == "head=1"
    assert request.widget_states.widgets[0].string_value == "1"
    assert window._change("head", "0").rerun_script.query_string == ""


def test_the_95th_percentile() -> None:
    assert p95([1.0] * 99 + [5.0]) == 1
    assert p95([3.0]) == 3
    assert p95([]) == 0
