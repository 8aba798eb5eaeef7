import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.inside_a_head import why_this_weight
from app_pages.inside_a_head.why_this_weight import MOST_PARTS
from model.capture import activations
from model.decompositions.score_parts import score_parts
from tests.app_pages.charts import table
from tests.app_pages.shown_subject import subject_of
from tests.model.huggingface.folders import SENTENCE, build

PART = {"inside_why": "true"}
TEXT = {"text": "not great film", "checkpoint": "imdb-pre-ln"}
AT = {"layer": "1", "head": "1", "query": "3 film", "inside_key": "1 not"}


def shown_text(app: AppTest, start: str) -> str:
    (text,) = (part.value for part in (*app.markdown, *app.caption) if part.value.startswith(start))
    return text


def on_screen(app: AppTest) -> pd.DataFrame:
    """The products as a matrix, in the order of rows and columns in which they are drawn."""
    rows = table(app, "The score of", "product")
    names = [rows[side].unique() for side in ("query part", "key part")]
    return rows.pivot(index="query part", columns="key part", values="product").loc[names[0], names[1]]


def expected(app: AppTest, layer: int, head: int, query: int, key: int) -> np.ndarray:
    """The matrix of all products, summed by numpy over all but the parts with the largest sums."""
    subject = subject_of(app)
    whole = score_parts(subject.loaded, subject.model_input, layer, head, query, key, by_token=True).frame
    products = whole.to_numpy()
    for _side in ("query", "key"):
        order = np.argsort(-np.abs(products.sum(axis=1)), kind="stable")
        products = np.vstack([products[order[:MOST_PARTS]], products[order[MOST_PARTS:]].sum(axis=0)]).T
    return products


def test_nothing_is_computed_until_it_is_opened(opened, open_app, monkeypatch):
    computed: list[Any] = []

    @wraps(score_parts)  # the cache asks for its name
    def counted(*arguments: Any, **options: Any) -> Any:
        computed.append(arguments)
        return score_parts(*arguments, **options)

    monkeypatch.setattr(why_this_weight, "score_parts", counted)
    app = open_app("app_pages/inside_a_head/page.py", **TEXT, **AT)
    assert not app.exception
    assert not computed
    assert "Why this weight?" in [part.label for part in app.expander]
    opened(**TEXT, **AT)
    assert len(computed) == 1


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("checkpoint", ["imdb-pre-ln", "imdb-post-ln"])
def test_the_numbers_are_those_of_the_library_and_follow_head_query_and_key(opened, checkpoint):
    app = opened(**TEXT | {"checkpoint": checkpoint}, **AT)
    np.testing.assert_allclose(on_screen(app), expected(app, 1, 1, 3, 1), atol=1e-6)
    score = subject_of(app).record.scores[1, 1, 3, 1]
    sentence = f"the **score {score:.4g}**, above in the column “÷ √4”".replace("-", "−")
    assert sentence in shown_text(app, "In L1 H1, `3 film` attends to `1 not` with weight ")
    app.selectbox(key="head").set_value(0)
    app.selectbox(key="query").set_value(2)
    app.selectbox(key="inside_key").set_value(4).run()
    np.testing.assert_allclose(on_screen(app), expected(app, 1, 0, 2, 4), atol=1e-6)
    assert shown_text(app, "In L1 H0, `2 great` attends to `4 [SEP]` with weight ")


def test_sum_record_and_gap_are_printed_and_what_a_part_is_not(opened):
    app = opened(**TEXT, **AT)
    score = subject_of(app).record.scores[1, 1, 3, 1]
    total, recorded = re.search(
        r"All cells add up to (\S+); the encoder itself computed (\S+) \(the ",
        shown_text(app, "All cells"),
    ).groups()
    assert [float(text.replace("−", "-")) for text in (total, recorded)] == pytest.approx(
        [score] * 2, abs=1e-4
    )
    (help,) = (part.help for part in app.caption if part.value.startswith("All cells"))
    assert "Without a part it would not change by that part's cells alone" in help


def test_the_largest_product_is_put_into_words(opened):
    app = opened(**TEXT, **AT | {"layer": "0"})
    products = on_screen(app)
    assert set(products.index) == {"token", "position", "biases"}
    query, key = products.abs().stack().idxmax()
    sentence = f"Largest cell: {query} of `3 film` × {key} of `1 not`: "
    assert sentence in shown_text(app, "In L0 H1")


