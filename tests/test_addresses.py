"""What the benchmark of made-up addresses counts as broken, and that an address can be opened once more."""

import random

import pytest
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.Exception_pb2 import Exception as Raised
from streamlit.proto.Html_pb2 import Html
from streamlit.proto.Markdown_pb2 import Markdown
from streamlit.proto.Selectbox_pb2 import Selectbox

from benchmarks.addresses import AddressKey, address, broken
from benchmarks.load.browser_window import Answer
from benchmarks.load.servers import ROOT

IMAGE = "![x](http://192.0.2.1/x.png)"


@pytest.mark.parametrize(
    ("kind", "element", "n"),
    [
        ("markdown", Markdown(body=f"It says {IMAGE}."), 1),
        ("markdown", Markdown(body="It says \\!\\[x\\]\\(http://192.0.2.1/x.png\\)."), 0),
        ("markdown", Markdown(body=f"It says `{IMAGE}`."), 0),
        ("alert", Alert(body=f"{ROOT}/model is missing"), 1),
        ("html", Html(body="<b><script>alert(1)</script></b>"), 1),
        ("html", Html(body="&lt;script&gt;alert(1)"), 0),
        ("selectbox", Selectbox(label="Input", options=[IMAGE]), 0),  # options are text
        ("selectbox", Selectbox(label=IMAGE), 1),
        ("exception", Raised(type="OverflowError", message="too large"), 1),
    ],
)
def test_what_breaks_the_rule(kind, element, n):
    assert len(list(broken(Answer(0, elements=[(kind, element)])))) == n


def test_a_number_gives_the_same_address_again():
    known = {"head": AddressKey(frozenset({"", "masks"}), ("0", "1")), "cells": AddressKey(frozenset(), ())}
    made = [address(known, random.Random(f"0 {number}")) for number in range(50)]
    assert made == [address(known, random.Random(f"0 {number}")) for number in range(50)]
    assert len(set(made)) > 40
