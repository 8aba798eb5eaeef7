import numpy as np
import pytest
import torch

from model.record import from_arrays as bare
from model.record.from_arrays import from_arrays

PATTERN = np.random.default_rng(0).dirichlet(np.ones(3), (2, 4, 3)).astype(np.float32)
TOKENS = ("[CLS]", "films", "##y")


def test_the_numbers_are_what_was_given() -> None:
    record = from_arrays(PATTERN, TOKENS)
    np.testing.assert_array_equal(record.pattern, PATTERN)
    assert record.mask.shape == PATTERN.shape
    assert record.mask.all()
    assert (record.tokens, record.keys, record.attended) == (TOKENS, None, record)
    with pytest.raises(ValueError, match="read-only"):
        record.pattern[0] = 0
    PATTERN.copy()[0] = 0  # the caller's own array stays his
    assert PATTERN.flags.writeable


def test_layers_one_by_one_with_a_batch_of_one_or_without_and_tensors() -> None:
    for layers in (list(PATTERN), tuple(layer[None] for layer in PATTERN)):
        np.testing.assert_array_equal(from_arrays(layers, TOKENS).pattern, PATTERN)
    tensors = [torch.from_numpy(layer[None]).requires_grad_() for layer in PATTERN]
    np.testing.assert_array_equal(from_arrays(tensors, TOKENS).pattern, PATTERN)
    half = from_arrays(torch.from_numpy(PATTERN).bfloat16(), TOKENS).pattern
    np.testing.assert_allclose(half, PATTERN, rtol=2**-8)


def test_rows_that_do_not_sum_to_one_are_not_mended() -> None:
    np.testing.assert_array_equal(from_arrays(PATTERN * 0.5, TOKENS).pattern, PATTERN * np.float32(0.5))


def test_cross_attention_has_other_keys() -> None:
    record = from_arrays(PATTERN[..., :2], TOKENS, keys=("x", "y"))
    assert record.attended.tokens == ("x", "y")
    assert len(record) == 3


@pytest.mark.parametrize(
    ("tokens", "roles"),
    [
        (
            ["[CLS]", "film", "##s", "[MASK]", "[UNK]", "[SEP]", "[PAD]"],
            ["class", "word", "continuation", "mask", "unknown", "separator", "padding"],
        ),
        (
            ["<s>", "The", "Ġfil", "ms", "Ġare", "</s>"],
            ["class", "word", "word", "continuation", "word", "separator"],
        ),
        (
            ["<|startoftext|>", "a", "Ġfil", "ms", "<|im_end|>", "<|endoftext|>", "s"],
            ["special", "word", "word", "continuation", "special", "special", "word"],
        ),
        (["▁The", "▁fil", "ms", "."], ["word", "word", "continuation", "continuation"]),
        (["a", "b", "##"], ["word", "word", "word"]),
        (["##s", "a"], ["word", "word"]),
    ],
)
def test_roles_that_are_not_given_are_read_from_the_spelling(tokens: list[str], roles: list[str]) -> None:
    n = len(tokens)
    pattern = np.full((1, 1, n, n), 1 / n)
    assert from_arrays(pattern, tokens).roles == tuple(roles)
    assert from_arrays(pattern, tokens, roles=["word"] * n).roles == ("word",) * n


@pytest.mark.parametrize("mark", ["Ġ", "▁"])
def test_the_mark_of_a_word_is_shown_as_a_space_unless_roles_are_given(mark: str) -> None:
    tokens = (f"{mark}The", f"{mark}fil", "ms")
    record = from_arrays(PATTERN, tokens)
    assert record.tokens == record.pieces == (" The", " fil", "ms")
    assert from_arrays(PATTERN, tokens, roles=record.roles).tokens == tokens


@pytest.mark.parametrize(
    ("n", "grid", "tokens"),
    [
        (4, None, ("r0c0", "r0c1", "r1c0", "r1c1")),
        (5, None, ("[CLS]", "r0c0", "r0c1", "r1c0", "r1c1")),
        (4, (1, 2), ("[CLS]", "[1]", "r0c0", "r0c1")),
    ],
)
def test_patches_are_named_and_what_stands_before_them_is_none(n: int, grid, tokens: tuple[str, ...]) -> None:
    pattern = np.full((1, 1, n, n), 1 / n)
    record = from_arrays(pattern, patch_grid=grid, picture=np.zeros((4, 4), np.uint8))
    assert record.tokens == tokens
    assert record.first_patch == sum(not token.startswith("r") for token in tokens)
    assert record.unit == "patch"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((PATTERN[0], TOKENS), "pattern must be numbers"),
        (([PATTERN[0], PATTERN[0, :1]], TOKENS), "all of one shape"),
        (([], TOKENS), "all of one shape"),
        ((PATTERN.astype(str), TOKENS), "pattern must be numbers"),
        ((PATTERN.astype(complex), TOKENS), "pattern must be numbers"),
        ((PATTERN[:, :0], TOKENS), "pattern must be numbers"),
        ((PATTERN - 0.5, TOKENS), "weights are from 0 to 1"),
        ((PATTERN * 3, TOKENS), "weights are from 0 to 1"),
        ((PATTERN * np.nan, TOKENS), "not finite"),
        ((PATTERN, TOKENS[:2]), "2 tokens for 3 positions"),
        ((PATTERN.transpose(0, 2, 3, 1), TOKENS), "the last two should be the 3 queries"),
        ((PATTERN[0], TOKENS), r"one layer \[head, query, key\]: pass \[pattern\]"),
        ((PATTERN[0, 0], TOKENS), "one head"),
        ((None, TOKENS), 'pattern is None.*attn_implementation="eager"'),
        (((None, None), TOKENS), 'attn_implementation="eager"'),
        (([np.stack([layer, layer]) for layer in PATTERN], TOKENS), "a batch of 2 inputs"),
        ((np.stack([PATTERN] * 3, axis=1), TOKENS), "a batch of 3 inputs"),
        ((PATTERN, "abc"), "list of strings"),
        ((PATTERN, None), "labels are missing"),
        ((PATTERN[..., :2], TOKENS), "labels `keys` are missing"),
        ((PATTERN, ("a" * 1001, "b", "c")), "more than 1,000 characters"),
    ],
)
def test_what_is_no_attention_is_refused(given: tuple, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        from_arrays(*given)


def test_more_than_can_be_shown_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bare, "MOST_HEADS", 7)
    with pytest.raises(ValueError, match="too large to be shown"):
        from_arrays(PATTERN, TOKENS)
