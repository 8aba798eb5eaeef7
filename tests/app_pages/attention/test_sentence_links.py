"""The links of a sentence over the matrix, and how many of them the chosen head follows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.attention import all_heads_view, save_buttons, sentence_links
from app_pages.subject import cache
from app_pages.subject.linked_sentences import linked_sentence, treebank_sentences
from model.atlas.linked_inputs import Link, LinkedText
from model.capture import capture
from model.inputs import Text
from model.measures.word_view import view
from tests.app_pages.linked import captions, linked
from tests.viz.export.offline_parts import Parts
from viz.attention.matrix_links import COLOUR

Open = Callable[..., AppTest]
WORDS = ("great", "films", "not", "xyz")
TEXT = " ".join(WORDS)
SPANS = ((0, 5), (6, 11), (12, 15), (16, 19))
LINKS = (Link(0, 1, "amod"), Link(2, 3, "dep"), Link(3, 1, "dep"))
SENTENCE = LinkedText(TEXT, words=SPANS, links=LINKS)


@pytest.fixture(autouse=True)
def one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sentence_links, "linked_sentence", lambda text: SENTENCE if text.text == TEXT else None
    )


@pytest.fixture
def open_sentence(open_app: Open) -> Open:
    return lambda **query: open_app(**{"text": TEXT, "checkpoint": "imdb-pre-ln"} | query)


def outlined(app: AppTest) -> list[tuple]:
    """First row, end of rows, first column, end of columns, and label of each link."""
    frame = linked(app).frames["links"]
    return [tuple(row) for row in frame[["first_query", "end_query", "first_key", "end_key", "label"]].values]


def hits(layer: int, head: int, *, to_head: bool) -> list[bool]:
    """Whether the strongest other word is the other end, from a record by words without special tokens."""
    words = view(capture(cache.loaded("imdb-pre-ln"), TEXT), merged=True, hidden=True)
    assert len(words) == len(WORDS)
    pattern = words.pattern[layer, head].copy()
    np.fill_diagonal(pattern, -1)
    pairs = [(link.dependent, link.head) if to_head else (link.head, link.dependent) for link in LINKS]
    return [int(pattern[query].argmax()) == key for query, key in pairs]


def test_the_toggle_outlines_the_links(open_sentence):
    app = open_sentence()
    assert outlined(app) == []
    assert "Outlined:" not in captions(app)
    app.toggle(key="links").set_value(True).run()
    # [CLS] great film ##s not x ##y ##z [SEP]
    assert capture(cache.loaded("imdb-pre-ln"), TEXT).tokens[1:4] == ("great", "film", "##s")
    assert outlined(app) == [
        (1, 2, 2, 4, "amod: great → films"),
        (4, 5, 5, 8, "dep: not → xyz"),
        (5, 8, 2, 4, "dep: xyz → films"),
    ]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("direction", ["to head", "to dependent"])
@pytest.mark.parametrize("head", [(0, 0), (1, 1)])
def test_how_many_the_head_follows(open_sentence, head, direction):
    layer, index = head
    app = open_sentence(links="true", link_direction=direction, layer=str(layer), head=str(index))
    result = hits(layer, index, to_head=direction == "to head")
    expected = f"**L{layer} H{index} follows {sum(result)} of the 3 links**: dep {sum(result[1:])} of 2, amod {result[0]:d} of 1."
    assert expected in captions(app)
    frame = linked(app).frames["links"]
    assert [digits[2 * layer + index] == "1" for digits in frame["hits"]] == result


def test_one_relation_alone(open_sentence):
    app = open_sentence(links="true", link_relation="dep")
    assert [label for *_, label in outlined(app)] == ["dep: not → xyz", "dep: xyz → films"]
    n = sum(hits(0, 0, to_head=True)[1:])
    assert f"**L0 H0 follows {n} of the 2 links of the relation dep.**" in captions(app)


def test_where_pieces_are_merged_and_special_tokens_hidden_a_link_is_one_cell(open_sentence):
    app = open_sentence(links="true", words="true", hide_special="true")
    assert [cells for *cells, _ in outlined(app)] == [[0, 1, 1, 2], [2, 3, 3, 4], [3, 4, 1, 2]]


def test_links_that_the_encoder_does_not_read_are_counted(open_sentence, monkeypatch):
    joined = LinkedText(
        TEXT, words=((0, 5), (6, 8), (8, 11), (12, 15)), links=(Link(0, 3, "a"), Link(1, 2, "a"))
    )
    monkeypatch.setattr(sentence_links, "linked_sentence", lambda _: joined)
    assert "1 more has a word that the tokenizer joins with another" in captions(open_sentence(links="true"))


@pytest.mark.parametrize(
    ("direction", "ends", "label"),
    [
        ("to head", "from dependent to head word", "amod: great → films"),
        ("to dependent", "from head word to dependent", "amod: films → great"),
    ],
)
def test_the_saved_map_and_web_page_have_the_outlines(open_sentence, monkeypatch, direction, ends, label):
    drawn: dict = {}
    monkeypatch.setattr(all_heads_view, "download", lambda figure, key, **_: drawn.update({key: figure()}))

    def draw_button(*arguments: Any, **_options: Any) -> None:
        _, make, _, key = arguments
        drawn[key] = make

    monkeypatch.setattr(save_buttons, "_draw_button", draw_button)
    assert not open_sentence(links="true", link_direction=direction).exception
    shapes = drawn["matrix"].specification.layout.shapes
    assert [shape.line.color for shape in shapes].count(COLOUR) == 3
    (matrix, *_) = drawn["matrix"].specification.data
    assert f"outlined: links {ends}, solid where the head follows them" in matrix.colorbar.title.text
    content = Parts(drawn["view"]())
    assert f"outlined: links {ends}" in content.settings()["Shown"]
    assert content.data()["datasets"]["links"]["label"][0] == label


def test_for_other_inputs_there_is_nothing_to_choose(open_sentence, open_app):
    for app in (
        open_sentence(text="not great film"),
        open_app(kind="Digit"),
        open_sentence(lens="rollout"),
    ):
        assert not app.exception
        assert "links" not in [toggle.key for toggle in app.toggle]
        assert "links" not in linked(app).frames


def test_the_shipped_sentences_are_found_by_their_text():
    sentence = treebank_sentences()[0]
    assert linked_sentence(Text(f" {sentence.text} ")) is sentence
    assert linked_sentence(Text(sentence.text, "and another")) is None
    assert linked_sentence(Text("not great film")) is None
    assert linked_sentence(Text("The doctor said that she was tired")).links == (Link(4, 1, "coreference"),)
