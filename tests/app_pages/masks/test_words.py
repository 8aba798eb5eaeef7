from dataclasses import replace

import numpy as np
import pytest

from app_pages.masks.words import explained, in_words, share
from model.capture import capture
from model.intervention import MaskChoice
from model.record import ForwardRecord
from tests.model import tiny

LOGITS = np.log(np.array([0.25, 0.75], np.float32))


@pytest.fixture(scope="module")
def text() -> ForwardRecord:
    record = capture(tiny.loaded(tiny.TEXT), "not great film")
    return replace(record, logits=LOGITS)


@pytest.fixture(scope="module")
def digit() -> ForwardRecord:
    return capture(tiny.loaded(tiny.DIGIT), np.zeros((8, 8), np.uint8))


@pytest.mark.parametrize(
    ("choice", "beginning"),
    [
        (MaskChoice(kind="keys", keys=(1,)), "Without “not”, the encoder"),
        (MaskChoice(kind="keys", keys=(1, 2, 3)), "Without “not”, “great” and “film”, the encoder"),
        (MaskChoice(kind="keys", keys=(0, 1, 2, 3)), "Without 4 of the 5 tokens, the encoder"),
        (MaskChoice(kind="keys", keys=(1,), layers=(0,)), "Without “not” in layer 0, the encoder"),
        (
            MaskChoice(kind="keys", keys=(1,), layers=(0, 1), heads=(1,)),
            "Without “not” in layers 0 and 1 and head 1,",
        ),
        (MaskChoice(kind="cells", cells=((0, 1),)), "Where “[CLS]” does not see “not”, the encoder"),
        (MaskChoice(kind="cells", cells=((0, 1), (2, 2))), "Without 2 of the 25 cells, the encoder"),
        (MaskChoice(kind="causal"), "With a causal mask, the encoder"),
        (MaskChoice(kind="window", radius=1), "With a window of 1 token to each side, the encoder"),
        (MaskChoice(kind="padding", n_padding=3), "With 3 [PAD] appended and masked, the encoder"),
        (MaskChoice(kind="keys"), "Nothing is masked: the encoder says positive (75.0\u2009%)."),
        (MaskChoice(kind="cells"), "Nothing is masked"),
        (MaskChoice(kind="padding"), "Nothing is masked"),
        (MaskChoice(), "Nothing is masked"),
    ],
)
def test_what_was_masked_is_named(text: ForwardRecord, choice: MaskChoice, beginning: str) -> None:
    assert in_words(choice, text, text).startswith(beginning)


@pytest.mark.parametrize(
    ("choice", "beginning"),
    [
        (MaskChoice(kind="keys", keys=(2,)), "Without r0c1, the encoder"),
        (MaskChoice(kind="window", radius=2), "With a window of 2 patches to each side, the encoder"),
        (MaskChoice(kind="padding", n_padding=2), "With the last 2 patches masked as padding, the encoder"),
    ],
)
def test_what_was_masked_of_a_digit_is_named(
    digit: ForwardRecord, choice: MaskChoice, beginning: str
) -> None:
    assert in_words(choice, digit, digit).startswith(beginning)


@pytest.mark.parametrize(
    ("after", "end"),
    [
        ([0.8, 0.2], "the encoder says negative (80.0\u2009%) instead of positive (75.0\u2009%)."),
        ([0.1, 0.9], "the encoder still says positive (90.0\u2009% instead of 75.0\u2009%)."),
        ([0.25, 0.75], "the encoder still says positive (75.0\u2009%, as before)."),
    ],
)
def test_what_became_of_the_answer(text: ForwardRecord, after: list[float], end: str) -> None:
    masked = replace(text, logits=np.log(np.array(after, np.float32)))
    assert in_words(MaskChoice(kind="causal"), text, masked).endswith(end)


def test_a_share_that_only_rounds_to_all_or_nothing_says_so() -> None:
    shares = (0.0, 0.0001, 0.5, 0.9999, 1.0)
    assert [share(part) for part in shares] == [
        "0.0\u2009%",
        "under 0.1\u2009%",
        "50.0\u2009%",
        "over 99.9\u2009%",
        "100.0\u2009%",
    ]


def test_a_causal_mask_leaves_the_class_token_itself_alone_where_it_holds_everywhere(
    text: ForwardRecord,
) -> None:
    assert "the answer is the same for every text" in explained(MaskChoice(kind="causal"), text)
    assert "the answer" not in explained(MaskChoice(kind="causal", layers=(0,)), text)


def test_how_far_windows_reach_through_the_layers(text: ForwardRecord, digit: ForwardRecord) -> None:
    assert "reached from up to 6 away" in explained(MaskChoice(kind="window", radius=3), text)
    assert "class token sees all" in explained(MaskChoice(kind="window", radius=3), digit)
