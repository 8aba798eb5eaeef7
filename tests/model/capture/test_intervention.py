import math
from dataclasses import replace

import jaxtyping
import numpy as np
import pytest
import torch

from model.capture import capture
from model.capture.intervention import (
    Intervention,
    MaskChoice,
    Masking,
    at_temperature,
    masked,
    repositioned,
    without_keys,
)
from model.capture.replacements import Zeroed
from model.experiments.ablation import ablated
from model.inputs.text import PADDING
from tests.model import tiny
from tests.model.tiny import CLOSE
from tests.tolerance import rounding

TEXT = "not great film"  # with [CLS] and [SEP] five tokens
CAUSAL = masked(MaskChoice(kind="causal"))


def padded(n: int, method="encoder") -> Intervention:
    return masked(MaskChoice(kind="padding", n_padding=n), method)


# Plain values


def test_interventions_of_the_same_values_are_one_key():
    def made() -> list[Intervention]:
        return [
            Intervention(),
            masked(MaskChoice(kind="keys", keys=(1, 2), heads=(0,))),
            masked(MaskChoice(kind="causal"), "added", -10.0),
            without_keys(2),
            at_temperature(0.5, layer=1),
            at_temperature(0.0),
            repositioned(order=(0, 2, 1), shift=3),
            repositioned(zeroed=True),
            CAUSAL + at_temperature(0.5),
        ]

    assert made() == made()
    assert len({*made(), *made()}) == len(made())


def test_what_changes_nothing_is_the_empty_intervention():
    assert masked(MaskChoice()) == at_temperature(1.0) == repositioned() == ablated() == Intervention()
    assert Intervention() + CAUSAL == CAUSAL + Intervention() == CAUSAL


def test_a_value_counts_only_where_the_method_takes_one():
    choice = MaskChoice(kind="causal")
    assert masked(choice, "zeroed", -10.0) == masked(choice, "zeroed")
    assert masked(choice, "replaced", -10.0) != masked(choice, "replaced")


@pytest.mark.parametrize(
    ("intervention", "layer"),
    [
        (Intervention(), 2),
        (CAUSAL, 0),
        (masked(MaskChoice(kind="causal", layers=(1,))), 1),
        (masked(MaskChoice(kind="causal", layers=())), 2),
        (padded(3, "ignored"), 0),
        (at_temperature(0.5), 0),
        (at_temperature(0.5, layer=1), 1),
        (at_temperature(0.5, layer=1) + masked(MaskChoice(kind="causal", layers=(1,))), 1),
        (repositioned(zeroed=True) + at_temperature(0.5, layer=1), -1),
        (Intervention(replacements=(("logits", Zeroed()),)), 2),
    ],
)
def test_the_layer_in_which_something_changes_first(intervention, layer):
    assert intervention.first_layer(tiny.TEXT) == layer


def test_a_replacement_may_stand_at_any_hook_point(text_loaded):
    record = capture(text_loaded, TEXT, Intervention(replacements=(("blocks.1.attention.z", Zeroed()),)))
    assert not record.z[1].any()
    assert record.z[0].any()
    everywhere = capture(text_loaded, TEXT, Intervention(replacements=(("blocks.*.attention.z", Zeroed()),)))
    assert not everywhere.z.any()


def test_replacements_of_one_activation_follow_each_other(text_loaded):
    twice = at_temperature(0.5, layer=0) + at_temperature(4.0, layer=0)
    plain = capture(text_loaded, TEXT).scores[0]
    np.testing.assert_allclose(capture(text_loaded, TEXT, twice).scores[0], plain / 2, rtol=rounding(2))


def test_scores_stand_as_they_were_replaced_whatever_the_method_of_masking(text_loaded):
    half = at_temperature(2.0, layer=0)
    record = capture(text_loaded, TEXT, half + masked(MaskChoice(kind="causal"), "replaced"))
    np.testing.assert_array_equal(record.scores[0], capture(text_loaded, TEXT, half).scores[0])
    np.testing.assert_allclose(record.pattern, capture(text_loaded, TEXT, half + CAUSAL).pattern, **CLOSE)


def test_an_unknown_hook_point_is_refused(text_loaded):
    with pytest.raises(KeyError, match=r"no hook point blocks\.7"):
        capture(text_loaded, TEXT, at_temperature(0.5, layer=7))


# Masks

