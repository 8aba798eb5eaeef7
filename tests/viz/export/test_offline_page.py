import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from model.record.from_arrays import from_arrays
from viz.export.offline_page import offline_page

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


def view(weights=None, tokens=STRANGE, *, settings=None, picture=None, **changes):
    record = from_arrays(pattern() if weights is None else weights, tokens, **changes)
    return offline_page(record, title='a <title> & "more"', settings=settings or {}, picture=picture)


class Page(HTMLParser):
    """Elements with their attributes, and what stands in script, style and title."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.inside: dict[str, list[str]] = {}
        self.current = ""
        self.feed(content.decode())

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.current = tag

    def handle_endtag(self, _tag):
        self.current = ""

    def handle_data(self, text):
        self.inside.setdefault(self.current, []).append(text)

    def policy(self):
        (policy,) = (
            of["content"] for tag, of in self.elements if of.get("http-equiv") == "Content-Security-Policy"
        )
        return dict(part.strip().partition(" ")[::2] for part in policy.split(";"))

    def data(self):
        return json.loads(self.inside["script"][0])


def weights(data):
    raw = gzip.decompress(base64.b64decode(data["weights"]))
    if data["precision"] == "f2":
        return np.frombuffer(raw, "<f2").reshape(data["shape"]).astype(float)
    return (np.frombuffer(raw, np.uint8).reshape(data["shape"]) / 255.0) ** 2


def test_the_page_holds_every_weight_to_three_digits():
    assert weights(Page(view()).data()) == pytest.approx(pattern(), rel=1e-3)


def test_of_very_many_weights_it_holds_8_bits_and_says_so():
    n = 1200
    many = np.random.default_rng(1).random((1, 3, n, n)).astype(np.float32)
    data = Page(view(many, ["t"] * n)).data()
    assert np.abs(weights(data) - many).max() < 0.004
    assert "8 bits" in dict(data["settings"])["Precision of this file"]


def test_the_policy_allows_the_page_its_own_script_and_style_and_nothing_else():
    page = Page(view())
    policy = page.policy()
    assert policy["default-src"] == "'none'"
    assert set(policy) == {"default-src", "img-src", "base-uri", "form-action", "script-src", "style-src"}
    assert policy["img-src"] == "data:"
    for kind, text in (("script", page.inside["script"][-1]), ("style", "".join(page.inside["style"]))):
        hashed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[f"{kind}-src"] == f"'sha256-{hashed}'"


def test_the_page_names_no_other_address():
    text = view().decode()
    assert not re.findall(r"""(?:src|href|action|url)\s*[=(]\s*["']?(?:https?:)?//""", text)
    assert not [of for tag, of in Page(view()).elements if "src" in of or "href" in of or "style" in of]


def test_words_of_others_are_text():
    page = Page(view(settings={"text": "</dl>"}))
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert "".join(page.inside["title"]) == 'a <title> & "more"'
    data = page.data()
    assert data["keys"][:6] == STRANGE[:6]
    assert data["keys"][6] == "��"
    assert data["settings"][0] == ["Text", "</dl>"]


def test_four_by_four_heads_over_64_tokens_are_far_below_5_megabytes():
    words = [f"token{number}" for number in range(64)]
    assert len(view(pattern(4, 4, 64), words)) < 500_000


def test_keys_may_be_others_than_queries():
    data = Page(view(pattern(keys=2), keys=["x", "y"])).data()
    assert (len(data["queries"]), data["keys"]) == (8, ["x", "y"])


def test_what_a_mask_forbids_is_marked():
    mask = np.ones((2, 3, 8, 8), bool)
    mask[1, 2, 3, 4] = False
    packed = Page(view(mask=mask)).data()["mask"]
    bits = np.unpackbits(np.frombuffer(gzip.decompress(base64.b64decode(packed)), np.uint8), count=mask.size)
    assert (bits.reshape(mask.shape) == mask).all()


def test_a_picture_comes_along():
    data = Page(view(tokens=None, picture=np.zeros((8, 8), np.uint8), patch_grid=(2, 4))).data()
    assert data["picture"].startswith("data:image/png;base64,")
    assert data["grid"] == [2, 4]


def test_the_same_view_gives_the_same_file():
    assert view() == view()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, -1.0])
def test_numbers_that_are_no_weights_are_no_reason_to_fail(value):
    odd = pattern()
    odd[0, 0, 0, 0] = value
    record = replace(from_arrays(pattern(), STRANGE), pattern=odd)
    assert Page(offline_page(record, title="", settings={})).data()["shape"] == [2, 3, 8, 8]