def test_a_click_opens_the_head_at_the_token_that_wrote_and_the_one_that_it_read(opened, monkeypatch):
    clicks: dict[str, Callable[[dict], None]] = {}
    taken: dict[str, Any] = {}
    monkeypatch.setattr(why_this_weight, "clickable", lambda *_, key, take, **__: clicks.update({key: take}))
    monkeypatch.setattr(why_this_weight, "take_head", lambda *head: taken.update(head=head))
    monkeypatch.setattr(why_this_weight, "take_query", lambda query: taken.update(query=query))
    monkeypatch.setattr(why_this_weight.KEY, "take", lambda key: taken.update(key=key))
    app = opened(**TEXT, **AT)
    subject = subject_of(app)
    parts = score_parts(subject.loaded, subject.model_input, 1, 1, 3, 1, by_token=True)
    products = parts.strongest(MOST_PARTS)
    of_query, of_key = (
        next(name for name in names if " H" in name) for names in (products.index, products.columns)
    )
    for query_part, key_part, wrote, name in (
        (of_query, of_key, 3, of_query),
        ("all parts", of_key, 1, of_key),
        ("token", "biases", None, None),
    ):
        taken.clear()
        clicks["inside_score"]({"query_part": query_part, "key_part": key_part})
        if name is None:
            assert not taken
        else:
            layer, head, read = map(int, re.match(r"L(\d+) H(\d+) from (\d+)", name).groups())
            assert taken == {"head": (layer, head), "query": wrote, "key": read}


@pytest.mark.slow
def test_the_head_from_which_this_one_was_opened_is_a_click_away(opened):
    app = opened(**TEXT, **AT)
    assert "inside_back_to" not in [button.key for button in app.button]
    app.session_state["why_before"] = [(0, 1, 2, 4)]
    assert app.run().button(key="inside_back_to").label == "← Back to L0 H1"
    app.button(key="inside_back_to").click().run()
    boxes = ("layer", "head", "query", "inside_key")
    assert tuple(app.selectbox(key=key).value for key in boxes) == (0, 1, 2, 4)
    assert "inside_back_to" not in [button.key for button in app.button]
    app.session_state["why_before"] = [(0, 1, 2, 40)]  # of a longer text
    assert "inside_back_to" not in [button.key for button in app.run().button]


def test_a_key_that_the_query_must_not_attend_to_has_no_reason(opened):
    app = opened(text="film [PAD] not", checkpoint="imdb-pre-ln", query="1 film", inside_key="2 [PAD]")
    assert (
        shown_text(app, "`1 film` must not")
        == "`1 film` must not attend to `2 [PAD]`: its weight is 0, whatever the score."
    )
    assert not [part for part in app.caption if part.value.startswith("All cells")]


def test_of_a_digit_the_parts_were_read_from_patches(opened):
    app = opened(
        kind="Digit", checkpoint="mnist-post-ln", layer="1", head="0", query="r1c0", inside_key="r0c1"
    )
    record = subject_of(app).record
    positions = [record.labels.index(name) for name in ("r1c0", "r0c1")]
    np.testing.assert_allclose(on_screen(app), expected(app, 1, 0, *positions), atol=1e-6)
    assert shown_text(app, "In L1 H0, `r1c0` attends to `r0c1` with weight ")
    assert "r1c0 is the patch in row 1 and column 0, counted from 0." in shown_text(app, "All cells")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", ["T5EncoderModel", "DebertaV2Model", "DINOv3ViTModel", "BeitModel"])
def test_what_positions_add_is_said_in_words(opened, checkpoints, architecture):
    build(checkpoints / "own", architecture)
    is_text = architecture in ("T5EncoderModel", "DebertaV2Model")
    query, key = ("4 not", "3 is") if is_text else ("r1c0", "r0c1")
    address = {"kind": "Text", "text": SENTENCE} if is_text else {"kind": "Picture"}
    app = opened(**address, checkpoint="own", layer="1", head="1", query=query, inside_key=key)
    subject = subject_of(app)
    labels = list(subject.record.labels)
    i, j = labels.index(query), labels.index(key)
    np.testing.assert_allclose(on_screen(app), expected(app, 1, 1, i, j), atol=1e-6)
    names = {
        "T5EncoderModel": {"scores.added": "from the bias by distance"},
        "BeitModel": {"scores.added": "from the bias by distance"},
        "DebertaV2Model": {
            "content_to_position": "from the query's content",
            "position_to_content": "from the query's relative position",
        },
    }.get(architecture, {})
    added = [text.value for text in app.markdown if text.value.startswith("In it:")]
    assert len(added) == bool(names)
    for name, words in names.items():
        (term,) = activations(subject.loaded, [subject.model_input], [f"blocks.1.attention.{name}"]).values()
        assert f"{float(term[0, 1, i, j]):+.3g} {words}".replace("-", "−") in added[0]