SCORES = torch.tensor([[[[1.0, 2.0, 5.0]]]]).log()
MASK = torch.tensor([[[[True, True, False]]]])
NOTHING = torch.tensor([[[[False, False, False]]]])


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
def test_each_kind_on_a_text(choice, expected):
    for item in (choice, replace(choice, layers=(0, 1), heads=(0, 1))):
        for head in item.allowed(tiny.TEXT, 3).expand(2, 2, 3, 3).flatten(0, 1):
            assert rows(head) == expected


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (MaskChoice(kind="padding", n_padding=2), ["xxx.."] * 5),
        (MaskChoice(kind="window", radius=0), ["xxxxx", "xx...", "x.x..", "x..x.", "x...x"]),
        (MaskChoice(kind="window", radius=1), ["xxxxx"] * 5),
    ],
)
def test_each_kind_on_the_patches_of_a_digit(choice, expected):
    assert rows(choice.allowed(tiny.DIGIT, 5)) == expected


def test_the_mask_holds_in_the_chosen_heads_of_the_chosen_layers():
    mask = MaskChoice(kind="causal", layers=(1,), heads=(0,)).allowed(tiny.TEXT, 3)
    assert [[bool(head.all()) for head in layer] for layer in mask] == [[True, True], [False, True]]
    assert MaskChoice(kind="causal", layers=(), heads=None).allowed(tiny.TEXT, 3).all()


def test_positions_that_are_not_there_are_refused():
    with pytest.raises(IndexError):
        MaskChoice(kind="keys", keys=(3,)).allowed(tiny.TEXT, 3)


def test_the_record_is_of_the_forward_under_the_mask(text_loaded):
    choice = MaskChoice(kind="keys", keys=(1,), layers=(0,))
    record = capture(text_loaded, TEXT, masked(choice))
    assert (record.pattern[0, :, :, 1] == 0).all()
    assert (record.pattern[1, :, :, 1] > 0).all()
    assert (record.mask == choice.allowed(tiny.TEXT, 5).numpy()).all()
    assert np.abs(record.logits - capture(text_loaded, TEXT).logits).max() > 1e-4


def test_masks_are_added_to_each_other(text_loaded):
    record = capture(text_loaded, TEXT, CAUSAL + without_keys(0))
    assert rows(torch.from_numpy(record.mask[0, 0].copy())) == [".....", ".x...", ".xx..", ".xxx.", ".xxxx"]


@pytest.mark.parametrize("kind", ["none", "padding", "keys", "cells", "causal", "window"])
def test_a_choice_that_masks_nothing_is_no_intervention(kind):
    assert (masked(MaskChoice(kind=kind, layers=(0,))) == Intervention()) == (
        kind not in ("causal", "window")
    )
    blocking = MaskChoice(kind=kind, n_padding=1, keys=(0,), cells=((0, 1),), layers=(0,))
    assert (masked(blocking) == Intervention()) == (kind == "none")


def test_a_kind_or_a_method_that_is_none_is_refused(monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # types are checked in tests alone
    with pytest.raises(ValueError, match="none, padding, causal, window, keys, cells, got 'local'"):
        MaskChoice(kind="local", radius=2)
    with pytest.raises(ValueError, match="encoder, replaced, added, zeroed, ignored, got 'add'"):
        masked(MaskChoice(kind="causal"), "add")


def test_padding_is_appended_and_changes_nothing_while_it_is_masked(text_loaded):
    plain, with_padding = capture(text_loaded, TEXT), capture(text_loaded, TEXT, padded(3))
    assert with_padding.tokens == (*plain.tokens, *[PADDING] * 3)
    assert not with_padding.mask[..., 5:].any()
    np.testing.assert_allclose(with_padding.logits, plain.logits, **CLOSE)
    np.testing.assert_allclose(with_padding.pattern[:, :, :5, :5], plain.pattern, **CLOSE)


def test_padding_that_is_not_masked_takes_weight_and_changes_the_answer(text_loaded):
    plain, ignored = capture(text_loaded, TEXT), capture(text_loaded, TEXT, padded(3, "ignored"))
    assert ignored.tokens == (*plain.tokens, *[PADDING] * 3)
    assert ignored.mask.all()
    np.testing.assert_allclose(ignored.pattern, softmax(ignored.scores), **CLOSE)
    assert np.abs(ignored.logits - plain.logits).max() > 1e-4


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def test_the_tokenizer_of_the_encoder_stays_as_it_is(text_loaded):
    capture(text_loaded, TEXT, padded(2))
    assert text_loaded.tokenizer.padding is None


def test_padding_beyond_the_positions_is_refused(text_loaded):
    with pytest.raises(ValueError, match="13 tokens exceed the 12 positions"):
        capture(text_loaded, TEXT, padded(8))


def test_an_encoder_without_padding_refuses_it():
    with pytest.raises(ValueError, match="tiny knows no padding"):
        capture(tiny.loaded(replace(tiny.TEXT, padding_id=None)), TEXT, padded(1))


# Methods of masking


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (Masking("replaced"), [1 / 3, 2 / 3, 0]),
        (Masking("replaced", -1e9), [1 / 3, 2 / 3, 0]),
        (Masking("replaced", float(np.log(3))), [1 / 6, 2 / 6, 3 / 6]),
        (Masking("added", -float(np.log(5))), [1 / 4, 2 / 4, 1 / 4]),
        (Masking("zeroed"), [1 / 8, 2 / 8, 0]),
        (Masking("ignored"), [1 / 8, 2 / 8, 5 / 8]),
    ],
)
def test_a_method_of_masking_by_hand(method, expected):
    """The exponentials of the scores are 1, 2 and 5; the last is forbidden."""
    np.testing.assert_allclose(method.pattern(SCORES, MASK)[0, 0, 0], expected, rtol=rounding(16))


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (Masking("replaced"), [np.nan] * 3),
        (Masking("replaced", -1e9), [1 / 3] * 3),
        (Masking("added", -10.0), [1 / 8, 2 / 8, 5 / 8]),  # as if there were no mask
        (Masking("added", -1e9), [1 / 3] * 3),  # float32 loses the scores beside so large a number
        (Masking("zeroed"), [0, 0, 0]),
    ],
)
def test_a_row_without_any_key_by_hand(method, expected):
    np.testing.assert_allclose(method.pattern(SCORES, NOTHING)[0, 0, 0], expected, rtol=1e-5)


