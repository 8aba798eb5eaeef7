import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls import estimated_work
from app_pages.heads.columns import COLUMNS
from app_pages.heads.numbers import measuring_sentence
from app_pages.heads.table import FIRST_COLUMNS
from app_pages.inputs.row import NO_ENCODER
from app_pages.subject import cache, shipped_inputs
from app_pages.subject.subject import OPENED, FileSubject, LiveSubject
from model import checkpoint
from model.atlas.dataset_examples import OWN_NAME, own_texts
from model.atlas.results import PARTS, ResultTable, write_results
from model.capture import capture
from model.decompositions.answer_parts import answer_parts
from model.experiments.ablation import ablate_heads, importance
from model.experiments.masked_word import masked_word
from model.experiments.probabilities import probabilities
from model.inputs import Picture, Text
from model.measures.changes import class_changes
from model.measures.head_statistics import statistics
from model.record.from_arrays import from_arrays
from tests.app_pages.charts import component, described
from tests.app_pages.charts import table as table_of
from tests.app_pages.heads.conftest import source
from tests.app_pages.linked import linked
from tests.app_pages.shown_text import page_text
from tests.model import tiny
from tests.model.measures.roles import roles_on_input
from viz.builders.number_format import fall_in_words
from viz.heads.part_grids import effect_decimals

Open = Callable[..., AppTest]
TEXT, ENCODER = "not great film", "imdb-pre-ln"
ALL = {"heads_columns": [column.title for column in COLUMNS.values()]}
ADDS = {"heads_columns": ["adds to the answer"]}
OVER_DATA = {"heads_of": "data set"}
DIGIT_STATISTICS = ["entropy", "confidence", "distance", "same", "first", "sink"]


@pytest.fixture
def open_heads(open_app: Open) -> Open:
    return lambda **query: open_app("app_pages/heads/page.py", **{"text": TEXT} | query)


def rows(app: AppTest) -> dict[str, dict]:
    """By the name of the head: its key, whether it is the current one, its roles, and its number cells."""
    return {
        name["text"]: {
            "key": tuple(row["key"]),
            "current": row["current"],
            "roles": roles["terms"],
            "numbers": numbers,
        }
        for row in component(app, "heads_table")["rows"]
        for name, roles, *numbers in [row["cells"]]
    }


def columns(app: AppTest) -> list[str]:
    return [cell["name"] for cell in component(app, "heads_table")["headings"]][2:]


def explained_columns(app: AppTest) -> str:
    """The folded list that explains the columns, as Markdown."""
    (listed,) = (block.value for block in app.markdown if block.value.startswith("- **entropy**"))
    return listed


def statistics_of_text() -> dict[str, np.ndarray]:
    return statistics(LiveSubject(ENCODER, Text(TEXT)).record)


# Table


def test_each_head_is_a_row_of_its_numbers(open_heads):
    app = open_heads(**ALL)
    result = statistics_of_text()
    assert columns(app) == [*result, "adds", "importance", "zero"]
    assert list(rows(app)) == ["L0 H0", "L0 H1", "L1 H0", "L1 H1"]
    assert "Entropy 0: all on one key; 1: spread evenly." in page_text(app)
    for row in rows(app).values():
        expected = [COLUMNS[name].as_text(item[row["key"]]) for name, item in result.items()]
        assert [cell["text"] for cell in row["numbers"]][: len(result)] == expected
    assert measuring_sentence(ENCODER) in page_text(app)


def test_at_first_four_numbers_are_shown_and_the_others_by_choice(open_heads):
    app = open_heads()
    assert [COLUMNS[name].title for name in columns(app)] == [*FIRST_COLUMNS]
    app.multiselect(key="heads_columns").set_value(["sink", "entropy"]).run()
    assert columns(app) == ["entropy", "sink"]
    assert len(rows(app)["L0 H0"]["numbers"]) == 2
    app.segmented_control(key="kind").set_value("Digit").run()
    assert columns(app) == ["entropy", "sink"]


def test_a_column_that_is_not_shown_does_not_sort(open_heads):
    assert list(rows(open_heads(heads_sort="-sink"))) == ["L0 H0", "L0 H1", "L1 H0", "L1 H1"]


