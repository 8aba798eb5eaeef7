"""What travels with the chart of all heads."""

from dataclasses import replace

import numpy as np

from model.record import AttentionRecord
from model.record.from_arrays import from_arrays
from tests.viz.attention.test_linked_heads import NOT_GOOD, PATTERN
from tests.viz.scene import shown_texts
from viz.attention import linked_data as module
from viz.attention.linked_data import script_data, stamp_of, value_of_largest_integer, weights_as_integers
from viz.attention.linked_heads import linked_heads


def test_weights_travel_as_whole_numbers_query_by_query():
    numbers = weights_as_integers(NOT_GOOD, (0, 0))
    assert {values.dtype for values in numbers.values()} == {np.dtype(np.uint16)}
    # [query, layer, head, key]: of "not" both heads, then of "good" both heads.
    expected = [[[[63897, 1638], [32768, 32768]]], [[[16384, 49151], [0, 65535]]]]
    assert numbers["weights"].tolist() == expected
    assert numbers["best"].tolist() == [[[0, 0]], [[1, 1]]]
    assert numbers["most"].tolist() == [[[63897, 32768]], [[49151, 65535]]]


def test_weights_come_back_within_half_a_step():
    pattern = np.random.default_rng(0).dirichlet(np.ones(7), (3, 2, 7))
    numbers = weights_as_integers(from_arrays(pattern, list("abcdefg")), (0, 0))
    np.testing.assert_allclose(
        numbers["weights"] / module.TOP, np.moveaxis(pattern, 2, 0), atol=0.51 / module.TOP
    )


def test_what_is_no_weight_between_0_and_1_does_not_wrap_around():
    pattern = np.array([[[[np.nan, 1.5], [-0.5, 1.0]]]])
    record = AttentionRecord(
        tokens=("a", "b"), roles=("word",) * 2, pattern=pattern, mask=np.ones(pattern.shape, bool)
    )
    assert value_of_largest_integer(record) == 1.5
    assert weights_as_integers(record, (0, 0))["weights"].ravel().tolist() == [0, 65535, 0, 43690]
    assert (
        value_of_largest_integer(replace(record, pattern=np.array([[[[np.inf, 1.5], [-np.inf, 1.0]]]])))
        == 1.5
    )
    huge = replace(record, pattern=np.where(pattern == 1.5, 1e30, pattern))
    assert value_of_largest_integer(huge) == 1
    assert weights_as_integers(huge, (0, 0))["weights"].ravel().tolist() == [0, 65535, 0, 65535]


def test_of_a_large_record_the_chosen_head_is_sent_and_of_the_others_the_strongest_keys(monkeypatch):
    monkeypatch.setattr(module, "MOST_WEIGHTS", 7)
    numbers = weights_as_integers(NOT_GOOD, (0, 1))
    assert numbers["weights"].tolist() == [[[[32768, 32768]]], [[[0, 65535]]]]
    assert numbers["best"].shape == numbers["most"].shape == (2, 1, 2)
    figure = linked_heads(NOT_GOOD, selected=(0, 1), query=1)
    assert not figure.frames["state"]["is_whole"].item()
    assert "1.000" in shown_texts(figure)
    assert "0.000" not in shown_texts(figure)  # where the list of the strongest ends


def test_the_stamp_changes_with_tokens_and_with_weights():
    other_weights = PATTERN.copy()
    other_weights[0, 0, 0] = [0.974, 0.026]
    stamps = [
        stamp_of(record)
        for record in (
            NOT_GOOD,
            from_arrays(PATTERN, ["not", "bad"]),
            from_arrays(PATTERN, ["no", "tgood"]),
            from_arrays(other_weights, ["not", "good"]),
        )
    ]
    assert len(set(stamps)) == 4
    assert stamp_of(from_arrays(PATTERN.copy(), ["not", "good"])) == stamps[0]


def test_the_stamp_of_a_large_record_is_made_of_some_of_its_queries(monkeypatch):
    monkeypatch.setattr(module, "_MOST_HASHED", 5)  # of 8 weights: every second query
    first, second = PATTERN.copy(), PATTERN.copy()
    first[0, 1, 0], second[0, 1, 1] = [0.4, 0.6], [0.4, 0.6]
    whole, *changed = (
        stamp_of(from_arrays(pattern, ["not", "good"])) for pattern in (PATTERN, first, second)
    )
    assert [stamp == whole for stamp in changed] == [False, True]


def test_tokens_around_the_patches_are_buttons_and_no_patches():
    roles = ["class", *["patch"] * 6, "special"]
    pattern = np.full((1, 1, 8, 8), 0.1, np.float32)
    pattern[..., 6] = 0.3  # the last patch
    record = from_arrays(pattern, [*"Cabcdef", "D"], roles=roles, patch_grid=(2, 3))
    frames = linked_heads(record, picture=np.zeros((16, 24), np.uint8), query=7).frames
    assert frames["patches"]["position"].tolist() == [1, 2, 3, 4, 5, 6]
    assert frames["picture"][["first", "aspect"]].to_numpy().tolist() == [[1, 1.5]]
    data = script_data(record, channel="x", chart_selector="#x", kept=(0, 0, 7), has_picture=True)
    assert (data["queries"], data["positions"]) == (["C", "D"], [0, 7])
    data = script_data(record, channel="x", chart_selector="#x", kept=(0, 0, 7))
    assert data["positions"] == list(range(8))
