import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls import estimated_work, heads_controls, input_controls, map_controls
from app_pages.heads.columns import COLUMNS
from app_pages.heads.numbers import measuring_sentence
from app_pages.heads.table import FIRST_COLUMNS
from app_pages.inputs.row import NO_ENCODER
from app_pages.subject import cache, shipped_inputs
from app_pages.subject.subject import OPENED, FileSubject, LiveSubject
from model import checkpoint
from model.atlas.dataset_examples import OWN_NAME, own_texts
from model.atlas.results import HEADS, PARTS, ResultTable, write_results
from model.capture import capture
from model.decompositions.answer_parts import answer_parts
from model.experiments.ablation import ablate_heads, importance
from model.experiments.masked_word import masked_word
from model.experiments.probabilities import probabilities
from model.inputs import Picture, Text
from model.measures.changes import class_changes
from model.measures.head_statistics import statistics
from model.record.from_arrays import from_arrays
from tests.app_pages.charts import described
from tests.app_pages.charts import table as table_of
from tests.app_pages.heads.conftest import source
from tests.app_pages.linked import linked
from tests.model import tiny
from tests.model.measures.roles import roles_on_input
from viz.builders.number_format import fall_in_words
from viz.heads.part_grids import effect_decimals

Open = Callable[..., AppTest]
PAGE = "app_pages/heads/page.py"
TEXT = "not great film"
ALL = heads_controls.MEASURES.to([column.title for column in COLUMNS.values()])
DIGIT_STATISTICS = ["entropy", "confidence", "distance", "same", "first", "sink"]


def drawn(app: AppTest) -> dict:
    """What the browser is given to draw the table from."""
    assert not app.exception
    (made,) = (item.proto for item in app.get("bidi_component") if item.proto.component_name == "heads_table")
    return json.loads(made.json)


def rows(app: AppTest) -> dict[str, dict]:
    """By the name of the head: what it is, and its numbers."""
    return {
        name["text"]: {
            "key": tuple(row["key"]),
            "current": row["current"],
            "roles": roles["terms"],
            "numbers": numbers,
        }
        for row in drawn(app)["rows"]
        for name, roles, *numbers in [row["cells"]]
    }


def columns(app: AppTest) -> list[str]:
    return [cell["name"] for cell in drawn(app)["headings"]][2:]


def shown_text(app: AppTest) -> str:
    return " ".join(item.value for item in (*app.caption, *app.markdown, *app.info))


# Table


def test_each_head_is_a_row_of_its_numbers(open_app):
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), ALL)
    result = statistics(LiveSubject("imdb-pre-ln", Text(TEXT)).record)
    assert columns(app) == [*result, "adds", "importance", "zero"]
    assert list(rows(app)) == ["L0 H0", "L0 H1", "L1 H0", "L1 H1"]
    assert "Entropy 0: all on one key; 1: spread evenly." in shown_text(app)
    for row in rows(app).values():
        expected = [COLUMNS[name].as_text(item[row["key"]]) for name, item in result.items()]
        assert [cell["text"] for cell in row["numbers"]][: len(result)] == expected
    assert measuring_sentence("imdb-pre-ln") in shown_text(app)


def test_at_first_four_numbers_are_shown_and_the_others_by_choice(open_app):
    app = open_app(PAGE, input_controls.TEXT.to(TEXT))
    assert [COLUMNS[name].title for name in columns(app)] == [*FIRST_COLUMNS]
    app.multiselect(key="heads_columns").set_value(["sink", "entropy"]).run()
    assert columns(app) == ["entropy", "sink"]
    assert len(rows(app)["L0 H0"]["numbers"]) == 2
    app.segmented_control(key="kind").set_value("Digit").run()
    assert columns(app) == ["entropy", "sink"]


def test_a_column_that_is_not_shown_does_not_sort(open_app):
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), heads_controls.SORT.to("-sink"))
    assert list(rows(app)) == ["L0 H0", "L0 H1", "L1 H0", "L1 H1"]


