import math
from dataclasses import replace

import numpy as np
import pytest

from model.capture import capture
from model.capture.intervention import MaskChoice, masked
from model.measures.head_statistics import (
    STATISTICS,
    attention_by_kind,
    attention_shares,
    can_depend_on_input,
    clearest_head,
    reachable_positions,
    shares_by_kind,
    statistics,
)
from model.measures.word_view import view
from model.record import AttentionRecord
from model.record.from_arrays import from_arrays
from tests.model import tiny
from tests.tolerance import rounding


def of_rows(rows: list[list[float]], tokens: tuple[str, ...], **more: object) -> AttentionRecord:
    return from_arrays(np.array([[rows]], np.float32), tokens, **more)


def random(n: int, seed: int = 0, **more: object) -> AttentionRecord:
    pattern = np.random.default_rng(seed).dirichlet(np.full(n, 0.3), size=(2, 3, n)).astype(np.float32)
    return from_arrays(pattern, **more)


# By hand


def test_two_tokens():
    result = statistics(of_rows([[0.75, 0.25], [0.5, 0.5]], ("good", "film")))
    entropy = (1 + (-0.75 * math.log(0.75) - 0.25 * math.log(0.25)) / math.log(2)) / 2
    by_hand = {
        "entropy": entropy,
        "confidence": (0.75 + 0.5) / 2,
        "distance": (0.25 + 0.5) / 2,
        "previous": 0.5 / 2,
        "next": 0.25 / 2,
        "same": (0.75 + 0.5) / 2,
        "first": (0.75 + 0.5) / 2,
        "sink": (0.75 + 0.5) / 2,
    }
    assert list(result) == [name for name in STATISTICS if name != "separator"]
    for name, value in by_hand.items():
        np.testing.assert_allclose(result[name], [[value]], rtol=rounding(20), err_msg=name)


def test_special_tokens_count_as_keys_but_their_own_largest_weight_does_not():
    rows = [[0.0, 0.0, 1.0], [0.25, 0.5, 0.25], [1.0, 0.0, 0.0]]
    result = statistics(of_rows(rows, ("[CLS]", "film", "[SEP]")))
    assert result["confidence"] == pytest.approx(0.5)
    assert result["separator"] == pytest.approx((1 + 0.25 + 0) / 3)
    assert result["first"] == pytest.approx((0 + 0.25 + 1) / 3)
    assert result["sink"] == pytest.approx((1 + 0.25 + 0) / 3)


def test_without_a_word_there_is_no_confidence():
    assert "confidence" not in statistics(of_rows([[0.5, 0.5], [1.0, 0.0]], ("[CLS]", "[SEP]")))


def test_of_weights_that_do_not_add_up_to_1_only_shares_remain():
    """The weight on itself is 0.3 of 0.6 in all."""
    result = statistics(of_rows([[0.1, 0.3], [0.0, 0.2]], ("good", "film")))
    assert set(result) == {"previous", "next", "same", "first"}
    assert result["same"] == pytest.approx(0.5)


def test_a_head_without_any_weight_looks_nowhere():
    result = statistics(
        of_rows([[0.0, 0.0], [0.0, 0.0]], ("good", "film"), mask=np.zeros((1, 1, 2, 2), bool))
    )
    assert all(float(values[0, 0]) == 0 for values in result.values())


# What an input does not have


def test_patches_have_no_neighbour_in_line_and_their_first_token_is_the_class_token():
    digit = statistics(capture(tiny.loaded(tiny.DIGIT), np.eye(8, dtype=np.uint8) * 255))
    assert list(digit) == ["entropy", "confidence", "distance", "same", "first", "sink"]
    assert "first" not in statistics(random(4, tokens=None, patch_grid=(2, 2)))


def test_keys_of_another_input_are_no_neighbours():
    record = from_arrays(np.array([[[[0.2, 0.8]], [[0.5, 0.5]]]]), ("a",), keys=("x", "[SEP]"))
    result = statistics(record)
    assert list(result) == ["entropy", "confidence", "first", "separator", "sink"]
    np.testing.assert_allclose(result["separator"], [[0.8, 0.5]])


# Written anew, cell by cell


def anew(record: AttentionRecord) -> dict[str, np.ndarray]:
    n_layers, n_heads, n, _ = record.pattern.shape
    result = {name: np.zeros((n_layers, n_heads)) for name in STATISTICS}
    words = [i for i in range(n) if record.roles[i] not in ("class", "separator", "padding", "special")]
    for layer, head in np.ndindex(n_layers, n_heads):
        weights = record.pattern[layer, head].astype(float)
        allowed = record.mask[layer, head]
        total = weights.sum()
        entropies = []
        for i in range(n):
            nats = -sum(w * math.log(w) for w in weights[i] if w > 0)
            entropies.append(nats / math.log(allowed[i].sum()) if allowed[i].sum() > 1 else 0)
        result["entropy"][layer, head] = np.mean(entropies)
        result["confidence"][layer, head] = np.mean([max(weights[i]) for i in words])
        for i, j in np.ndindex(n, n):
            result["distance"][layer, head] += weights[i, j] * abs(i - j) / n
            for name, counts in {
                "previous": j == i - 1,
                "next": j == i + 1,
                "same": i == j,
                "first": j == 0,
                "separator": record.roles[j] == "separator",
            }.items():
                result[name][layer, head] += weights[i, j] * counts / total
        result["sink"][layer, head] = max(np.mean(weights[:, j]) for j in range(n))
    return result


