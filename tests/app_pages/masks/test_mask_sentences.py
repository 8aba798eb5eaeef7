from dataclasses import replace

import numpy as np
import pytest

from app_pages.masks.mask_sentences import explained, has_own_mask, without_or_with
from model.capture import capture
from model.capture.intervention import MaskChoice
from model.family_options import Family, Parts
from model.record import ForwardRecord
from tests.model import tiny


@pytest.fixture(scope="module")
def text() -> ForwardRecord:
    return capture(tiny.loaded(tiny.TEXT), "not great film")


@pytest.fixture(scope="module")
def digit() -> ForwardRecord:
    return capture(tiny.loaded(tiny.DIGIT), np.zeros((8, 8), np.uint8))


@pytest.mark.parametrize(
    ("choice", "named"),
    [
        (MaskChoice(kind="keys", keys=(1,)), "Without “not”"),
        (MaskChoice(kind="keys", keys=(1, 2, 3)), "Without “not”, “great” and “film”"),
        (MaskChoice(kind="keys", keys=(0, 1, 2, 3)), "Without 4 of the 5 tokens"),
        (MaskChoice(kind="keys", keys=(1,), layers=(0,)), "Without “not” in layer 0"),
        (
            MaskChoice(kind="keys", keys=(1,), layers=(0, 1), heads=(1,)),
            "Without “not” in layers 0 and 1 and head 1",
        ),
        (MaskChoice(kind="cells", cells=((0, 1),)), "Where “[CLS]” does not see “not”"),
        (MaskChoice(kind="cells", cells=((0, 1), (2, 2))), "Without 2 of the 25 cells"),
        (MaskChoice(kind="causal"), "With a causal mask"),
        (MaskChoice(kind="window", radius=1), "With a window of 1 token to each side"),
        (MaskChoice(kind="padding", n_padding=3), "With 3 [PAD] appended and masked"),
        (MaskChoice(kind="keys"), "Without any mask"),
        (MaskChoice(kind="cells"), "Without any mask"),
        (MaskChoice(kind="padding"), "Without any mask"),
        (MaskChoice(), "Without any mask"),
        (MaskChoice(kind="keys", layers=(0,)), "Without any mask"),
    ],
)
def test_what_was_masked_is_named(text, choice, named):
    assert without_or_with(choice, text) == named


@pytest.mark.parametrize(
    ("choice", "named"),
    [
        (MaskChoice(kind="keys", keys=(2,)), "Without the patch in row 0, column 1"),
        (MaskChoice(kind="window", radius=2), "With a window of 2 patches to each side"),
        (MaskChoice(kind="padding", n_padding=2), "With the last 2 patches masked as padding"),
    ],
)
def test_what_was_masked_of_a_digit_is_named(digit, choice, named):
    assert without_or_with(choice, digit) == named


@pytest.mark.parametrize("parts", [Parts(causal=True), Parts(windows=(None, 3))])
def test_what_the_encoder_masks_itself_is_not_left_out(text, parts):
    own = replace(text, config=replace(text.config, family=Family(name="other", parts=parts)))
    assert has_own_mask(own)
    assert not has_own_mask(text)
    assert explained(MaskChoice(), own) == "Every query attends to every key that the encoder itself allows."
    assert explained(MaskChoice(), text) == "Every query attends to every key."
    assert ("has that mask anyway" in explained(MaskChoice(kind="causal", layers=(0,)), own)) == parts.causal


def test_how_far_windows_reach_through_the_layers(text, digit):
    assert "information reaches a position from up to 6 away" in explained(
        MaskChoice(kind="window", radius=3), text
    )
    assert "class token attends to all" in explained(MaskChoice(kind="window", radius=3), digit)


def test_a_blocked_token_is_unread_only_where_the_mask_holds(text):
    everywhere = "No token reads from a hidden one any more"
    n_layers, n_heads = text.pattern.shape[:2]
    blocked = MaskChoice(kind="keys", keys=(1,))
    every = {"layers": tuple(range(n_layers)), "heads": tuple(range(n_heads))}
    assert f"{everywhere}." in explained(blocked, text)
    assert f"{everywhere}." in explained(replace(blocked, **every), text)
    for some in ({"layers": (0,)}, {"heads": (1,)}):
        message = explained(replace(blocked, **some), text)
        assert f"{everywhere} in the chosen layers and heads; the others still do" in message


def test_of_a_repeated_token_it_is_said_which_one_is_blocked():
    record = capture(tiny.loaded(tiny.TEXT), "not great not")
    assert without_or_with(MaskChoice(kind="keys", keys=(3,)), record) == "Without “not” at position 3"
    assert without_or_with(MaskChoice(kind="keys", keys=(2,)), record) == "Without “great”"