def test_a_digit_has_the_numbers_that_patches_have(open_app):
    app = open_app(PAGE, input_controls.KIND.to("Digit"), input_controls.DIGIT.to("3"), ALL)
    result = statistics(LiveSubject("mnist-pre-ln", Picture.of(shipped_inputs.test_digits()[0][3])).record)
    assert list(result) == DIGIT_STATISTICS
    assert columns(app) == [*DIGIT_STATISTICS, "adds", "importance", "zero"]
    assert "`python -m model.atlas mnist-pre-ln` measures it" in shown_text(app)


def test_the_chosen_head_is_marked_and_named_and_opens_elsewhere(open_app):
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), map_controls.LAYER.to(1), map_controls.HEAD.to(1))
    assert [name for name, row in rows(app).items() if row["current"]] == ["L1 H1"]
    assert any(item.value.startswith("**L1 H1**") for item in app.markdown)
    app.button(key="heads_to_attention").click().run()
    assert not app.exception
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == (1, 1)
    assert linked(app).name == "L1 H1"


def test_a_link_restores_how_the_table_was_sorted(open_app):
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), heads_controls.SORT.to("-entropy"))
    entropy = statistics(LiveSubject("imdb-pre-ln", Text(TEXT)).record)["entropy"]
    order = [entropy[row["key"]] for row in rows(app).values()]
    assert order == sorted(order, reverse=True)
    assert [cell["sorted"] for cell in drawn(app)["headings"] if cell["name"] == "entropy"] == ["descending"]


def test_what_is_searched_is_left_and_all_come_back(open_app):
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), heads_controls.SEARCH.to("h1"))
    assert list(rows(app)) == ["L0 H1", "L1 H1"]
    assert "2 of 4 heads." in shown_text(app)
    app.button(key="heads_all").click().run()
    assert len(rows(app)) == 4
    app.text_input(key="heads_search").set_value("L9").run()
    assert "No head matches the search and the filter." in shown_text(app)
    app.button(key="heads_all").click().run()
    assert len(rows(app)) == 4


def test_layers_and_roles_narrow_down(open_app, store_heads):
    store_heads("imdb-pre-ln", next=np.array([[0.1, 0.7], [0.2, 0.3]]))
    link = {"text": TEXT, "heads_of": "data set"}
    assert list(rows(open_app(PAGE, **link, heads_role="next-token head"))) == ["L0 H1"]
    assert list(rows(open_app(PAGE, **link, heads_layers="1"))) == ["L1 H0", "L1 H1"]
    assert list(rows(open_app(PAGE, **link, heads_role="no role"))) == ["L0 H0", "L1 H0", "L1 H1"]


def test_over_a_data_set_each_number_has_its_spread(open_app, store_heads):
    store_heads("imdb-pre-ln", next=np.array([[0.1, 0.7], [0.2, 0.3]]))
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), ALL)
    result = statistics(LiveSubject("imdb-pre-ln", Text(TEXT)).record)
    cell = rows(app)["L0 H1"]["numbers"][columns(app).index("next")]
    assert cell["text"] == COLUMNS["next"].as_text(result["next"][0, 1])
    assert "±" not in str(drawn(app))
    app.segmented_control(key="heads_of").set_value("data set").run()
    cell = rows(app)["L0 H1"]["numbers"][columns(app).index("next")]
    assert (cell["text"], cell["bar"]) == ("0.70 ± 0.05", pytest.approx(0.7))
    assert "Mean ± standard deviation over 40 sentences of our own." in shown_text(app)
    assert [role["text"] for role in rows(app)["L0 H1"]["roles"]] == ["next-token head"]
    assert "40 sentences of our own" in shown_text(app)
    assert "`python -m model.atlas imdb-pre-ln --data FILE.csv --with importance,ablation`" in shown_text(app)
    assert columns(app) == [name for name in result if name != "confidence"]  # which was not stored


