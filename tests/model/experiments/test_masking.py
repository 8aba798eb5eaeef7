from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from model.capture import capture
from model.checkpoint import Loaded
from model.experiments.masking import (
    MaskChoice,
    added,
    allowed,
    applied,
    attending_to_padding,
    masked,
    outcomes,
    replaced,
    with_padding,
    zeroed,
)
from model.hooks import hook_points
from model.text import PADDING
from tests.model import tiny
from tests.tolerance import rounding, through

TEXT = "not great film"  # with [CLS] and [SEP] five tokens
SCORES = torch.tensor([[[[1.0, 2.0, 5.0]]]]).log()
MASK = torch.tensor([[[True, True, False]]])
NOTHING = torch.tensor([[[False, False, False]]])


def rows(mask: torch.Tensor) -> list[str]:
    return ["".join("x" if allowed else "." for allowed in row) for row in mask.tolist()]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (MaskChoice(), ["xxx", "xxx", "xxx"]),
        (MaskChoice(kind="padding", n_padding=2), ["xxx", "xxx", "xxx"]),  # the encoder masks it by itself
        (MaskChoice(kind="causal"), ["x..", "xx.", "xxx"]),
        (MaskChoice(kind="window", radius=1), ["xx.", "xxx", ".xx"]),
        (MaskChoice(kind="keys", keys=(1,), cells=((0, 0),)), ["x.x", "x.x", "x.x"]),
        (MaskChoice(kind="cells", cells=((0, 2), (1, 0)), keys=(1,)), ["xx.", ".xx", "xxx"]),
    ],
)
def test_each_kind_on_a_text(choice: MaskChoice, expected: list[str]) -> None:
    mask = allowed(choice, tiny.TEXT, 3)
    assert mask.shape == (2, 2, 3, 3)
    for head in mask.flatten(0, 1):
        assert rows(head) == expected


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (MaskChoice(kind="padding", n_padding=2), ["xxx.."] * 5),
        (MaskChoice(kind="window", radius=0), ["xxxxx", "xx...", "x.x..", "x..x.", "x...x"]),
        (MaskChoice(kind="window", radius=1), ["xxxxx"] * 5),
    ],
)
def test_each_kind_on_the_patches_of_a_digit(choice: MaskChoice, expected: list[str]) -> None:
    assert rows(allowed(choice, tiny.DIGIT, 5)[1, 1]) == expected


def test_the_mask_holds_in_the_chosen_heads_of_the_chosen_layers() -> None:
    mask = allowed(MaskChoice(kind="causal", layers=(1,), heads=(0,)), tiny.TEXT, 3)
    assert [[bool(head.all()) for head in layer] for layer in mask] == [[True, True], [False, True]]
    everywhere = allowed(MaskChoice(kind="causal", layers=(), heads=None), tiny.TEXT, 3)
    assert everywhere.all()


def test_positions_that_are_not_there_are_refused() -> None:
    with pytest.raises(IndexError):
        allowed(MaskChoice(kind="keys", keys=(3,)), tiny.TEXT, 3)


def test_the_record_is_of_the_forward_under_the_mask(text_loaded: Loaded) -> None:
    choice = MaskChoice(kind="keys", keys=(1,), layers=(0,))
    record = masked(text_loaded, TEXT, choice)
    assert (record.pattern[0, :, :, 1] == 0).all()
    assert (record.pattern[1, :, :, 1] > 0).all()
    assert (record.mask == allowed(choice, tiny.TEXT, 5).numpy()).all()
    assert np.abs(record.logits - capture(text_loaded, TEXT).logits).max() > 1e-4


def test_without_a_mask_nothing_changes(digit_loaded: Loaded, image: np.ndarray) -> None:
    record = masked(digit_loaded, image, MaskChoice())
    np.testing.assert_array_equal(record.logits, capture(digit_loaded, image).logits)


def test_padding_is_appended_and_changes_nothing_while_it_is_masked(text_loaded: Loaded) -> None:
    plain, padded = (
        capture(text_loaded, TEXT),
        masked(text_loaded, TEXT, MaskChoice(kind="padding", n_padding=3)),
    )
    assert padded.tokens == (*plain.tokens, *[PADDING] * 3)
    assert not padded.mask[..., 5:].any()
    np.testing.assert_allclose(padded.logits, plain.logits, atol=through(tiny.TEXT, 2))
    np.testing.assert_allclose(padded.pattern[:, :, :5, :5], plain.pattern, atol=through(tiny.TEXT))


def test_padding_that_is_not_masked_takes_weight_and_changes_the_answer(text_loaded: Loaded) -> None:
    plain, padded = capture(text_loaded, TEXT), attending_to_padding(text_loaded, TEXT, 3)
    assert padded.tokens == (*plain.tokens, *[PADDING] * 3)
    assert padded.mask.all()
    np.testing.assert_allclose(padded.pattern, softmax(padded.scores), atol=through(tiny.TEXT))
    assert np.abs(padded.logits - plain.logits).max() > 1e-4


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def test_the_tokenizer_of_the_encoder_stays_as_it_is(text_loaded: Loaded) -> None:
    assert with_padding(text_loaded, TEXT, 2).tokenizer is not text_loaded.tokenizer
    assert text_loaded.tokenizer.padding is None


