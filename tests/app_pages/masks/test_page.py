from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls import input_controls
from app_pages.controls.input_controls import CHECKPOINT, DIGIT, KIND
from app_pages.controls.map_controls import HEAD, LAYER
from app_pages.controls.masks_controls import (
    BLOCKED_CELLS,
    BLOCKED_KEYS,
    KINDS,
    LOST_BY,
    MASK,
    NUMBER,
    PADDING,
    PART,
)
from app_pages.controls.pages import MASKS
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.capture.intervention import MaskChoice, masked, without_keys
from model.measures.changes import class_changes
from model.measures.head_measures import entropy
from model.record import ForwardRecord
from tests.app_pages.charts import shown, table, weights
from tests.app_pages.shown_subject import subject_of
from tests.app_pages.shown_text import HEADLINE, blocks, headline, html
from tests.first_run import container_keys
from tests.model import tiny
from viz.builders.number_format import format_number

Open = Callable[..., AppTest]

TEXT = "not great film"
PARTS = ("Step by step", "What follows", "Ways of masking")


@pytest.fixture
def open_masks(open_app: Open) -> Open:
    start = (input_controls.TEXT.to(TEXT), input_controls.CHECKPOINT.to("imdb-pre-ln"))
    return lambda *choices, **query: open_app(MASKS, *start, *choices, **query)


def without(*keys: int) -> ForwardRecord:
    """The record of the text without these keys."""
    return LiveSubject("imdb-pre-ln", TEXT, intervention=without_keys(*keys)).record


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("kind", "part"),
    [*((kind, PARTS[0]) for kind in KINDS), *product(("Block tokens", "Padding"), PARTS[1:])],
)
@pytest.mark.parametrize(
    "what",
    [{"query": "2 great"}, {"query": "r0c1", "kind": "Digit", "checkpoint": "mnist-post-ln"}],
    ids=["text", "digit"],
)
def test_every_kind_and_every_part(open_masks, what, kind, part):
    blocked = {"Block tokens": {"masks_keys": "1.3"}, "Block pairs": {"masks_cells": "0-1.2-2"}}
    label = kind.replace("tokens", "patches") if "kind" in what else kind
    app = open_masks(masks_kind=label, masks_part=part, **blocked.get(kind, {}), **what)
    assert not app.exception
    assert app.selectbox(key="masks_kind").value == kind


def test_blocked_keys_come_from_the_address_and_the_answer_changes(open_masks):
    app = open_masks(BLOCKED_KEYS.to("1.3"))
    assert app.multiselect(key="masks_positions").value == [1, 3]
    after = without(1, 3)
    label = after.class_names[after.probabilities.argmax()]
    (bars,) = (block for block in blocks(app) if block.startswith('<div class="two-answers'))
    assert label in bars
    before = without()
    name = before.class_names[before.probabilities.argmax()]
    assert (f"<span>{name} after</span>" in bars) == (name != label)
    assert "Without “not” and “film”" in headline(app)
    assert label in headline(app)


def test_the_box_blocks_and_frees(open_masks):
    app = open_masks()
    assert "Nothing is masked" in headline(app)
    app.multiselect(key="masks_positions").set_value([1]).run()
    assert app.query_params["masks_keys"] in ("1", ["1"])
    assert "Without “not”" in headline(app)
    app.button(key="masks_free").click().run()
    assert "masks_keys" not in app.query_params
    assert "Nothing is masked" in headline(app)


def test_an_app_that_was_opened_without_a_choice_hides_what_the_answer_hangs_on(open_app):
    app = open_app("app_pages/masks/page.py")
    assert "For example: without “" in headline(app)
    subject = subject_of(app)
    record = subject.record
    (blocked,) = app.multiselect(key="masks_positions").value
    change = weights(shown(app, "masks_map_change"))
    query = app.selectbox(key="query").value
    assert np.abs(change[query]).sum() == pytest.approx(np.abs(change).sum(axis=-1).max())
    assert np.abs(change[query]).sum() / 2 > 0.2
    label = record.predicted_class
    after = {
        key: subject.under(without_keys(key)).record.probabilities[label]
        for key in record.positions_with_role("word", "continuation", "unknown")
    }
    assert after[blocked] == pytest.approx(min(after.values()), abs=1e-6)
    app.button(key="masks_free").click().run()
    assert "Nothing is masked" in headline(app)


def test_a_link_hides_nothing_that_it_does_not_name(open_masks):
    assert "Nothing is masked" in headline(open_masks())