def test_a_method_takes_the_place_of_the_encoders_own(text_loaded):
    record = capture(text_loaded, TEXT, masked(MaskChoice(kind="causal"), "ignored"))
    np.testing.assert_allclose(record.logits, capture(text_loaded, TEXT).logits, **CLOSE)


def test_each_method_on_an_encoder(text_loaded):
    choice = MaskChoice(kind="keys", keys=(2,))
    own, infinity, replaced, added, zeroed = (
        capture(text_loaded, TEXT, masked(choice, method, value))
        for method, value in [
            ("encoder", 0.0),
            ("replaced", -math.inf),
            ("replaced", -10.0),
            ("added", -10.0),
            ("zeroed", 0.0),
        ]
    )
    for record in (own, infinity, replaced, added, zeroed):
        assert rows(torch.from_numpy(record.mask[1, 1].copy())) == ["xx.xx"] * 5
    np.testing.assert_array_equal(own.pattern, capture(text_loaded, TEXT, masked(choice)).pattern)
    np.testing.assert_allclose(infinity.pattern, own.pattern, **CLOSE)
    np.testing.assert_allclose(infinity.probabilities, own.probabilities, **CLOSE)
    np.testing.assert_array_equal(replaced.scores[0], own.scores[0])  # before the mask, as ever
    assert (replaced.pattern[..., 2] > 0).all()
    assert (added.pattern[..., 2] > 0).all()
    assert (zeroed.pattern[..., 2] == 0).all()
    assert (zeroed.pattern.sum(axis=-1) < 1).all()


def test_a_query_without_any_key_in_one_head(text_loaded):
    closed = MaskChoice(kind="cells", cells=tuple((3, key) for key in range(5)), layers=(0,), heads=(1,))
    result = {
        name: capture(text_loaded, TEXT, masked(closed, method, value))
        for name, method, value in [
            ("encoder", "encoder", 0.0),
            ("infinity", "replaced", -math.inf),
            ("replaced", "replaced", -1e9),
            ("added", "added", -1e9),
            ("zeroed", "zeroed", 0.0),
        ]
    }
    head = {name: record.pattern[0, 1] for name, record in result.items()}
    assert np.isnan(head["infinity"][3]).all()
    assert np.isnan(result["infinity"].probabilities).all()
    np.testing.assert_allclose(head["replaced"][3], 1 / 5, rtol=rounding(2 * 5))
    assert (head["zeroed"][3] == 0).all()
    assert (head["encoder"][3] == 0).all()
    for name in ("encoder", "replaced", "added", "zeroed"):
        assert np.isfinite(result[name].probabilities).all()
        np.testing.assert_allclose(np.delete(head[name], 3, axis=0).sum(axis=-1), 1, rtol=rounding(3 * 5))


def test_padding_is_in_the_mask_of_every_method(text_loaded):
    own, infinity = (capture(text_loaded, TEXT, padded(2, method)) for method in ("encoder", "replaced"))
    assert rows(torch.from_numpy(own.mask[0, 0].copy())) == ["xxxxx.."] * 7
    np.testing.assert_array_equal(infinity.mask, own.mask)
    np.testing.assert_allclose(infinity.pattern, own.pattern, **CLOSE)


def test_a_choice_holds_in_its_layers_and_heads():
    assert MaskChoice(kind="causal").applies_to(3, 1)
    some = MaskChoice(kind="causal", layers=(0, 2), heads=(1,))
    assert [some.applies_to(*head) for head in ((0, 1), (2, 1), (1, 1), (2, 0))] == [True, True, False, False]