def test_figures_of_other_weights_are_not_shown(open_app, store_heads, checkpoints):
    store_heads("imdb-pre-ln")
    stored = (checkpoints / "imdb-pre-ln" / HEADS).read_bytes()
    (checkpoints / "imdb-post-ln" / HEADS).write_bytes(stored)
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), input_controls.CHECKPOINT.to("imdb-post-ln"))
    assert measuring_sentence("imdb-post-ln") in shown_text(app)
    assert not [control for control in app.segmented_control if control.key == "heads_of"]


def test_over_a_data_set_a_head_may_be_called_otherwise(open_app, store_heads):
    store_heads("imdb-pre-ln", same=np.full((2, 2), 0.9))
    text = "not great film x y z"
    app = open_app(PAGE, text=text)
    assert not app.exception
    result = roles_on_input(LiveSubject("imdb-pre-ln", Text(text)).record, 0, 0)
    here = ", ".join(role.name for role in result)
    (line,) = [item.value for item in app.markdown if item.value.startswith("**L0 H0**")]
    assert line == f"**L0 H0** · {here} here; over 40 sentences of our own: same-token head"


def test_of_a_short_text_no_head_has_a_role(open_app):
    """5 tokens with [CLS] and [SEP]: even weights would be "local" there."""
    app = open_app(PAGE, input_controls.TEXT.to(TEXT))
    (line,) = [item.value for item in app.markdown if item.value.startswith("**L0 H0**")]
    assert line == "**L0 H0** · :gray[too few tokens for a role]"
    assert not any(row["roles"] for row in rows(app).values())


# Scatter


def test_any_two_numbers_are_axes(open_app):
    app = open_app(
        PAGE,
        input_controls.TEXT.to(TEXT),
        heads_controls.SCATTER.to(True),
        heads_controls.ACROSS.to("confidence"),
        heads_controls.UP.to("next"),
        map_controls.HEAD.to(1),
    )
    points = table_of(app, "4 heads by confidence across and next up", "x", "y").set_index("name")
    result = statistics(LiveSubject("imdb-pre-ln", Text(TEXT)).record)
    for name, point in points.iterrows():
        head = int(point["layer"]), int(point["head"])
        assert (point["x"], point["y"]) == pytest.approx(
            (result["confidence"][head], result["next"][head])
        ), name
    assert points.index[points["selected"]].tolist() == ["L0 H1"]


def test_an_axis_that_digits_lack_gives_way(open_app):
    app = open_app(
        PAGE, input_controls.TEXT.to(TEXT), heads_controls.SCATTER.to(True), heads_controls.UP.to("next")
    )
    app.segmented_control(key="kind").set_value("Digit").run()
    assert described(app, "4 heads by entropy across and")


# Examples


def test_an_example_stands_in_its_context(open_app, store_examples):
    like = {"before": "a <b>", "query_token": "<i>", "weight": 0.875, "number": 1234}
    store_examples(
        "imdb-pre-ln", "sentences of our own", like, {"rank": 1}, {"head": 1, "query_token": "other"}
    )
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), heads_controls.PART.to("Examples"))
    (html,) = [item.proto.body for item in app.get("html") if 'class="liked"' in item.proto.body]
    assert html.count("<tr>") == 3
    assert "other" not in html
    first = html.split("<tr>")[2]
    assert "0.88" in first
    assert "1,234" in first
    assert 'a &lt;b&gt;<b title="query">&lt;i&gt;</b> <mark title="key">great</mark> film' in first
    assert "40 sentences of our own" in shown_text(app)