@pytest.mark.parametrize("is_of_link", [False, True])
def test_of_a_digit_too_one_patch_is_hidden_as_an_example_once(open_app, open_masks, is_of_link):
    if is_of_link:
        app = open_app(MASKS, KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"))
        assert np.abs(weights(shown(app, "masks_map_change"))).sum() > 0
    else:
        app = open_masks()
        app.segmented_control(key="kind").set_value("Digit").run()
    assert "For example: without the patch in row " in headline(app)
    (hidden,) = app.multiselect(key="masks_positions").value
    subject = subject_of(app)
    assert isinstance(subject, LiveSubject)
    label = subject.record.predicted_class
    after = {
        patch: subject.under(without_keys(patch)).record.probabilities[label]
        for patch in subject.record.positions_with_role("patch")
    }
    assert after[hidden] == pytest.approx(min(after.values()), abs=1e-6)
    assert "Click a patch to hide it, and again to show it." in [caption.value for caption in app.caption]
    app.button(key="masks_free").click().run()
    app.number_input(key="digit").set_value(1).run()
    assert "Nothing is masked" in headline(app)


def test_a_word_that_is_hidden_as_an_example_leaves_the_chosen_query(open_app):
    app = open_app("app_pages/attention/page.py")
    query = app.selectbox(key="query").value
    app.switch_page("app_pages/masks/page.py").run()
    assert "For example: without “" in headline(app)
    assert app.selectbox(key="query").value == query


def test_a_causal_mask_is_looked_at_from_the_middle(open_masks):
    app = open_masks()
    app.selectbox(key="masks_kind").set_value("Causal").run()
    assert app.selectbox(key="query").value == 2  # of five


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("what", "message"), [({}, "text"), ({"kind": "Digit", "checkpoint": "mnist-pre-ln"}, "digit")]
)
def test_an_answer_that_is_of_no_input_is_said_to_be_so(open_masks, what, message):
    app = open_masks(MASK.to("Causal"), **what)
    assert f"the answer no longer depends on the {message}" in headline(app)
    assert f"for every {message}." in headline(app)
    in_one_layer = open_masks(MASK.to("Causal"), masks_layers="L0", **what)
    assert "the prediction" in headline(in_one_layer)


def test_the_box_of_cells_is_of_the_chosen_query(open_masks):
    app = open_masks(MASK.to("Block pairs"), BLOCKED_CELLS.to("0-1.2-2.2-4"), query="2 great")
    assert app.multiselect(key="masks_positions").value == [2, 4]
    app.multiselect(key="masks_positions").set_value([4]).run()
    assert app.query_params["masks_cells"] in ("0-1.2-4", ["0-1.2-4"])


def test_in_another_text_nothing_is_blocked(open_masks):
    app = open_masks(BLOCKED_KEYS.to("1"))
    app.text_area(key="text").set_value("great film").run()
    assert "Nothing is masked" in headline(app)
    assert "masks_keys" not in app.query_params