def test_a_digit_has_the_numbers_that_patches_have(open_heads):
    app = open_heads(kind="Digit", digit="3", **ALL)
    result = statistics(LiveSubject("mnist-pre-ln", Picture.of(shipped_inputs.test_digits()[0][3])).record)
    assert list(result) == DIGIT_STATISTICS
    assert columns(app) == [*DIGIT_STATISTICS, "adds", "importance", "zero"]
    assert "`python -m model.atlas mnist-pre-ln` measures it" in page_text(app)


def test_the_chosen_head_is_marked_and_named_and_opens_elsewhere(open_heads):
    app = open_heads(layer="1", head="1")
    assert [name for name, row in rows(app).items() if row["current"]] == ["L1 H1"]
    assert any(item.value.startswith("**L1 H1**") for item in app.markdown)
    app.button(key="heads_to_attention").click().run()
    assert not app.exception
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == (1, 1)
    assert linked(app).name == "L1 H1"


def test_a_link_restores_how_the_table_was_sorted(open_heads):
    app = open_heads(heads_sort="-entropy")
    entropy = statistics_of_text()["entropy"]
    order = [entropy[row["key"]] for row in rows(app).values()]
    assert order == sorted(order, reverse=True)
    assert [
        cell["sorted"] for cell in component(app, "heads_table")["headings"] if cell["name"] == "entropy"
    ] == ["descending"]


def test_what_is_searched_is_left_and_all_come_back(open_heads):
    app = open_heads(heads_search="h1")
    assert list(rows(app)) == ["L0 H1", "L1 H1"]
    assert "2 of 4 heads." in page_text(app)
    app.button(key="heads_all").click().run()
    assert len(rows(app)) == 4
    app.text_input(key="heads_search").set_value("L9").run()
    assert "No head matches the search and the filter." in page_text(app)
    app.button(key="heads_all").click().run()
    assert len(rows(app)) == 4


def test_layers_and_roles_narrow_down(open_heads, store_heads):
    store_heads(ENCODER, next=np.array([[0.1, 0.7], [0.2, 0.3]]))
    assert list(rows(open_heads(**OVER_DATA, heads_role="next-token head"))) == ["L0 H1"]
    assert list(rows(open_heads(**OVER_DATA, heads_layers="1"))) == ["L1 H0", "L1 H1"]


def test_over_a_data_set_each_number_has_its_spread(open_heads, store_heads):
    store_heads(ENCODER, next=np.array([[0.1, 0.7], [0.2, 0.3]]))
    app = open_heads(**ALL)
    result = statistics_of_text()
    cell = rows(app)["L0 H1"]["numbers"][columns(app).index("next")]
    assert cell["text"] == COLUMNS["next"].as_text(result["next"][0, 1])
    assert "±" not in str(component(app, "heads_table"))
    app.segmented_control(key="heads_of").set_value("data set").run()
    cell = rows(app)["L0 H1"]["numbers"][columns(app).index("next")]
    assert (cell["text"], cell["bar"]) == ("0.70 ± 0.05", pytest.approx(0.7))
    assert "Mean ± standard deviation over 40 sentences of our own." in page_text(app)
    assert [role["text"] for role in rows(app)["L0 H1"]["roles"]] == ["next-token head"]
    assert "`python -m model.atlas imdb-pre-ln --data FILE.csv --with importance,ablation`" in page_text(app)
    assert columns(app) == [name for name in result if name != "confidence"]  # which was not stored


def test_over_a_data_set_a_head_may_be_called_otherwise(open_heads, store_heads):
    store_heads(ENCODER, same=np.full((2, 2), 0.9))
    text = "not great film x y z"
    app = open_heads(text=text)
    here = ", ".join(role.name for role in roles_on_input(LiveSubject(ENCODER, Text(text)).record, 0, 0))
    assert f"**L0 H0** · {here} here; over 40 sentences of our own: same-token head" in page_text(app)


def test_of_a_short_text_no_head_has_a_role(open_heads):
    """5 tokens with [CLS] and [SEP]: even weights would be "local" there."""
    app = open_heads()
    assert "**L0 H0** · :gray[too few tokens for a role]" in page_text(app)
    assert not any(row["roles"] for row in rows(app).values())


# Scatter