def test_an_example_of_our_own_opens_on_the_page_attention(open_app, store_examples):
    numbered = {"number": 3, "query": 2, "query_token": "expected", "layer": 1}
    store_examples("imdb-pre-ln", OWN_NAME, numbered)
    app = open_app(
        PAGE, input_controls.TEXT.to(TEXT), heads_controls.PART.to("Examples"), map_controls.LAYER.to(1)
    )
    (html,) = [item.proto.body for item in app.get("html") if 'class="liked"' in item.proto.body]
    (address,) = re.findall(r'<a href="\./\?([^"]+)" title="open in Attention">3</a>', html)
    assert parse_qs(unescape(address)) == {
        "kind": ["Text"],
        "text": [own_texts()[3]],
        "checkpoint": ["imdb-pre-ln"],
        "layer": ["1"],
        "head": ["0"],
        "query": ["2 expected"],
    }
    store_examples("imdb-pre-ln", "texts", numbered)
    app = open_app(
        PAGE, input_controls.TEXT.to(TEXT), heads_controls.PART.to("Examples"), map_controls.LAYER.to(1)
    )
    assert not any("<a " in item.proto.body for item in app.get("html") if "liked" in item.proto.body)


def test_a_key_before_its_query_comes_first(open_app, store_examples):
    store_examples("imdb-pre-ln", "texts", {"query": 3, "key": 1}, {"rank": 1, "query": 2, "key": 2})
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), heads_controls.PART.to("Examples"))
    (html,) = [item.proto.body for item in app.get("html") if 'class="liked"' in item.proto.body]
    assert '<mark title="key">great</mark> <b title="query">not</b> film' in html
    assert '<b title="query and key"><mark>great</mark></b> film' in html


def test_no_word_is_cut_beside_an_ellipsis(open_app, store_examples):
    store_examples(
        "imdb-pre-ln", "texts", {"before": "…e record of ", "after": " films, do wi…"}, {"after": "wi…"}
    )
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), heads_controls.PART.to("Examples"))
    (html,) = [item.proto.body for item in app.get("html") if 'class="liked"' in item.proto.body]
    assert '<td dir="auto">… record of <b' in html
    assert "</mark> films, do …</td>" in html
    assert "wi…</td>" in html  # a single word stays


def test_a_digit_shows_query_and_key_on_its_picture(open_app, store_examples):
    store_examples("mnist-pre-ln", "MNIST test digits", {"number": 8, "query": 2, "key": 0})
    app = open_app(PAGE, input_controls.KIND.to("Digit"), heads_controls.PART.to("Examples"))
    (row,) = table_of(app, "1 digits", "query", "key").itertuples()
    assert (row.number, row.query, row.key) == (7, "row 0, column 1", "the class token")


def test_without_examples_the_command_is_said(open_app):
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), heads_controls.PART.to("Examples"))
    assert "`python -m model.atlas imdb-pre-ln --data FILE.csv --with examples`" in shown_text(app)


def test_a_head_without_examples_says_so(open_app, store_examples):
    store_examples("imdb-pre-ln", "texts", {})
    assert "None of the examples" in shown_text(
        open_app(
            PAGE, input_controls.TEXT.to(TEXT), heads_controls.PART.to("Examples"), map_controls.HEAD.to(1)
        )
    )


# Records


def opened(open_app: Open, **query: str) -> AppTest:
    pattern = np.random.default_rng(0).dirichlet(np.ones(3), (2, 3, 3)).astype(np.float32)
    record = from_arrays(pattern, ("[CLS]", "film", "[SEP]"))
    made = FileSubject(file_name="a.npz", record=record, settings={}, picture=None)
    return open_app(PAGE, session={OPENED: made}, kind="Record", **query)


def test_a_record_shows_its_own_numbers(open_app):
    app = opened(open_app)
    assert len(rows(app)) == 6
    assert "A record holds one input" in shown_text(app)
    assert not [item for item in app.button if item.key == "heads_to_inside_a_head"]
    assert described(opened(open_app, heads_scatter="true"), "6 heads by entropy")


def test_what_needs_the_encoder_says_so_of_a_record(open_app):
    app = opened(open_app, heads_part="Examples")
    assert [item.value for item in app.info] == [NO_ENCODER]


# What a head is worth


