from dataclasses import replace
from functools import partial

import jaxtyping
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.capture import activations, capture
from model.experiments import batching
from model.experiments.ablation import ablate_heads
from model.experiments.patching import (
    Pairs,
    n_parts,
    pair_positions,
    patch_feed_forwards,
    patch_heads,
    patch_positions,
    patch_positions_in_steps,
)
from model.hooks import watch
from model.loaded import Loaded
from tests.model import tiny
from tests.model.experiments.known_heads import answer_with, uniform_encoder
from tests.model.huggingface.folders import encoder
from tests.model.tiny import CLOSE, DIGIT, TEXT, changed_at, encoders

SENTENCE, OTHER = "not great film a b", "great great film b b"
LONGER = "not a great film a b"


def other_than(given_input):
    """Another input of the same length."""
    return given_input.replace("great", "a") if isinstance(given_input, str) else 255 - given_input


def heads_one_by_one(loaded: Loaded, one, source, pairs: Pairs, part="z") -> np.ndarray:
    """With the part of each head by itself, of each group of heads where they share keys and values."""
    theirs, config = getattr(capture(loaded, source), part), loaded.config
    n_groups = (part in "kv" and config.family.parts.n_key_heads) or config.n_heads
    result = []
    for layer in range(config.n_layers):
        for group in np.array_split(np.arange(config.n_heads), n_groups):
            own, other = (np.ix_(group, positions) for positions in pairs)
            change = changed_at((0, *own), torch.tensor(theirs[layer][other]))
            result.append(answer_with(loaded, one, f"blocks.{layer}.attention.{part}", change))
    return np.array(result).reshape(config.n_layers, n_groups, -1)


def feed_forwards_one_by_one(loaded: Loaded, one, source, pairs: Pairs) -> np.ndarray:
    names = [f"blocks.{layer}.feed_forward_out" for layer in range(loaded.config.n_layers)]
    theirs = activations(loaded, [source], names)
    own, other = map(list, pairs)
    return np.array(
        [answer_with(loaded, one, name, changed_at((0, own), theirs[name][0, other])) for name in names]
    )


def positions_one_by_one(loaded: Loaded, one, source, pairs: Pairs) -> np.ndarray:
    theirs, n = capture(loaded, source).residual, len(capture(loaded, one))
    names = ["embedding.output"]
    for layer in range(loaded.config.n_layers):
        names += [f"blocks.{layer}.resid_mid", f"blocks.{layer}.resid_post"]
    result = None
    for stage, name in enumerate(names):
        for own, other in zip(*pairs, strict=True):
            change = changed_at((0, own), torch.tensor(theirs[stage, other]))
            answer = answer_with(loaded, one, name, change)
            if result is None:
                result = np.full((len(names), n, len(answer)), np.nan)
            result[stage, own] = answer
    return result


PARTS = {
    **{
        part: (partial(patch_heads, part=part), partial(heads_one_by_one, part=part))
        for part in ("z", "q", "k", "v")
    },
    "feed-forwards": (patch_feed_forwards, feed_forwards_one_by_one),
    "positions": (patch_positions, positions_one_by_one),
}
parts = pytest.mark.parametrize(("patch", "plainly"), PARTS.values(), ids=PARTS)


def all_of(n: int) -> Pairs:
    return Pairs(tuple(range(n)), tuple(range(n)))


@pytest.mark.rest_is_slow
@encoders
@parts
def test_each_part_is_as_in_a_forward_of_its_own(loaded, given_input, patch, plainly, monkeypatch):
    source = other_than(given_input)
    every = all_of(len(capture(loaded, given_input)))
    expected = plainly(loaded, given_input, source, every)
    for numbers in (batching.NUMBERS_AT_ONCE, 1):
        monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", numbers)
        np.testing.assert_allclose(patch(loaded, given_input, source), expected, **CLOSE)


@pytest.mark.rest_is_slow
@parts
@pytest.mark.parametrize("placement", ["post", "deepnorm", "b2t"])
def test_other_placements_of_the_norm(placement, patch, plainly):
    loaded = tiny.loaded(replace(TEXT, norm_placement=placement, final_norm=False))
    every = all_of(len(capture(loaded, SENTENCE)))
    np.testing.assert_allclose(
        patch(loaded, SENTENCE, OTHER), plainly(loaded, SENTENCE, OTHER, every), **CLOSE
    )