@pytest.mark.parametrize(
    "choice", [MaskChoice(), MaskChoice(kind="causal"), MaskChoice(kind="window", radius=1)]
)
def test_of_an_encoder_as_written_anew(choice):
    record = capture(tiny.loaded(tiny.TEXT), "not great films, not at all", masked(choice))
    result = statistics(record)
    assert tuple(result) == STATISTICS
    for name, values in anew(record).items():
        np.testing.assert_allclose(
            result[name], values, rtol=rounding(10 * len(record)), atol=rounding(len(record)), err_msg=name
        )


def test_of_words_whose_pieces_are_merged():
    record = capture(tiny.loaded(replace(tiny.TEXT, n_positions=20)), "not great films")
    words = view(record, merged=True)
    assert len(words) < len(record)
    result = statistics(words)
    for name, values in anew(words).items():
        np.testing.assert_allclose(result[name], values, rtol=1e-5, atol=1e-6, err_msg=name)


# What always holds


def test_shares_of_every_head_and_the_largest_on_the_next_token():
    record = capture(tiny.loaded(tiny.TEXT), "not great film")
    result = shares_by_kind(record)
    assert set(result) == {
        "the next token",
        "the token before",
        "the query itself",
        "the class token",
        "the separator [SEP]",
    }
    layer, head = clearest_head(record)
    by_hand = sum(
        record.pattern[layer, head, options, options + 1] for options in range(len(record) - 1)
    ) / len(record)
    assert by_hand == pytest.approx(result["the next token"].max())


def test_kinds_overlap():
    """[CLS] a b c [SEP]: each query gives c 0.4, [CLS] 0.3 and b 0.3."""
    row = np.array([0.3, 0, 0.3, 0.4, 0])
    record = from_arrays(np.tile(row, (1, 1, 5, 1)), ("[CLS]", "a", "b", "c", "[SEP]"))
    result = attention_by_kind(record, 0, 0)
    assert result.kinds == pytest.approx(
        {
            "the class token": 0.3,
            "the query itself": (0.3 + 0.3 + 0.4) / 5,
            "the next token": (0.3 + 0.4) / 5,
            "the token before": (0.3 + 0.3 + 0.4) / 5,
            "the separator [SEP]": 0,
        }
    )
    assert (result.key, result.largest) == (3, pytest.approx(0.4))
    assert result.short_names == ("neighbours", "itself", "[CLS]", "[SEP]")


def test_patches_have_no_next_one():
    record = capture(tiny.loaded(tiny.DIGIT), np.eye(8, dtype=np.uint8) * 255)
    assert set(shares_by_kind(record)) == {"the query itself", "the class token"}
    assert np.ravel_multi_index(clearest_head(record), record.pattern.shape[:2]) >= 0


def test_reach_goes_through_the_layers():
    window = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) <= 1
    assert reachable_positions(np.stack([window[None]] * 2), [0]).tolist() == [True, True, True, False, False]


def test_one_head_that_sees_is_enough():
    mask = np.zeros((1, 2, 3, 3), bool)
    mask[0, 1, 0, 2] = True
    assert reachable_positions(mask, [0]).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("choice", "depends"),
    [
        (MaskChoice(kind="none"), True),
        (MaskChoice(kind="causal"), False),
        (MaskChoice(kind="causal", layers=(0,)), True),
        (MaskChoice(kind="window", radius=0), False),
        (MaskChoice(kind="window", radius=1), True),
    ],
)
def test_under_some_masks_the_answer_is_of_no_text(choice, depends):
    loaded = tiny.loaded(tiny.TEXT)
    first, second = (capture(loaded, text, masked(choice)) for text in ("not great film", "great great"))
    assert can_depend_on_input(first) == depends
    assert np.allclose(first.logits, second.logits) != depends


def test_a_mean_over_the_positions_depends_on_each():
    loaded = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    assert can_depend_on_input(capture(loaded, "great film", masked(MaskChoice(kind="window", radius=0))))


def test_of_merged_words_the_next_one_is_a_word():
    record = capture(tiny.loaded(tiny.TEXT), "not great films")
    words = view(record, merged=True)
    assert "films" in words.tokens
    result = shares_by_kind(words)
    assert {"the next word", "the word before"} < set(result)
    np.testing.assert_allclose(result["the next word"], attention_shares(words)["next"])


def test_keys_that_are_no_queries_are_no_neighbours():
    record = from_arrays(np.array([[[[0.2, 0.8]], [[0.5, 0.5]]]]), ("a",), keys=("x", "[SEP]"))
    result = shares_by_kind(record)
    assert set(result) == {"the first token", "the separator [SEP]"}
    np.testing.assert_allclose(result["the separator [SEP]"], [[0.8, 0.5]])
    assert clearest_head(record) == (0, 0)