def test_beside_where_a_head_looks_stands_what_it_is_worth(open_app, store_heads):
    store_heads("imdb-pre-ln")
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), ALL)
    assert columns(app)[-3:] == ["importance", "zero", "mean"]
    loaded = checkpoint.load("imdb-pre-ln")
    before = capture(loaded, TEXT)
    answers = ablate_heads(loaded, [TEXT], answer="logits")[0].reshape(4, -1)
    zeroed = -class_changes(before, answers, int(before.logits.argmax()))
    slopes = importance(loaded, [TEXT])[0].ravel()
    form = f".{effect_decimals(zeroed)}f"
    for row, fall, slope in zip(rows(app).values(), zeroed, slopes, strict=True):
        shown = [cell["text"] for cell in row["numbers"][-3:]]
        # the stored means are zeros: then both ablations are one
        expected = [COLUMNS["importance"].as_text(slope), *[fall_in_words(fall, form)] * 2]
        assert shown == expected


ADDS = heads_controls.MEASURES.to(["adds to the answer"])


@pytest.mark.parametrize("kind", ["Text", "Digit"])
def test_a_column_by_choice_says_what_each_head_adds_to_the_answer(open_app, kind):
    app = open_app(PAGE, input_controls.KIND.to(kind), input_controls.TEXT.to(TEXT), ADDS)
    loaded = checkpoint.load("imdb-pre-ln" if kind == "Text" else "mnist-pre-ln")
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
    (listed,) = (block.value for block in app.markdown if block.value.startswith("- **entropy**"))
    assert f"its part $z \\, W_O$ of the {parts.quantity}" in listed
    assert "Gold: the head helps the answer; purple: it works against it." in shown_text(app)


def test_over_a_data_set_it_stands_with_its_spread(open_app, store_heads, checkpoints):
    store_heads("imdb-pre-ln", importance=np.ones((2, 2)), zero=np.ones((2, 2)))
    rows_of_parts = [
        {"kind": kind, "layer": layer, "head": head, "mean": mean, "sd": 0.25, "mean_abs": 1.0, "n": 30}
        for kind, layer, head, mean in (
            *(("head", layer, head, layer - 2.0 * head) for layer in (1, 0) for head in (1, 0)),
            *(("feed-forward", layer, None, 9.0) for layer in (0, 1)),
        )
    ]

    def store_parts(data: str) -> None:
        table = ResultTable(
            source=replace(source("imdb-pre-ln", data), n=30), rows=pd.DataFrame(rows_of_parts)
        )
        write_results(checkpoints / "imdb-pre-ln" / PARTS, table)

    store_parts("sentences of our own")
    query = input_controls.TEXT.to(TEXT), heads_controls.NUMBERS_OF.to("data set"), ADDS
    app = open_app(PAGE, *query)
    texts = {name: row["numbers"][0]["text"] for name, row in rows(app).items()}
    assert texts == {
        "L0 H0": "0.0 ± 0.25",
        "L0 H1": "−2.0 ± 0.25",
        "L1 H0": "+1.0 ± 0.25",
        "L1 H1": "−1.0 ± 0.25",
    }
    assert "next, adds to the answer on 30" in shown_text(app)
    store_parts("other sentences")
    assert columns(open_app(PAGE, *query)) == []


def test_each_column_says_what_it_is_in_words_and_then_as_a_formula(open_app):
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), ALL)
    heads = {cell["name"]: cell["help"] for cell in drawn(app)["headings"]}
    assert heads["distance"] == "How many tokens away the keys are, on average. Click to sort."
    assert all(heads.values())
    assert not any(sign in explained for explained in heads.values() for sign in ("$", "\\", "{"))
    (listed,) = (item.value for item in app.markdown if item.value.startswith("- **entropy**"))
    lines = dict(zip(columns(app), listed.splitlines(), strict=True))
    for name, line in lines.items():
        words = heads[name].removesuffix(". Click to sort.")
        assert line.lower().startswith(f"- **{COLUMNS[name].title}**: {words.lower()}. :gray[")
    assert "the cross-entropy with the predicted class" in lines["importance"]
    assert "log-odds of" in lines["zero"]


