import base64
import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest

from model.record.from_arrays import from_arrays
from tests.viz.export.offline_parts import VEGA, Parts
from viz.attention.linked_heads import linked_heads
from viz.builders.token_label import visible
from viz.export.offline_page import offline_page

pytestmark = pytest.mark.usefixtures("without_vega")

STRANGE = [
    "</script><script>alert(1)</script>",
    "a&b",
    "\"'",
    "@@script@@",
    "<!--",
    "\u202eevil",
    "\x00\x1b",
    "😀",
]


def pattern(layers=2, heads=3, n=8, keys=None):
    weights = np.random.default_rng(0).random((layers, heads, n, keys or n)).astype(np.float32)
    return weights / weights.sum(-1, keepdims=True)


def view(weights=None, tokens=STRANGE, *, settings=None, picture=None, notes=(), about=None, **changes):
    record = from_arrays(pattern() if weights is None else weights, tokens, **changes)
    return offline_page(
        record,
        title='a <title> & "more"',
        settings=settings or {},
        picture=picture,
        notes=notes,
        about=about,
    )


def test_the_page_holds_every_weight_in_16_bits():
    assert Parts(view()).weights() == pytest.approx(pattern(), abs=1e-5)


def test_of_very_many_weights_it_holds_8_bits_and_says_so():
    n = 1200
    many = np.random.default_rng(1).random((1, 3, n, n)).astype(np.float32)
    page = Parts(view(many, ["t"] * n))
    assert np.abs(page.weights() - many).max() < 0.002
    assert "8 bits" in page.settings()["Precision of this file"]


def test_the_chart_is_that_of_the_app():
    data = Parts(view(tokens=list("abcdefgh"))).data()
    figure = linked_heads(from_arrays(pattern(), list("abcdefgh")), channel="heads")
    assert data["specification"] == figure.specification | {"width": "container", "height": "container"}
    assert data["datasets"] == {name: frame.to_dict(orient="list") for name, frame in figure.frames.items()}


def test_it_opens_at_what_was_chosen():
    record = from_arrays(pattern(), STRANGE)
    data = Parts(offline_page(record, title="", settings={}, chosen=(1, 2, 3))).data()
    assert data["script"]["kept"] == {"layer": 1, "head": 2, "query": 3}


def test_the_policy_allows_the_page_its_own_scripts_and_style_and_nothing_else():
    page = Parts(view())
    policy = page.policy()
    assert policy["default-src"] == "'none'"
    assert set(policy) == {"default-src", "img-src", "base-uri", "form-action", "script-src", "style-src"}
    assert policy["img-src"] == "data:"

    def hashes(*texts):
        digests = (hashlib.sha256(text.encode()).digest() for text in texts)
        return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)

    assert page.texts["script"][1] == VEGA
    assert policy["script-src"] == hashes(*page.texts["script"][1:])
    assert policy["style-src"] == hashes(*page.texts["style"])


def test_the_page_names_no_other_address():
    text = view().decode()
    assert not re.findall(r"""(?:src|href|action|url)\s*[=(]\s*["']?(?:https?:)?//""", text)
    assert not [of for tag, of in Parts(view()).elements if "src" in of or "href" in of or "style" in of]


def test_words_of_others_are_text():
    page = Parts(view(settings={"text": "</dl>"}, notes=["<b>"], about=["<i>"] * 6))
    tags = [tag for tag, _ in page.elements]
    assert (tags.count("script"), tags.count("dl"), tags.count("b"), tags.count("i")) == (3, 1, 0, 0)
    assert page.texts["title"] == page.texts["h1"] == ['a <title> & "more"']
    data = page.data()
    tokens = data["script"]["queries"]
    assert tokens[:6] == [visible(token) for token in STRANGE[:6]]
    assert tokens[6] == visible(STRANGE[6])
    assert data["datasets"]["frame"]["about"][0] == "<i>"
    assert (page.settings()["Text"], page.settings()["Shown"]) == ("</dl>", "<b>")


def test_control_characters_are_replaced():
    content = view(settings={"text": "a\x1bb"}, notes=["c\x00d"])
    assert not {character for character in content.decode() if character < " "} - {"\n"}
    assert Parts(content).settings()["Text"] == "a�b"


def test_what_is_beside_the_script_of_vega_is_small():
    words = [f"token{number}" for number in range(64)]
    assert len(view(pattern(4, 4, 64), words)) < 1_000_000
    assert len(view(pattern(4, 4, 18), words[:18])) < 120_000


def test_keys_may_be_others_than_queries():
    script = Parts(view(pattern(keys=2), keys=["x", "y"])).data()["script"]
    assert (len(script["queries"]), script["keys"]) == (8, ["x", "y"])


def test_a_picture_comes_along():
    data = Parts(view(tokens=None, picture=np.zeros((8, 8), np.uint8), patch_grid=(2, 4))).data()
    picture = data["datasets"]["picture"]
    assert picture["on_light"][0].startswith("data:image/png;base64,")
    assert (picture["rows"], picture["columns"]) == ([2], [4])
    assert data["script"]["queries"] == []  # patches are pointed at in the picture


def test_a_picture_of_something_else_than_the_positions_stays_out():
    assert "picture" not in Parts(view(picture=np.zeros((8, 8), np.uint8))).data()["datasets"]


def test_the_same_view_gives_the_same_file():
    assert view() == view()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, -1.0])
def test_numbers_that_are_no_weights_are_no_reason_to_fail(value):
    odd = pattern()
    odd[0, 0, 0, 0] = value
    record = replace(from_arrays(pattern(), STRANGE), pattern=odd)
    page = Parts(offline_page(record, title="", settings={}))
    assert page.weights()[0, 0, 0, 0] in (0, 1)
    assert "outside of 0 to 1" in page.settings()["Precision of this file"]