@pytest.mark.rest_is_slow
@parts
@pytest.mark.parametrize(
    "architecture",
    [
        *("BertModel", "MPNetModel", "AlbertForSequenceClassification"),
        # rotary positions and local attention; shared keys; disentangled attention
        *("ModernBertForSequenceClassification", "EuroBertModel", "DebertaV2ForSequenceClassification"),
    ],
)
def test_imported_encoders(tmp_path, architecture, patch, plainly):
    loaded = encoder(tmp_path, architecture)
    pairs = pair_positions(loaded, SENTENCE, LONGER)
    np.testing.assert_allclose(
        patch(loaded, SENTENCE, LONGER), plainly(loaded, SENTENCE, LONGER, pairs), **CLOSE
    )


def test_keys_that_heads_share_are_one_part(tmp_path):
    loaded = encoder(tmp_path, "EuroBertModel")
    config = loaded.config
    shared = config.family.parts.n_key_heads
    assert shared < config.n_heads
    assert [n_parts(config, part) for part in ("z", "q", "k", "v", "feed-forward")] == [
        config.n_heads, config.n_heads, shared, shared, 1,
    ]  # fmt: skip
    assert patch_heads(loaded, SENTENCE, OTHER, part="v").shape[:2] == (config.n_layers, shared)


def test_an_unknown_part_is_refused(text_loaded, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # types are checked in tests alone
    with pytest.raises(ValueError, match="a part is one of z, q, k, v, feed-forward, got 'scores'"):
        patch_heads(text_loaded, SENTENCE, OTHER, part="scores")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("one", "source"), [(SENTENCE, LONGER), (LONGER, SENTENCE)])
def test_texts_of_different_lengths(text_loaded, one, source):
    pairs = pair_positions(text_loaded, one, source)
    for patch, plainly in PARTS.values():
        result = patch(text_loaded, one, source)
        np.testing.assert_allclose(result, plainly(text_loaded, one, source, pairs), **CLOSE)
    result = patch_positions(text_loaded, one, source)
    positions = range(len(capture(text_loaded, one)))
    missing = [position for position in positions if position not in pairs.input]
    assert np.isnan(result[:, missing]).all()
    assert not np.isnan(np.delete(result, missing, axis=1)).any()


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("text", [SENTENCE, "great [PAD] film"])
def test_a_source_that_is_the_input_changes_nothing(text_loaded, text):
    answer = capture(text_loaded, text).probabilities
    for patch, _ in PARTS.values():
        result = patch(text_loaded, text, text)
        np.testing.assert_allclose(result, np.broadcast_to(answer, result.shape), **CLOSE)


@given(seed=st.integers(0, 1000), picture=st.booleans())
def test_all_that_the_class_token_is_at_the_end_is_the_other_answer(seed, picture):
    """The classifier reads the first position of the last stage alone: patched, it answers to the source."""
    loaded = tiny.loaded(DIGIT if picture else TEXT, seed)
    images = np.random.default_rng(seed).integers(0, 256, (2, 8, 8), dtype=np.uint8)
    one, source = images if picture else (SENTENCE, OTHER)
    result = patch_positions(loaded, one, source)[-1]
    np.testing.assert_allclose(result[0], capture(loaded, source).probabilities, **CLOSE)
    rest = np.broadcast_to(capture(loaded, one).probabilities, result[1:].shape)
    np.testing.assert_allclose(result[1:], rest, **CLOSE)


