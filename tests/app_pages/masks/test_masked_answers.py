"""What a mask does to log P of a word in place of [MASK], compared with a log-softmax of its own."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.input_controls import CHECKPOINT, TEXT
from app_pages.controls.map_controls import HEAD, LAYER
from app_pages.controls.masks_controls import BLOCKED_CELLS, BLOCKED_KEYS, MASK, PADDING, PART, WAYS
from app_pages.controls.pages import MASKS
from app_pages.subject import cache
from model.capture.intervention import MaskChoice, masked
from model.experiments.masked_word import masked_word
from tests.app_pages.shown_text import headline
from tests.model.experiments.test_masked_word import log_p
from tests.model.huggingface.folders import build
from viz.builders.number_format import format_number

Open = Callable[..., AppTest]
ENCODER, MASKED_TEXT, WORD = "imdb-pre-ln", "not [MASK] film", "great"


@pytest.fixture
def open_masks(open_app: Open) -> Open:
    start = (TEXT.to(MASKED_TEXT), CHECKPOINT.to(ENCODER))
    of_word = {"answer_of": "masked word", "answer_word": WORD}
    return lambda *choices, **query: open_app(MASKS, *start, *choices, **of_word | query)


def log_probability(*masks) -> float:
    loaded = cache.loaded(ENCODER)
    return log_p(
        loaded, MASKED_TEXT, masked_word(loaded, MASKED_TEXT, WORD), masked(*masks) if masks else None
    )


def number(value: float) -> str:
    return format_number(value, "+.3f")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("choices", "mask", "clause"),
    [
        ((BLOCKED_KEYS.to("1"),), MaskChoice(kind="keys", keys=(1,)), "Without “not”"),
        (
            (MASK.to("Block pairs"), BLOCKED_CELLS.to("2-3")),
            MaskChoice(kind="cells", cells=((2, 3),)),
            "Where “[MASK]” does not see “film”",
        ),
        ((MASK.to("Causal"),), MaskChoice(kind="causal"), "With a causal mask"),
    ],
)
def test_the_mask_changes_log_p_of_the_chosen_word(open_masks, choices, mask, clause):
    message = headline(open_masks(*choices))
    old, new = log_probability(), log_probability(mask)
    direction = "falls" if new < old else "rises"
    numbers = f"from {number(old)} to {number(new)} nats, {number(new - old)} nats"
    assert f"{clause}, log P(“great” at [MASK]) {direction}: {numbers}" in message


def test_without_a_mask_it_is_one_number(open_masks):
    message = headline(open_masks(MASK.to("None")))
    assert f"Nothing is masked: log P(“great” at [MASK]) is {number(log_probability())} nats" in message


def test_padding_that_is_masked_leaves_it_and_padding_that_is_not_does_not(open_masks):
    app = open_masks(MASK.to("Padding"), PADDING.to(4))
    padding = MaskChoice(kind="padding", n_padding=4)
    old, ignored = log_probability(), log_probability(padding, "ignored")
    assert f"stays as it is: {number(old)} nats" in headline(app)
    (message,) = (c.value for c in app.caption if c.value.startswith("Change of log P\\(“great” at"))
    assert message.endswith(f"masked, {format_number(ignored - old, '+.2g')} where it is not.")


def test_every_way_of_masking_has_its_own_log_p(open_masks):
    app = open_masks(BLOCKED_KEYS.to("1"), LAYER.to(0), HEAD.to(0), PART.to(WAYS))
    assert not app.exception
    ways, row = (table.value for table in app.table)
    (column,) = (name for name in ways if name.startswith("log P\\("))
    choice = MaskChoice(kind="keys", keys=(1,))
    expected = [log_probability(choice, method) for method in ("encoder", "replaced", "zeroed")]
    shown = [float(value.replace("−", "-")) for value in ways[column].iloc[[0, 1, 4]]]
    np.testing.assert_allclose(shown, expected, rtol=2e-3)
    assert row[column].iloc[1] == "NaN"
    assert "prediction" not in ways


def test_the_class_is_the_answer_at_first_and_where_nothing_is_masked(open_app):
    blocked = (CHECKPOINT.to(ENCODER), BLOCKED_KEYS.to("1"))
    assert "the prediction" in headline(open_app(MASKS, *blocked, TEXT.to(MASKED_TEXT)))
    app = open_app(MASKS, *blocked, TEXT.to("not great film"))
    assert "the prediction" in headline(app)
    assert "answer_of" not in [group.key for group in app.get("button_group")]


def test_an_encoder_without_classes_begins_with_the_masked_word(open_app, checkpoints):
    build(checkpoints / "masked", "BertForMaskedLM")
    text = "the film is [MASK] bad ."
    app = open_app(MASKS, TEXT.to(text), CHECKPOINT.to("masked"), BLOCKED_KEYS.to("2"))
    loaded = cache.loaded("masked")
    word, mask = masked_word(loaded, text), masked(MaskChoice(kind="keys", keys=(2,)))
    old, new = (log_p(loaded, text, word, change) for change in (None, mask))
    assert f"from {number(old)} to {number(new)} nats" in headline(app)
