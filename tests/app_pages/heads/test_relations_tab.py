"""The tab Relations of the page Heads, and the column and filter of relations in its table."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.attention import sentence_links
from app_pages.heads import relations_tab
from app_pages.heads.relations_tab import followed_relations
from app_pages.subject.linked_sentences import treebank_sentences
from app_pages.subject.subject import LiveSubject
from model.atlas.linked_inputs import Link, LinkedText
from model.atlas.results import RELATIONS, ResultTable, write_results
from model.atlas.strongest_words import strongest_words
from tests.app_pages.charts import component
from tests.app_pages.charts import table as table_of
from tests.app_pages.heads.conftest import source
from tests.app_pages.linked import linked
from tests.app_pages.shown_text import page_text

PAGE = "app_pages/heads/page.py"
TEXT = "not great film"
DEFAULTS = {"text": TEXT, "checkpoint": "imdb-pre-ln", "heads_part": "Relations"}
SENTENCE = LinkedText(
    "a great film", words=((0, 1), (2, 7), (8, 12)), links=(Link(0, 2, "det"), Link(1, 2, "amod"))
)
# layer, head, relation, direction, share, n, beyond
ROWS = [
    (0, 0, "det", "to head", 0.4, 50, False),
    (0, 1, "det", "to head", 0.75, 50, True),
    (0, 1, "det", "to dependent", 0.65, 50, True),
    (1, 0, "det", "to dependent", 0.8, 50, True),
    (1, 0, "amod", "to head", 0.6, 100, True),
    (1, 1, "amod", "to dependent", 0.3, 100, False),
    (1, 1, "rare", "to head", 1.0, 3, False),
]


def table(rows: list = ROWS) -> pd.DataFrame:
    names = ["layer", "head", "relation", "direction", "share", "n", "beyond"]
    frame = pd.DataFrame(rows, columns=names)
    frame["offset"] = np.where(frame["direction"] == "to head", 2, -2)
    return frame.assign(
        baseline=0.5,
        low=frame["share"] - 0.1,
        high=frame["share"].add(0.1).clip(upper=1),
        p=np.where(frame["n"] < 20, np.nan, 0.01),
    )


@pytest.fixture
def store(checkpoints: Path) -> Callable[..., None]:
    def stored(rows: list = ROWS, name: str = "imdb-pre-ln", **samples: int) -> None:
        made = replace(source(name, "sentences of a treebank"), samples=samples)
        write_results(checkpoints / name / RELATIONS, ResultTable(source=made, rows=table(rows)))

    return stored


@pytest.fixture(autouse=True)
def one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations_tab, "treebank_sentences", lambda: (SENTENCE,))


def dots(app: AppTest) -> pd.DataFrame:
    return table_of(app, "The best head for each relation", "relation", "share")


def test_the_best_head_for_each_relation(open_app, store):
    store()
    app = open_app(PAGE, **DEFAULTS)
    shown = dots(app)
    assert shown["relation"].tolist() == ["amod", "det"]  # the more frequent one first
    assert shown["name"].tolist() == ["L1 H0: adjective → noun", "L1 H0: noun → determiner"]
    assert shown["share"].tolist() == pytest.approx([0.6, 0.8])
    assert "Left out, with fewer than 20 links: 1 relation." in page_text(app)


@pytest.mark.parametrize(
    ("direction", "names"),
    [
        ("to head", ["L1 H0: adjective → noun", "L0 H1: determiner → noun"]),
        ("to dependent", ["L1 H1: noun → adjective", "L1 H0: noun → determiner"]),
    ],
)
def test_one_direction_alone(open_app, store, direction, names):
    store()
    assert dots(open_app(PAGE, **DEFAULTS, heads_direction=direction))["name"].tolist() == names


def test_what_was_left_out_is_told(open_app, store):
    store(links=97, cut=3)
    expected = "3 of 100 links are left out: 3 with a word beyond the length that the encoder reads."
    assert expected in page_text(open_app(PAGE, **DEFAULTS))


def test_without_enough_links_all_are_shown(open_app, store):
    store(ROWS[-1:])
    app = open_app(PAGE, **DEFAULTS)
    assert dots(app)["relation"].tolist() == ["rare"]
    assert "No relation has the 20 links that a test needs." in page_text(app)
    assert table_of(app, "The best head for each relation", "relation", "result")["result"].tolist() == [
        "not tested"
    ]
    app = open_app(PAGE, **DEFAULTS, layer="1", head="1")
    assert (
        "**L1 H1** on **rare**, 3 links: to the head word 100 % (90 to 100 %), too few to compare with always looking 2 words ahead (50 %)."
    ) in page_text(app)


def test_the_chosen_head_on_the_chosen_relation_in_words(open_app, store):
    store()
    app = open_app(PAGE, **DEFAULTS, heads_relation="det", layer="0", head="1")
    assert (
        "**L0 H1** on **det**, 50 links: to the head word 75 % (65 to 85 %), clearly more than always looking 2 words ahead (50 %); "
        "to dependent 65 % (55 to 75 %), clearly more than always looking 2 words back (50 %)."
    ) in page_text(app)
    app = open_app(PAGE, **DEFAULTS, heads_relation="det", layer="1", head="1")
    assert "this head has no numbers in the file" in page_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("direction", "query", "other_end"), [("to head", 0, 2), ("to dependent", 2, 0)])
def test_a_sentence_shows_link_and_strongest_key(open_app, store, direction, query, other_end):
    store()
    app = open_app(PAGE, **DEFAULTS, heads_relation="det", layer="0", head="1", heads_direction=direction)
    loaded = LiveSubject("imdb-pre-ln", SENTENCE).loaded
    strongest = strongest_words(loaded, SENTENCE)[0, 1, query]
    (row,) = table_of(app, "L0 H1 on det", "strongest key").to_dict("records")
    sentence = SENTENCE.text.split()
    assert (row["query"], row["other end"]) == (sentence[query], sentence[other_end])
    assert row["strongest key"] == sentence[strongest]
    assert row["hit"] == (strongest == other_end)


def test_relations_that_the_treebank_lacks_have_no_sentence(open_app, store):
    store([(0, 0, "contact", "to head", 0.4, 50, False)])
    app = open_app(PAGE, **DEFAULTS)
    assert "The app has no sentences with this relation to show." in page_text(app)


@pytest.mark.parametrize(
    ("query", "command"),
    [
        (
            {},
            "`python -m model.atlas imdb-pre-ln --relations examples/relations/pud_250.conllu` measures it;",
        ),
        (
            {"kind": "Digit", "checkpoint": "mnist-pre-ln"},
            "`python -m model.atlas mnist-pre-ln --relations FILE.csv` measures it;",
        ),
    ],
)
def test_without_a_file_it_says_how_to_make_one(open_app, query, command):
    assert command in page_text(open_app(PAGE, **DEFAULTS | query))


def test_rows_that_fit_no_head_are_passed_over(open_app, store):
    row = (7, 0, "det", "to head", 0.4, 50, True)
    store([row])
    assert "was not measured for this encoder" in page_text(open_app(PAGE, **DEFAULTS))
    store([row, *ROWS])
    assert dots(open_app(PAGE, **DEFAULTS))["relation"].tolist() == ["amod", "det"]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("direction", ["to head", "to dependent"])
def test_a_sentence_opens_on_attention_with_its_links(open_app, store, direction, monkeypatch):
    store()
    monkeypatch.setattr(sentence_links, "linked_sentence", lambda _: SENTENCE)
    app = open_app(PAGE, **DEFAULTS, heads_relation="det", heads_direction=direction, layer="0", head="1")
    (button,) = (button for button in app.button if (button.key or "").startswith("open_link_"))
    assert button.label == ("a → film" if direction == "to head" else "film → a")
    button.click().run()
    assert not app.exception
    assert app.text_area(key="text").value == SENTENCE.text
    assert app.toggle(key="links").value
    assert app.selectbox(key="link_relation").value == "det"
    chart = linked(app)
    assert chart.kept == (0, 1, 1 if direction == "to head" else 3)
    (cells,) = chart.frames["links"][["first_query", "first_key"]].values.tolist()
    assert cells == ([1, 3] if direction == "to head" else [3, 1])


def test_the_shipped_sentences_have_links():
    sentences = treebank_sentences()
    assert len(sentences) == 250
    assert sum(link.relation == "case" for sentence in sentences for link in sentence.links) == 542


# The table of all heads


def test_each_head_s_relations_the_best_first():
    followed = followed_relations(table())
    names = {index: [(best.relation, best.direction) for best in heads] for index, heads in followed.items()}
    assert names == {(0, 1): [("det", "to head")], (1, 0): [("det", "to dependent"), ("amod", "to head")]}


def rows_of_table(app: AppTest) -> tuple[list[str], dict[str, list[str]]]:
    """Names of the columns, and the relations of each head by its name."""
    drawn = component(app, "heads_table")
    relations = {
        row["cells"][0]["text"]: [
            term["text"].replace("\u2009", " ") for term in row["cells"][2].get("terms", [])
        ]
        for row in drawn["rows"]
    }
    return [heading["name"] for heading in drawn["headings"]], relations


def test_the_table_has_a_column_of_relations_where_they_are_stored(open_app, store):
    query = DEFAULTS | {"heads_part": "Table"}
    names, _ = rows_of_table(open_app(PAGE, **query))
    assert "relations" not in names
    store()
    names, relations = rows_of_table(open_app(PAGE, **query))
    assert names[:3] == ["head", "roles", "relations"]
    assert relations == {
        "L0 H0": [],
        "L0 H1": ["determiner → noun 75 %"],
        "L1 H0": ["noun → determiner 80 %", "adjective → noun 60 %"],
        "L1 H1": [],
    }


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"heads_followed": "det"}, ["L0 H1", "L1 H0"]),
        ({"heads_followed": "amod"}, ["L1 H0"]),
        ({"heads_search": "amod"}, ["L1 H0"]),
        ({"heads_search": "adjective"}, ["L1 H0"]),
    ],
)
def test_heads_are_filtered_by_relation(open_app, store, query, shown):
    store()
    app = open_app(PAGE, **DEFAULTS | {"heads_part": "Table"} | query)
    assert list(rows_of_table(app)[1]) == shown
    app.button(key="heads_all").click().run()
    assert len(rows_of_table(app)[1]) == 4