def test_any_two_numbers_are_axes(open_heads):
    app = open_heads(heads_scatter="true", heads_across="confidence", heads_up="next", head="1")
    points = table_of(app, "4 heads by confidence across and next up", "x", "y").set_index("name")
    result = statistics_of_text()
    for name, point in points.iterrows():
        head = int(point["layer"]), int(point["head"])
        assert (point["x"], point["y"]) == pytest.approx(
            (result["confidence"][head], result["next"][head])
        ), name
    assert points.index[points["selected"]].tolist() == ["L0 H1"]


def test_an_axis_says_the_unit_and_what_the_sign_of_a_fall_means(open_heads):
    spec = described(open_heads(heads_scatter="true", heads_across="zeroed"), "4 heads by zeroed")
    titles = [layer["encoding"]["x"].get("title") for layer in spec["layer"] if "x" in layer["encoding"]]
    assert "zeroed (nats; + the answer falls, − it rises)" in titles


def test_an_axis_that_digits_lack_gives_way(open_heads):
    app = open_heads(heads_scatter="true", heads_up="next")
    app.segmented_control(key="kind").set_value("Digit").run()
    assert described(app, "4 heads by entropy across and")


# Examples


@pytest.fixture
def open_examples(open_heads: Open) -> Open:
    return lambda **query: open_heads(heads_part="Examples", **query)


def examples(app: AppTest) -> str:
    """The HTML of the table of examples."""
    assert not app.exception
    (body,) = [item.proto.body for item in app.get("html") if 'class="liked"' in item.proto.body]
    return body


def test_an_example_stands_in_its_context(open_examples, store_examples):
    like = {"before": "a <b>", "query_token": "<i>", "weight": 0.875, "number": 1234}
    store_examples(ENCODER, "sentences of our own", like, {"rank": 1}, {"head": 1, "query_token": "other"})
    app = open_examples()
    assert examples(app).count("<tr>") == 3
    assert "other" not in examples(app)
    first = examples(app).split("<tr>")[2]
    assert "0.88" in first
    assert "1,234" in first
    assert 'a &lt;b&gt;<b title="query">&lt;i&gt;</b> <mark title="key">great</mark> film' in first
    assert "40 sentences of our own" in page_text(app)


def test_an_example_of_our_own_opens_on_the_page_attention(open_examples, store_examples):
    numbered = {"number": 3, "query": 2, "query_token": "expected", "layer": 1}
    store_examples(ENCODER, OWN_NAME, numbered)
    (address,) = re.findall(
        r'<a href="\./\?([^"]+)" title="open in Attention">3</a>', examples(open_examples(layer="1"))
    )
    assert parse_qs(unescape(address)) == {
        "kind": ["Text"],
        "text": [own_texts()[3]],
        "checkpoint": [ENCODER],
        "layer": ["1"],
        "head": ["0"],
        "query": ["2 expected"],
    }
    store_examples(ENCODER, "texts", numbered)
    assert "<a " not in examples(open_examples(layer="1"))


def test_a_key_before_its_query_comes_first(open_examples, store_examples):
    store_examples(ENCODER, "texts", {"query": 3, "key": 1}, {"rank": 1, "query": 2, "key": 2})
    table = examples(open_examples())
    assert '<mark title="key">great</mark> <b title="query">not</b> film' in table
    assert '<b title="query and key"><mark>great</mark></b> film' in table


def test_no_word_is_cut_beside_an_ellipsis(open_examples, store_examples):
    store_examples(ENCODER, "texts", {"before": "…e record of ", "after": " films, do wi…"}, {"after": "wi…"})
    table = examples(open_examples())
    assert '<td dir="auto">… record of <b' in table
    assert "</mark> films, do …</td>" in table
    assert "wi…</td>" in table  # a single word stays


def test_a_digit_shows_query_and_key_on_its_picture(open_examples, store_examples):
    store_examples("mnist-pre-ln", "MNIST test digits", {"number": 8, "query": 2, "key": 0})
    (row,) = table_of(open_examples(kind="Digit"), "1 digits", "query", "key").itertuples()
    assert (row.number, row.query, row.key) == (7, "row 0, column 1", "the class token")


def test_a_head_without_examples_says_so(open_examples, store_examples):
    command = "`python -m model.atlas imdb-pre-ln --data FILE.csv --with examples`"
    assert command in page_text(open_examples())
    store_examples(ENCODER, "texts", {})
    assert "None of the examples" in page_text(open_examples(head="1"))


# Records