def test_a_head_that_puts_out_nothing_for_the_source_is_as_ablated(text_loaded):
    """Zeros for z, of a source whose every z is replaced by zeros, are what ablation puts in its place."""
    n_of_source = len(capture(text_loaded, LONGER))

    def source_only(z: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(z) if z.shape[2] == n_of_source else z

    names = [f"blocks.{layer}.attention.z" for layer in range(2)]
    with watch(text_loaded.model, dict.fromkeys(names, source_only)):
        result = patch_heads(text_loaded, SENTENCE, LONGER)
    np.testing.assert_allclose(result, ablate_heads(text_loaded, [SENTENCE])[0], **CLOSE)


def test_the_values_of_the_only_head_with_a_pattern_that_stays_are_its_output():
    """z = A v: with the pattern held, values from the source and the output from the source say the same."""
    loaded = tiny.loaded(replace(TEXT, n_heads=1))
    pattern = capture(loaded, SENTENCE).pattern
    held = {
        f"blocks.{layer}.attention.pattern": lambda x, layer=layer: torch.tensor(pattern[layer]).expand_as(x)
        for layer in range(2)
    }
    with watch(loaded.model, held):
        values, outputs = (patch_heads(loaded, SENTENCE, OTHER, part=part) for part in ("v", "z"))
        queries = patch_heads(loaded, SENTENCE, OTHER, part="q")
        unchanged = capture(loaded, SENTENCE).probabilities
    np.testing.assert_allclose(values, outputs, **CLOSE)
    np.testing.assert_allclose(queries, np.broadcast_to(unchanged, queries.shape), **CLOSE)
    assert np.abs(values - unchanged).max() > 1e-3


def test_positions_come_some_at_a_time(text_loaded, monkeypatch):
    monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", 1)
    steps = list(patch_positions_in_steps(text_loaded, SENTENCE, OTHER))
    # [CLS] not great film a b [SEP]: in the embedding two positions differ, later all seven, each by itself
    assert [len(step.positions) for step in steps] == [5, 1, 1] + [1] * 7 * 4
    assert steps[0].positions == [0, 2, 3, 5, 6]
    assert [step.stage for step in steps[:4]] == [0, 0, 0, 1]


def test_by_hand_with_two_tokens():
    """Uniform attention over two tokens, one head: z = mean of x at both; pooled, x̄ + z."""
    loaded = uniform_encoder(n_heads=1)
    model = loaded.model
    vectors = {"a": (1.0, 0.0), "b": (0.0, 2.0), "c": (4.0, 2.0)}
    with torch.no_grad():
        for letter, vector in vectors.items():
            model.embedding.tokens.weight[loaded.tokenizer.token_to_id(letter)] = torch.tensor(vector)
    model.blocks[0].norm_attention = torch.nn.Identity()  # what attention reads is x itself
    plain = {"embedding.positions": torch.zeros_like, "blocks.0.feed_forward_out": torch.zeros_like}

    def soft(*logits: float) -> np.ndarray:
        return np.exp(logits) / np.exp(logits).sum()

    with watch(model, plain):
        heads, values, queries = (patch_heads(loaded, "a b", "a c", part=part) for part in ("z", "v", "q"))
        positions = patch_positions(loaded, "a b", "a c")
    # "a b": x̄ = z = (0.5, 1). "a c": x̄ = z = (2.5, 1).
    np.testing.assert_allclose(heads[0, 0], soft(0.5 + 2.5, 1 + 1), rtol=1e-5)
    # v is x: its mean is that of "a c". Queries of zeros do not tell where to look.
    np.testing.assert_allclose(values[0, 0], soft(0.5 + 2.5, 1 + 1), rtol=1e-5)
    np.testing.assert_allclose(queries[0, 0], soft(0.5 + 0.5, 1 + 1), rtol=1e-5)
    # at embed: b becomes c before attention, which is all there is to tell the two apart
    np.testing.assert_allclose(positions[0, 1], soft(5, 2), rtol=1e-5)
    np.testing.assert_allclose(positions[0, 0], soft(1, 2), rtol=1e-5)
    # at L0 mid: a is (1, 0) + (2.5, 1) and not + (0.5, 1), so the mean moves by (1, 0)
    np.testing.assert_allclose(positions[1, 0], soft(1 + 1, 2), rtol=1e-5)
    # b is (4, 2) + (2.5, 1) and not (0, 2) + (0.5, 1): the mean moves by (3, 0)
    np.testing.assert_allclose(positions[1, 1], soft(1 + 3, 2), rtol=1e-5)


# Pairs


@pytest.mark.parametrize(
    ("one", "source", "ours", "theirs"),
    [
        ("great film", "a film", (0, 1, 2, 3), (0, 1, 2, 3)),
        # [CLS] great film [SEP] and [CLS] not great film [SEP]
        ("great film", "not great film", (0, 1, 2, 3), (0, 2, 3, 4)),
        ("not great film", "great film", (0, 2, 3, 4), (0, 1, 2, 3)),
        # great is paired with the first of "a b"
        ("great film", "a b film", (0, 1, 2, 3), (0, 1, 3, 4)),
        ("a a", "a a a", (0, 1, 2, 3), (0, 1, 2, 4)),
    ],
)
def test_pairs(text_loaded, one, source, ours, theirs):
    assert pair_positions(text_loaded, one, source) == (ours, theirs)


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=6),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=6),
)
def test_pairs_keep_the_order_and_leave_out_only_what_is_too_much(text_loaded, one, other):
    pairs = pair_positions(text_loaded, " ".join(one), " ".join(other))
    assert len(pairs.input) == len(pairs.source) == min(len(one), len(other)) + 2
    for side in pairs:
        assert list(side) == sorted(set(side))
    assert (pairs.input[0], pairs.source[0]) == (0, 0)
    assert (pairs.input[-1], pairs.source[-1]) == (len(one) + 1, len(other) + 1)


def test_two_kinds_of_input_are_refused(text_loaded, image):
    with pytest.raises(ValueError, match="takes text"):
        patch_heads(text_loaded, SENTENCE, image)
