import numpy as np
import pytest
import torch

from model.measures.word_view import view
from model.record import from_arrays as bare
from model.record.from_arrays import from_arrays

PATTERN = np.random.default_rng(0).dirichlet(np.ones(3), (2, 4, 3)).astype(np.float32)
TOKENS = ("[CLS]", "films", "##y")


def test_the_numbers_are_what_was_given():
    record = from_arrays(PATTERN, TOKENS)
    np.testing.assert_array_equal(record.pattern, PATTERN)
    assert record.mask.shape == PATTERN.shape
    assert record.mask.all()
    assert (record.tokens, record.keys, record.attended) == (TOKENS, None, record)
    with pytest.raises(ValueError, match="read-only"):
        record.pattern[0] = 0
    PATTERN.copy()[0] = 0  # the caller's own array stays his
    assert PATTERN.flags.writeable


def test_layers_one_by_one_with_a_batch_of_one_or_without_and_tensors():
    for layers in (list(PATTERN), tuple(layer[None] for layer in PATTERN)):
        np.testing.assert_array_equal(from_arrays(layers, TOKENS).pattern, PATTERN)
    tensors = [torch.from_numpy(layer[None]).requires_grad_() for layer in PATTERN]
    np.testing.assert_array_equal(from_arrays(tensors, TOKENS).pattern, PATTERN)
    half = from_arrays(torch.from_numpy(PATTERN).bfloat16(), TOKENS).pattern
    np.testing.assert_allclose(half, PATTERN, rtol=2**-8)


def test_rows_that_do_not_sum_to_one_are_not_mended():
    np.testing.assert_array_equal(from_arrays(PATTERN * 0.5, TOKENS).pattern, PATTERN * np.float32(0.5))


def test_cross_attention_has_other_keys():
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
def test_roles_that_are_not_given_are_read_from_the_spelling(tokens, roles):
    n = len(tokens)
    pattern = np.full((1, 1, n, n), 1 / n)
    assert from_arrays(pattern, tokens).roles == tuple(roles)
    assert from_arrays(pattern, tokens, roles=["word"] * n).roles == ("word",) * n


@pytest.mark.parametrize("mark", ["Ġ", "▁"])
def test_the_mark_of_a_space_is_not_shown(mark):
    pieces = (f"{mark}The", f"{mark}fil", "ms")
    record = from_arrays(PATTERN, pieces)
    assert (record.tokens, record.pieces) == (("The", "fil", "ms"), pieces)
    assert from_arrays(PATTERN, pieces, roles=record.roles).tokens == record.tokens


@pytest.mark.parametrize(
    ("pieces", "tokens", "words"),
    [
        (("<s>", "ÑĩÐµÑģÑĤ", "Ð½Ð¾Ðµ", "ĠÑģÐ»", "Ð¾Ð²Ð¾"), "<s> чест ное сл ово", "<s> честное слово"),
        (("It", "âĢĻ", "s", "ĠnaÃ¯ve"), "It ’ s naïve", "It’s naïve"),
        (("tab", "ĉ", "here", "Ċ", "Ġnew"), "tab ⇥ here ↵ new", "tab ⇥ here ↵ new"),
        (("a", "ĠðŁ", "ĺ", "Ģ"), "a [U+1F600]1/3 [U+1F600]2/3 [U+1F600]3/3", "a 😀"),
        (("▁a", "▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "<0x0A>"), None, "a 😀 ↵"),
        (("caf", "Ã©</w>", "isn</w>"), "caf é isn", "café isn"),
    ],
)
def test_pieces_in_bytes_are_shown_as_their_text(pieces, tokens, words):
    record = from_arrays(np.full((1, 1, len(pieces), len(pieces)), 1 / len(pieces)), pieces)
    if tokens is not None:
        assert " ".join(record.tokens) == tokens
    assert record.pieces == pieces
    assert " ".join(view(record, merged=True).tokens) == words


@pytest.mark.parametrize(
    "tokens",
    [
        ("naïve", "café", "£5"),
        ("kočka", "spí"),
        ("być", "albo", "nie"),
        ("a", "##Ã©", "Ġ"),
        ("New York", " a", "b\n"),
        ("Ã", "ï", "b"),
    ],
)
def test_words_in_letters_are_left_as_they_are(tokens):
    record = from_arrays(np.full((1, 1, len(tokens), len(tokens)), 1 / len(tokens)), tokens)
    assert record.tokens == record.pieces == tokens
    assert record.roles[0] == "word"


def test_tokens_beside_the_pieces_of_their_tokenizer_are_left_as_they_are():
    record = from_arrays(PATTERN, ("Ã©", "b", "c"), pieces=("ÃĥÂ©", "Ġb", "Ġc"))
    assert (record.tokens, record.pieces) == (("Ã©", "b", "c"), ("ÃĥÂ©", "Ġb", "Ġc"))
    assert record.roles == ("word", "word", "word")
    with pytest.raises(ValueError, match="there are 2 pieces for 3 positions"):
        from_arrays(PATTERN, ("a", "b", "c"), pieces=("a", "b"))


@pytest.mark.parametrize(
    ("n", "grid", "tokens"),
    [
        (4, None, ("r0c0", "r0c1", "r1c0", "r1c1")),
        (5, None, ("[CLS]", "r0c0", "r0c1", "r1c0", "r1c1")),
        (4, (1, 2), ("[CLS]", "[1]", "r0c0", "r0c1")),
    ],
)
def test_patches_are_named_and_what_stands_before_them_is_none(n, grid, tokens):
    pattern = np.full((1, 1, n, n), 1 / n)
    record = from_arrays(pattern, patch_grid=grid, picture=np.zeros((4, 4), np.uint8))
    assert record.tokens == tokens
    assert record.first_patch == sum(not token.startswith("r") for token in tokens)
    assert record.unit == "patch"


@pytest.mark.parametrize(
    ("n", "sides"), [(7, (4, 4)), (8, (4, 4)), (12, (4, 4)), (35, (4, 4)), (16, (32, 64))]
)
def test_a_grid_that_does_not_follow_from_positions_and_picture_is_asked_for(n, sides):
    message = (
        rf"patch_grid=\(rows, columns\), for {n} positions and a picture of {sides[0]} × {sides[1]} pixels"
    )
    with pytest.raises(ValueError, match=message):
        from_arrays(np.full((1, 1, n, n), 1 / n), picture=np.zeros(sides, np.uint8))


def test_positions_can_come_after_the_patches():
    pattern, tokens = np.full((1, 1, 8, 8), 1 / 8), ["[CLS]", *"abcdef", "[detection 1]"]
    roles = ["class", *["patch"] * 6, "special"]
    record = from_arrays(pattern, tokens, roles=roles, patch_grid=(2, 3))
    assert (record.patches, record.patch_at(6), record.patch_at(7)) == (slice(1, 7), 5, None)
    with pytest.raises(ValueError, match="6 positions, one after the other, must be the patches"):
        from_arrays(pattern, tokens, roles=[*["patch"] * 5, "special", "patch", "special"], patch_grid=(2, 3))


@pytest.mark.parametrize(
    ("arguments", "why"),
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
def test_what_is_no_attention_is_refused(arguments, why):
    with pytest.raises(ValueError, match=why):
        from_arrays(*arguments)


def test_more_than_can_be_shown_is_refused(monkeypatch):
    monkeypatch.setattr(bare, "MOST_HEADS", 7)
    with pytest.raises(ValueError, match="too large to be shown"):
        from_arrays(PATTERN, TOKENS)