@pytest.fixture
def open_record(open_app: Open) -> Open:
    pattern = np.random.default_rng(0).dirichlet(np.ones(3), (2, 3, 3)).astype(np.float32)
    record = from_arrays(pattern, ("[CLS]", "film", "[SEP]"))
    session = {OPENED: FileSubject(file_name="a.npz", record=record, settings={}, picture=None)}
    return lambda **query: open_app("app_pages/heads/page.py", session=session, kind="Record", **query)


def test_a_record_shows_its_own_numbers(open_record):
    app = open_record()
    assert len(rows(app)) == 6
    assert "A record holds one input" in page_text(app)
    assert not [item for item in app.button if item.key == "heads_to_inside_a_head"]
    assert described(open_record(heads_scatter="true"), "6 heads by entropy")


def test_what_needs_the_encoder_says_so_of_a_record(open_record):
    assert [item.value for item in open_record(heads_part="Examples").info] == [NO_ENCODER]


# What a head is worth


def assert_shows_worth(app: AppTest, slopes: np.ndarray, falls: np.ndarray) -> None:
    """The last columns of the table are the importance, and twice the falls: the stored means are zeros."""
    form = f".{effect_decimals(falls)}f"
    shown = [[cell["text"] for cell in row["numbers"][-3:]] for row in rows(app).values()]
    assert shown == [
        [COLUMNS["importance"].as_text(slope), *[fall_in_words(fall, form)] * 2]
        for slope, fall in zip(slopes, falls, strict=True)
    ]


def test_beside_where_a_head_looks_stands_what_it_is_worth(open_heads, store_heads):
    store_heads(ENCODER)
    app = open_heads(**ALL)
    assert columns(app)[-3:] == ["importance", "zero", "mean"]
    loaded = checkpoint.load(ENCODER)
    before = capture(loaded, TEXT)
    answers = ablate_heads(loaded, [TEXT], answer="logits")[0].reshape(4, -1)
    zeroed = -class_changes(before, answers, int(before.logits.argmax()))
    assert_shows_worth(app, importance(loaded, [TEXT])[0].ravel(), zeroed)


@pytest.mark.parametrize("kind", ["Text", "Digit"])
def test_a_column_by_choice_says_what_each_head_adds_to_the_answer(open_heads, kind):
    app = open_heads(kind=kind, **ADDS)
    loaded = checkpoint.load(ENCODER if kind == "Text" else "mnist-pre-ln")
    model_input = TEXT if kind == "Text" else shipped_inputs.test_digits()[0][0]
    parts = answer_parts(loaded, model_input)
    values = parts.frame[parts.frame["kind"] == "head"]["value"].tolist()
    assert min(values) < 0 < max(values)
    cells = [row["numbers"][0] for row in rows(app).values()]
    assert [cell["text"] for cell in cells] == [
        COLUMNS["adds"].as_text(value, signed=True) for value in values
    ]
    sizes = np.abs(values) / np.abs(values).max()
    assert [cell["bar"] for cell in cells] == pytest.approx(sizes, abs=1e-3)
    assert f"its part $z \\, W_O$ of the {parts.quantity}" in explained_columns(app)
    assert "Gold: the head helps the answer; purple: it works against it." in page_text(app)


def test_over_a_data_set_it_stands_with_its_spread(open_heads, store_heads, checkpoints):
    store_heads(ENCODER, importance=np.ones((2, 2)), zero=np.ones((2, 2)))
    rows_of_parts = [
        {"kind": kind, "layer": layer, "head": head, "mean": mean, "sd": 0.25, "mean_abs": 1.0, "n": 30}
        for kind, layer, head, mean in (
            *(("head", layer, head, layer - 2.0 * head) for layer in (1, 0) for head in (1, 0)),
            *(("feed-forward", layer, None, 9.0) for layer in (0, 1)),
        )
    ]

    def store_parts(data: str) -> None:
        table = ResultTable(source=replace(source(ENCODER, data), n=30), rows=pd.DataFrame(rows_of_parts))
        write_results(checkpoints / ENCODER / PARTS, table)

    store_parts("sentences of our own")
    app = open_heads(**OVER_DATA, **ADDS)
    texts = {name: row["numbers"][0]["text"] for name, row in rows(app).items()}
    assert texts == {
        "L0 H0": "0.0 ± 0.25",
        "L0 H1": "−2.0 ± 0.25",
        "L1 H0": "+1.0 ± 0.25",
        "L1 H1": "−1.0 ± 0.25",
    }
    assert "next, adds to the answer on 30" in page_text(app)
    store_parts("other sentences")
    assert columns(open_heads(**OVER_DATA, **ADDS)) == []


