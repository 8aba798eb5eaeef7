from dataclasses import replace

import numpy as np
import pytest

from model.capture import capture
from model.capture.intervention import MaskChoice, masked
from model.measures.attended_kinds import (
    attention_by_kind,
    can_depend_on_input,
    clearest_head,
    reachable_positions,
    shares_by_kind,
)
from model.measures.head_statistics import attention_shares
from model.measures.word_view import view
from model.record.from_arrays import from_arrays
from tests.model import tiny


def test_shares_of_every_head_and_the_largest_on_the_next_token() -> None:
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


def test_kinds_overlap() -> None:
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


def test_patches_have_no_next_one() -> None:
    record = capture(tiny.loaded(tiny.DIGIT), np.eye(8, dtype=np.uint8) * 255)
    assert set(shares_by_kind(record)) == {"the query itself", "the class token"}
    assert np.ravel_multi_index(clearest_head(record), record.pattern.shape[:2]) >= 0


def test_reach_goes_through_the_layers() -> None:
    window = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) <= 1
    assert reachable_positions(np.stack([window[None]] * 2), [0]).tolist() == [True, True, True, False, False]


def test_one_head_that_sees_is_enough() -> None:
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
def test_under_some_masks_the_answer_is_of_no_text(choice: MaskChoice, depends: bool) -> None:
    loaded = tiny.loaded(tiny.TEXT)
    first, second = (capture(loaded, text, masked(choice)) for text in ("not great film", "great great"))
    assert can_depend_on_input(first) == depends
    assert np.allclose(first.logits, second.logits) != depends


def test_a_mean_over_the_positions_depends_on_each() -> None:
    loaded = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    assert can_depend_on_input(capture(loaded, "great film", masked(MaskChoice(kind="window", radius=0))))


def test_of_merged_words_the_next_one_is_a_word() -> None:
    record = capture(tiny.loaded(tiny.TEXT), "not great films")
    words = view(record, merged=True)
    assert "films" in words.tokens
    result = shares_by_kind(words)
    assert {"the next word", "the word before"} < set(result)
    np.testing.assert_allclose(result["the next word"], attention_shares(words)["next"])


def test_keys_that_are_no_queries_are_no_neighbours() -> None:
    record = from_arrays(np.array([[[[0.2, 0.8]], [[0.5, 0.5]]]]), ("a",), keys=("x", "[SEP]"))
    result = shares_by_kind(record)
    assert set(result) == {"the first token", "the separator [SEP]"}
    np.testing.assert_allclose(result["the separator [SEP]"], [[0.8, 0.5]])
    assert clearest_head(record) == (0, 0)