def test_padding_beyond_the_positions_is_refused(text_loaded: Loaded) -> None:
    with pytest.raises(ValueError, match="13 tokens exceed the 12 positions"):
        with_padding(text_loaded, TEXT, 8)


def test_an_encoder_without_padding_refuses_it() -> None:
    loaded = tiny.loaded(replace(tiny.TEXT, padding_id=None))
    with pytest.raises(ValueError, match="tiny knows no padding"):
        masked(loaded, TEXT, MaskChoice(kind="padding", n_padding=1))


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        (partial(replaced, value=-torch.inf), [1 / 3, 2 / 3, 0]),
        (partial(replaced, value=-1e9), [1 / 3, 2 / 3, 0]),
        (partial(replaced, value=float(np.log(3))), [1 / 6, 2 / 6, 3 / 6]),
        (partial(added, value=-float(np.log(5))), [1 / 4, 2 / 4, 1 / 4]),
        (zeroed, [1 / 8, 2 / 8, 0]),
    ],
)
def test_a_way_of_masking_by_hand(way, expected: list[float]) -> None:
    """The exponentials of the scores are 1, 2 and 5; the last is forbidden."""
    np.testing.assert_allclose(way(SCORES, MASK)[0, 0, 0], expected, rtol=rounding(16))


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        (partial(replaced, value=-torch.inf), [np.nan] * 3),
        (partial(replaced, value=-1e9), [1 / 3] * 3),
        (partial(added, value=-10.0), [1 / 8, 2 / 8, 5 / 8]),  # as if there were no mask
        (partial(added, value=-1e9), [1 / 3] * 3),  # float32 loses the scores beside so large a number
        (zeroed, [0, 0, 0]),
    ],
)
def test_a_row_without_any_key_by_hand(way, expected: list[float]) -> None:
    np.testing.assert_allclose(way(SCORES, NOTHING)[0, 0, 0], expected, rtol=1e-5)


def test_a_way_takes_the_place_of_the_encoders_own_mask(text_loaded: Loaded) -> None:
    causal = allowed(MaskChoice(kind="causal"), tiny.TEXT, 5)
    whole = torch.ones(2, 1, 1, 1, dtype=torch.bool)
    watchers = applied(whole, partial(replaced, value=-torch.inf))
    assert set(watchers) <= set(hook_points(text_loaded.model))
    record = capture(text_loaded, TEXT, mask=causal, watchers=watchers)
    np.testing.assert_allclose(record.logits, capture(text_loaded, TEXT).logits, atol=through(tiny.TEXT, 2))


def test_the_outcomes_of_every_way(text_loaded: Loaded) -> None:
    choice = MaskChoice(kind="keys", keys=(2,))
    found = outcomes(text_loaded, TEXT, choice, layer=1, head=1, value=-10.0)
    own = masked(text_loaded, TEXT, choice)
    assert list(found.ways) == ["encoder", "infinity", "replaced", "added", "zeroed"]
    assert rows(torch.from_numpy(found.mask)) == ["xx.xx"] * 5
    np.testing.assert_array_equal(found.ways["encoder"].pattern, own.pattern[1, 1])
    np.testing.assert_allclose(found.ways["infinity"].pattern, own.pattern[1, 1], atol=through(tiny.TEXT))
    np.testing.assert_allclose(
        found.ways["infinity"].probabilities, own.probabilities, atol=through(tiny.TEXT)
    )
    assert (found.ways["replaced"].pattern[:, 2] > 0).all()
    assert (found.ways["added"].pattern[:, 2] > 0).all()
    assert (found.ways["zeroed"].pattern[:, 2] == 0).all()
    assert (found.ways["zeroed"].pattern.sum(axis=-1) < 1).all()


def test_a_query_without_any_key_in_one_head(text_loaded: Loaded) -> None:
    found = outcomes(text_loaded, TEXT, MaskChoice(), layer=0, head=1, value=-1e9, closed=3).ways
    assert np.isnan(found["infinity"].pattern[3]).all()
    assert np.isnan(found["infinity"].probabilities).all()
    np.testing.assert_allclose(found["replaced"].pattern[3], 1 / 5, rtol=rounding(2 * 5))
    assert (found["zeroed"].pattern[3] == 0).all()
    assert (found["encoder"].pattern[3] == 0).all()
    for way in ("encoder", "replaced", "added", "zeroed"):
        assert np.isfinite(found[way].probabilities).all()
        np.testing.assert_allclose(
            np.delete(found[way].pattern, 3, axis=0).sum(axis=-1), 1, rtol=rounding(3 * 5)
        )


def test_padding_is_in_the_mask_of_every_way(text_loaded: Loaded) -> None:
    choice = MaskChoice(kind="padding", n_padding=2)
    found = outcomes(text_loaded, TEXT, choice, layer=0, head=0, value=-1e9)
    assert rows(torch.from_numpy(found.mask)) == ["xxxxx.."] * 7
    np.testing.assert_allclose(
        found.ways["infinity"].pattern, found.ways["encoder"].pattern, atol=through(tiny.TEXT)
    )