def test_the_same_patches_stay_blocked_in_another_digit(open_masks):
    app = open_masks(KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"), BLOCKED_KEYS.to("2"), DIGIT.to(1))
    assert "Without the patch in row 0, column 1" in headline(app)
    app.number_input(key="digit").set_value(5).run()
    assert "Without the patch in row 0, column 1" in headline(app)


def test_a_mask_in_chosen_heads_alone(open_masks):
    app = open_masks(MASK.to("Causal"), masks_layers="L1", masks_heads="H0")
    assert "in layer 1 and head 0" in headline(app)
    app = open_masks(MASK.to("Causal"), LAYER.to(0), masks_layers="L1", masks_heads="H0")
    assert not shown(app, "masks_map_pattern")["layout"].get("images")


def test_padding_of_a_text_stands_beside_what_happens_without_its_mask(open_masks):
    app = open_masks(MASK.to("Padding"), PADDING.to(4))
    assert [metric.label for metric in app.metric] == [
        "Without padding",
        "Padding, masked",
        "Padding, not masked",
    ]
    assert app.metric[0].value == app.metric[1].value
    (message,) = (c.value for c in app.caption if c.value.startswith("Change of the log-odds of"))
    padding = MaskChoice(kind="padding", n_padding=4)
    plain = without()
    ignored = LiveSubject("imdb-pre-ln", TEXT, intervention=masked(padding, "ignored")).record.logits
    (change,) = class_changes(plain, ignored[None], plain.predicted_class)
    assert message.endswith(f"masked, {format_number(change, '+.2g')} where it is not.")
    assert len(shown(app, "masks_map_pattern")["data"][0]["x"]) == 9


def test_a_text_that_fills_the_encoder_leaves_no_room_for_padding(open_masks):
    app = open_masks(input_controls.TEXT.to("great " * 20), MASK.to("Padding"))
    assert "Nothing is masked" in headline(app)
    assert app.info[0].value == "No room for padding: the encoder reads 12 tokens, and this text has 12."


def test_a_digit_has_no_padding_and_the_page_says_so(open_masks):
    app = open_masks(KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"), MASK.to("Padding"), PADDING.to(2))
    assert any("Digits have no padding" in caption.value for caption in app.caption)
    assert "the last 2 patches" in headline(app)


def test_the_maps_are_of_the_chosen_head(open_masks):
    app = open_masks(BLOCKED_KEYS.to("1"), LAYER.to(1), HEAD.to(1))
    after = without(1)
    np.testing.assert_allclose(weights(shown(app, "masks_map_scores")), after.scores[1, 1], rtol=1e-5)
    assert shown(app, "masks_map_scores")["layout"]["images"]
    assert not shown(app, "masks_map_change")["layout"].get("images")
    change = after.pattern[1, 1] - without().pattern[1, 1]
    np.testing.assert_allclose(weights(shown(app, "masks_map_change")), change, atol=1e-6)


def test_a_long_text_is_shown_in_parts(open_masks, monkeypatch):
    monkeypatch.setattr("app_pages.masks.page.LEGIBLE", 3)
    app = open_masks()
    assert app.slider(key="masks_shown").value == (0, 2)
    app.slider(key="masks_shown").set_value((1, 3)).run()
    for name in ("scores", "pattern", "change"):
        assert shown(app, f"masks_map_{name}")["layout"]["xaxis"]["range"] == [0.5, 3.5]


def test_the_ways_of_masking_in_numbers(open_masks):
    app = open_masks(BLOCKED_KEYS.to("1"), PART.to("Ways of masking"), NUMBER.to("−10"))
    ways, row = (table.value for table in app.table)
    sums = ways["rows add up to"]
    assert sums.iloc[:4].tolist() == ["1"] * 4
    assert " to " in sums.iloc[4]
    leaked = ways["largest weight on a masked cell"]
    assert leaked.iloc[[0, 1, 4]].tolist() == ["0"] * 3
    assert all(float(weight.partition(" ")[0]) > 0 for weight in leaked.iloc[[2, 3]])
    assert row["weights of the row"].tolist()[:3] == ["0", "NaN", "0.2"]
    assert row["prediction"].iloc[1] == "none: every probability is NaN"


def test_the_class_token_and_what_it_lost(open_masks):
    app = open_masks(BLOCKED_KEYS.to("1"), PART.to("What follows"))
    (message,) = (block for block in blocks(app) if "cannot look any more where" in block)
    assert "“not”" in message
    before = without().pattern[0, 0, 0, 1]
    assert f"{100 * before:.1f}\u2009%" in message


def test_what_follows_in_the_heads_is_with_the_mask_minus_without(open_masks):
    app = open_masks(
        BLOCKED_KEYS.to("1"), PART.to("What follows"), LAYER.to(1), LOST_BY.to("mean of the layer")
    )
    before = without()
    after = without(1)
    entropies = table(app, "Change of the entropy", "layer", "head").set_index(["layer", "head"])
    for side, record in (("before", before), ("after", after)):
        expected = entropy(record.pattern, record.mask).mean(axis=-1)
        for head in np.ndindex(expected.shape):
            assert entropies.at[head, side] == pytest.approx(expected[head], abs=1e-6)
    shift = table(app, "Attention weight before", "key", "before", "after").set_index("key")
    assert shift.at["1 not", "before"] == pytest.approx(before.pattern[1, :, 0, 1].mean(), abs=1e-6)
    assert shift.at["1 not", "after"] == 0
    assert shift.at["2 great", "after"] == pytest.approx(after.pattern[1, :, 0, 2].mean(), abs=1e-6)


def test_without_a_mask_nothing_follows_and_no_zeros_are_drawn(open_masks):
    headings = {"masks_entropy_heading", "masks_shift_heading"}
    app = open_masks(PART.to("What follows"), MASK.to("Causal"))
    assert headings <= set(container_keys(app.main))
    app.selectbox(key=MASK.key).select("None").run()
    assert "as soon as a mask hides something" in html(app)
    assert not headings & set(container_keys(app.main))


def test_a_key_that_some_heads_of_the_layer_mask_is_not_said_to_be_free(open_masks):
    query = {"masks_keys": "1", "masks_heads": "H0", "masks_part": "What follows"}
    app = open_masks(LOST_BY.to("mean of the layer"), **query)
    (message,) = (block for block in blocks(app) if "for the class token" in block)
    assert "No key is masked here for the class token in every head" in message
    assert "masks in some heads" in message


def test_tokens_are_never_markup(open_masks):
    app = open_masks(input_controls.TEXT.to("<b>"), BLOCKED_KEYS.to("1.2.3"))
    assert "<b>" not in headline(app)


def test_heads_that_the_next_encoder_lacks_become_its_last(open_masks, checkpoints):
    small = tiny.loaded(replace(tiny.TEXT, n_heads=1, n_layers=1))
    checkpoint.save(checkpoints / "small", small.model, {}, small.tokenizer)
    app = open_masks(MASK.to("Causal"), masks_heads="H1", masks_layers="L1")
    app.selectbox(key="checkpoint").select("small").run()
    assert not app.exception
    assert app.multiselect(key="masks_heads").value == [0]
    assert app.multiselect(key="masks_layers").value == [0]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", ["Block tokens", "Block pairs", "None"])
def test_a_mask_of_nothing_says_what_there_is_to_do(open_masks, kind):
    app = open_masks(PART.to("Ways of masking"), masks_kind=kind)
    assert any("Choose a mask under “View”" in info.value for info in app.info)
    assert not any("add up to less than 1" in text.value for text in app.markdown)  # which they do not here
    assert len(app.table) == 1  # the query that may attend to nothing; five equal rows would tell nothing


def test_the_class_token_s_weight_stands_beside_the_digit(open_masks):
    app = open_masks(KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"), BLOCKED_KEYS.to("3"), query="r0c1")
    after = subject_of(app).under(without_keys(3)).record
    weight = after.pattern[0, 0, app.selectbox(key="query").value, 0]
    assert any(f"not part of the picture: {weight:.3f}" in caption.value for caption in app.caption)
    patches = table(app, "The picture over the attention", "position", "blocked")
    assert patches[patches["blocked"]]["position"].tolist() == [2]  # the class token is no patch


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    ("config", "query"),
    [
        (tiny.DIGIT, {"kind": "Digit", "masks_keys": "1"}),
        (tiny.TEXT, {"masks_kind": "Padding", "masks_padding": "2"}),
    ],
)
def test_without_classes_the_pooled_state_stands_for_the_answer(open_masks, checkpoints, config, query, part):
    loaded = tiny.loaded(replace(config, class_names=()))
    checkpoint.save(checkpoints / "headless", loaded.model, {}, loaded.tokenizer)
    app = open_masks(CHECKPOINT.to("headless"), masks_part=part, **query)
    assert not app.exception
    assert not app.metric
    if part != "Ways of masking":
        is_padded = "masks_padding" in query  # which the mask hides
        expected = "stays as it is" if is_padded else "changes by a cosine distance of"
        assert f"the pooled state {expected}" in headline(app)
        assert not is_padded or any(
            caption.value.startswith("Pooled state \\(cosine distance\\), from the text")
            for caption in app.caption
        )
    else:
        ways, row = (table.value for table in app.table)
        assert row["cosine distance of the pooled state"].iloc[1] == "NaN"
        assert "prediction" not in ways


def test_ways_of_masking_begin_with_their_results_and_have_their_own_controls(open_masks):
    app = open_masks(BLOCKED_KEYS.to("1"), PART.to("Ways of masking"), masks_layers="L0")
    written = "\n".join(block.value for block in app.markdown)
    results = written.index("Without “not” in layer 0: the same mask, applied in five ways")
    assert results < written.index("**A causal mask on the first 4")
    assert app.segmented_control(key="masks_number").value == "−1e9"
    assert HEADLINE not in html(app)
    assert "word_stroke" not in {block.proto.component_name for block in app.get("bidi_component")}


def test_what_hears_clicks_on_the_board_stands_before_it(open_masks):
    keys = [*container_keys(open_masks(masks_kind="Block pairs").main)]
    assert keys.index("gesture_masks_board_toggles") < keys.index("masks_board")