def test_each_column_says_what_it_is_in_words_and_then_as_a_formula(open_heads):
    app = open_heads(**ALL)
    helps = {cell["name"]: cell["help"] for cell in component(app, "heads_table")["headings"]}
    assert helps["distance"] == "How many tokens away the keys are, on average. Click to sort."
    assert all(helps.values())
    assert not any(sign in explained for explained in helps.values() for sign in ("$", "\\", "{"))
    lines = dict(zip(columns(app), explained_columns(app).splitlines(), strict=True))
    for name, line in lines.items():
        words = helps[name].removesuffix(". Click to sort.")
        assert line.lower().startswith(f"- **{COLUMNS[name].title}**: {words.lower()}. :gray[")
    assert "the cross-entropy with the predicted class" in lines["importance"]
    assert "log-odds of" in lines["zero"]
    (unit,) = (cell["small"] for cell in component(app, "heads_table")["headings"] if cell["name"] == "zero")
    assert unit == "the answer, nats"


def test_the_answer_may_be_a_masked_word(open_heads, store_heads):
    store_heads(ENCODER, importance=np.ones((2, 2)), zero=np.ones((2, 2)))
    text = "not [MASK] film"
    app = open_heads(
        text=text,
        answer_of="masked word",
        answer_word="great",
        heads_columns=["importance", "zeroed", "mean-ablated"],
    )
    loaded = cache.loaded(ENCODER)
    word = masked_word(loaded, text, "great")
    before = probabilities(loaded, [text], answer=word)[0, 0, 0]
    falls = before - ablate_heads(loaded, [text], answer=word)[0, ..., 0].ravel()
    assert_shows_worth(app, importance(loaded, [text], answer=word)[0].ravel(), falls)
    assert "fall of log P(“great” at [MASK]), nats, with zeros" in page_text(app)
    assert "here −log P(“great” at [MASK]), in nats" in page_text(app)
    assert "is measured on this input alone, not over the data set" in page_text(app)


def test_an_encoder_without_classes_has_another_loss(open_heads, checkpoints):
    made = tiny.loaded(replace(tiny.TEXT, class_names=()))
    checkpoint.save(checkpoints / "states", made.model, {}, made.tokenizer)
    listed = explained_columns(open_heads(checkpoint="states"))
    assert "$\\ln |p|$ of the pooled state" in listed
    assert "cross-entropy" not in listed


def test_over_the_data_set_too_and_on_how_many_examples(open_heads, store_heads):
    worth = {name: np.full((2, 2), value) for name, value in (("importance", 0.5), ("zero", 2.0))}
    store_heads(ENCODER, **worth)
    app = open_heads(**OVER_DATA)
    assert columns(app)[-2:] == ["importance", "zero"]
    assert [cell["text"] for cell in rows(app)["L0 H0"]["numbers"][-2:]] == ["0.50 ± 0.050", "2.0 ± 0.050"]
    assert "Some numbers were measured on fewer examples: next on 30." in page_text(app)
    assert "fewer examples" not in page_text(open_heads())


@pytest.mark.parametrize(
    ("unknown", "expected"), [(None, ""), (0.0, ""), (0.123, "12.3 %"), (1e-5, "under 0.1 %")]
)
def test_unknown_tokens_of_the_data_set_are_said(open_heads, store_heads, unknown, expected):
    store_heads(ENCODER, unknown=unknown)
    sentence = f"Of the tokens of 40 sentences of our own, {expected} are unknown to this encoder."
    text = page_text(open_heads())
    assert (sentence in text) == ("are unknown to" in text) == bool(expected)


def test_where_it_takes_long_a_button_measures_it(open_heads, monkeypatch):
    monkeypatch.setattr(estimated_work, "AT_ONCE", 0)
    app = open_heads()
    assert "zero" not in columns(app)
    app.button(key="heads_effects").click().run()
    assert columns(app)[-2:] == ["importance", "zero"]
    app.run()
    assert columns(app)[-2:] == ["importance", "zero"]