def test_the_answer_may_be_a_masked_word(open_app, store_heads):
    store_heads("imdb-pre-ln", importance=np.ones((2, 2)), zero=np.ones((2, 2)))
    text = "not [MASK] film"
    query = {"text": text, "checkpoint": "imdb-pre-ln", "answer_of": "masked word", "answer_word": "great"}
    app = open_app(PAGE, **query, heads_columns=["importance", "zeroed", "mean-ablated"])
    assert not app.exception
    loaded = cache.loaded("imdb-pre-ln")
    word = masked_word(loaded, text, "great")
    before = probabilities(loaded, [text], answer=word)[0, 0, 0]
    falls = before - ablate_heads(loaded, [text], answer=word)[0, ..., 0].ravel()
    slopes = importance(loaded, [text], answer=word)[0].ravel()
    form = f".{effect_decimals(falls)}f"
    for row, fall, slope in zip(rows(app).values(), falls, slopes, strict=True):
        cells = row["numbers"]
        written = [cell["text"] for cell in cells[-3:]]
        # the stored means are zeros: then both ablations are one
        assert written == [
            COLUMNS["importance"].as_text(slope),
            *[fall_in_words(fall, form)] * 2,
        ]
    (listed,) = (block.value for block in app.markdown if block.value.startswith("- **entropy**"))
    assert "fall of log P\\(“great” at \\[MASK\\]\\), nats, with zeros" in listed
    assert "here −log P\\(“great” at \\[MASK\\]\\), in nats" in listed
    assert "is measured on this input alone, not over the data set" in shown_text(app)


def test_an_encoder_without_classes_has_another_loss(open_app, checkpoints):
    made = tiny.loaded(replace(tiny.TEXT, class_names=()))
    checkpoint.save(checkpoints / "states", made.model, {}, made.tokenizer)
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), input_controls.CHECKPOINT.to("states"))
    (listed,) = (item.value for item in app.markdown if item.value.startswith("- **entropy**"))
    assert "$\\ln |p|$ of the pooled state" in listed
    assert "cross-entropy" not in listed


def test_over_the_data_set_too_and_on_how_many_examples(open_app, store_heads):
    worth = {name: np.full((2, 2), value) for name, value in (("importance", 0.5), ("zero", 2.0))}
    store_heads("imdb-pre-ln", **worth)
    app = open_app(PAGE, input_controls.TEXT.to(TEXT), heads_controls.NUMBERS_OF.to("data set"))
    assert columns(app)[-2:] == ["importance", "zero"]
    assert [cell["text"] for cell in rows(app)["L0 H0"]["numbers"][-2:]] == [
        "0.50 ± 0.050",
        "2.0 ± 0.050",
    ]
    assert "Some numbers were measured on fewer examples: next on 30." in shown_text(app)
    assert "fewer examples" not in shown_text(open_app(PAGE, input_controls.TEXT.to(TEXT)))


@pytest.mark.parametrize(
    ("unknown", "expected"), [(None, ""), (0.0, ""), (0.123, "12.3\u2009%"), (1e-5, "under 0.1\u2009%")]
)
def test_unknown_tokens_of_the_data_set_are_said(open_app, store_heads, unknown, expected):
    store_heads("imdb-pre-ln", unknown=unknown)
    sentence = f"Of the tokens of 40 sentences of our own, {expected} are unknown to this encoder."
    app = open_app(PAGE, input_controls.TEXT.to(TEXT))
    assert (sentence in shown_text(app)) == bool(expected)
    assert ("unknown" in shown_text(app)) == bool(expected)


def test_where_it_takes_long_a_button_measures_it(open_app, monkeypatch):
    monkeypatch.setattr(estimated_work, "AT_ONCE", 0)
    app = open_app(PAGE, input_controls.TEXT.to(TEXT))
    assert "zero" not in columns(app)
    app.button(key="heads_effects").click().run()
    assert columns(app)[-2:] == ["importance", "zero"]
    app.run()
    assert columns(app)[-2:] == ["importance", "zero"]
