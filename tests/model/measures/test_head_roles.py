from dataclasses import replace

import numpy as np
import pytest

from model.capture import capture
from model.measures.head_roles import head_table, possible_roles, roles_from_numbers
from model.measures.head_statistics import statistics, statistics_of_even_weights
from model.record.from_arrays import from_arrays
from tests.model import tiny
from tests.model.measures.roles import roles_on_input

N = 9
WORDS = tuple("abcdefghi")
SPECIAL = ("[CLS]", *"bcdefgh", "[SEP]")


def named(pattern: np.ndarray, **more: object) -> list[str]:
    record = from_arrays(np.asarray(pattern, np.float32)[None, None], **more)
    return [
        role.name
        for role in roles_from_numbers(record, statistics(record), 0, 0, statistics_of_even_weights(record))
    ]


def diagonal(offset: int) -> np.ndarray:
    """All weight on the key `offset` further on; at the edge on the query itself."""
    columns = np.clip(np.arange(N) + offset, 0, N - 1)
    return np.eye(N)[columns]


def column(key: int, weight: float = 1) -> np.ndarray:
    """`weight` on one key, the rest spread over all others."""
    pattern = np.full((N, N), (1 - weight) / (N - 1))
    pattern[:, key] = weight
    return pattern


@pytest.mark.parametrize(
    ("pattern", "tokens", "expected"),
    [
        (diagonal(-1), WORDS, "previous-token head"),
        (diagonal(1), WORDS, "next-token head"),
        (diagonal(0), WORDS, "same-token head"),
        (column(0), WORDS, "first-token head"),
        (column(0), SPECIAL, "class-token head"),
        (column(N - 1), SPECIAL, "separator head"),
        (column(4, 0.5), WORDS, "sink head"),
        (np.full((N, N), 1 / N), WORDS, "uniform head"),
        ((diagonal(-1) + diagonal(0) + diagonal(1)) / 3, WORDS, "local head"),
    ],
)
def test_a_head_that_does_one_thing_is_called_after_it(pattern, tokens, expected):
    assert named(pattern, tokens=tokens) == [expected]


def test_a_head_may_have_no_name():
    """Each query looks at two others, some tokens away."""
    assert named((np.roll(np.eye(N), 2, axis=1) + np.roll(np.eye(N), 4, axis=1)) / 2, tokens=WORDS) == []


def test_half_is_enough_and_less_is_not():
    def share(of_it: float) -> np.ndarray:
        return of_it * column(0) + (1 - of_it) * np.roll(np.eye(N), 4, axis=1)

    # One query of nine meets the first token in the other part too.
    assert "first-token head" in named(share(0.46), tokens=WORDS)
    assert "first-token head" not in named(share(0.42), tokens=WORDS)


def patches(pattern: np.ndarray) -> list[str]:
    return named(pattern, patch_grid=(3, 3))


def test_patches_have_names_of_their_own():
    assert patches(np.eye(9)) == ["same-patch head", "local head"]
    beside = np.eye(25)[np.arange(25) + np.where(np.arange(25) % 5 == 4, -1, 1)]
    assert named(beside, patch_grid=(5, 5)) == ["local head"]
    assert patches(np.eye(9)[[8, 7, 6, 5, 3, 3, 2, 1, 0]]) == []
    assert patches(np.full((9, 9), 1 / 9))[-1] == "uniform head"


@pytest.mark.parametrize("n", range(2, 13))
@pytest.mark.parametrize("causal", [False, True])
def test_even_weights_are_not_local_and_have_no_sink_however_short_the_text(n, causal):
    """Of 5 tokens they put 52 % on a query and its neighbours, and of 8 causal ones 34 % on the first."""
    mask = np.tri(n, dtype=bool) if causal else np.ones((n, n), bool)
    even = mask / mask.sum(axis=-1, keepdims=True)
    result = named(even, tokens=tuple("abcdefghijkl"[:n]), mask=mask[None, None])
    # a query with a single key counts as entropy 0, so causal ones are even from 10 tokens on
    assert result == (["uniform head"] if n >= (10 if causal else 8) else [])


@pytest.mark.parametrize("n", [3, 5, 7])
def test_a_short_text_says_nothing_of_a_head(n):
    assert named(np.eye(n), tokens=tuple("abcdefg"[:n])) == []


def test_a_share_counts_from_twice_what_even_weights_would_give():
    """Over 9 tokens those put 31 % around the query: 58 % is more than half, and no name yet; over 18 it is one."""

    def around(n: int, share: float) -> np.ndarray:
        near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1
        near, far = (array / array.sum(axis=-1, keepdims=True) for array in (near, ~near))
        return share * near + (1 - share) * far

    assert "local head" not in named(around(9, 0.58), tokens=tuple("abcdefghi"))
    assert "local head" in named(around(9, 0.66), tokens=tuple("abcdefghi"))
    assert "local head" in named(around(18, 0.58), tokens=tuple("abcdefghijklmnopqr"))


def test_in_a_small_grid_no_patch_is_far():
    """Of 3 by 3 patches, even weights are 1.4 away on average."""
    beside = np.eye(9)[[1, 2, 1, 4, 5, 4, 7, 8, 7]]
    assert patches(beside) == []


def test_a_head_for_the_class_token_is_not_local_though_that_token_has_no_place():
    assert named(np.eye(10)[[0] * 10], patch_grid=(3, 3)) == ["class-token head"]


def test_means_over_many_inputs_are_read_by_the_same_rules():
    record = from_arrays(np.full((1, 2, N, N), 1 / N), WORDS)
    means = {"previous": np.array([[0.6, 0.1]]), "next": np.zeros((1, 2)), "same": np.array([[0.1, 0.2]])}
    assert [role.name for role in roles_from_numbers(record, means, 0, 0)] == ["previous-token head"]
    assert roles_from_numbers(record, means, 0, 1) == ()


LITTLE = 1e-9


@pytest.mark.parametrize(
    ("role", "numbers", "statistic", "beyond"),
    [
        ("previous-token head", {"previous": 0.5}, "previous", -LITTLE),
        ("first-token head", {"first": 0.5}, "first", -LITTLE),
        ("separator head", {"separator": 0.5}, "separator", -LITTLE),
        ("uniform head", {"entropy": 0.9}, "entropy", -LITTLE),
        ("local head", {"previous": 0.25, "same": 0.25}, "same", -LITTLE),
        ("local head", {"previous": 0.5 - LITTLE, "same": 0.25}, "previous", LITTLE),
        ("sink head", {"sink": 0.3 + LITTLE}, "sink", -LITTLE),
        ("sink head", {"sink": 0.4, "separator": 0.5 - LITTLE}, "separator", LITTLE),
        ("sink head", {"sink": 0.4, "first": 0.5 - LITTLE}, "first", LITTLE),
        ("sink head", {"sink": 0.4, "entropy": 0.9 - LITTLE}, "entropy", LITTLE),
    ],
)
def test_a_rule_holds_up_to_its_limit(role, numbers, statistic, beyond):
    """ "At least" a number includes it, "more than" a number does not."""

    def names(values: dict[str, float]) -> list[str]:
        record = from_arrays(np.full((1, 1, N, N), 1 / N), WORDS)
        arrays = {name: np.full((1, 1), value) for name, value in values.items()}
        return [role.name for role in roles_from_numbers(record, arrays, 0, 0)]

    assert role in names(numbers)
    assert role not in names(numbers | {statistic: numbers[statistic] + beyond})


@pytest.mark.parametrize(
    ("distance", "first", "local"),
    [(1.5, 0.0, True), (1.51, 0.0, False), (0.89, 0.4, True), (0.91, 0.4, False)],
)
def test_near_is_measured_over_what_goes_to_patches(distance, first, local):
    record = from_arrays(np.full((1, 1, 9, 9), 1 / 9), patch_grid=(3, 3))
    numbers = {"distance": np.full((1, 1), distance), "first": np.full((1, 1), first)}
    assert ("local head" in [role.name for role in roles_from_numbers(record, numbers, 0, 0)]) == local


def test_numbers_that_are_missing_give_no_name():
    record = from_arrays(np.full((1, 1, N, N), 1 / N), WORDS)
    assert roles_from_numbers(record, {}, 0, 0) == ()
    unknown = {name: np.full((1, 1), np.nan) for name in ("entropy", "previous", "next", "same", "sink")}
    assert roles_from_numbers(record, unknown, 0, 0) == ()


def test_every_name_is_given_once_and_says_its_rule():
    for record in (
        from_arrays(np.full((1, 1, N, N), 1 / N), WORDS),
        from_arrays(np.full((1, 1, N, N), 1 / N), patch_grid=(3, 3)),
    ):
        listed = possible_roles(record)
        assert len({role.name for role in listed}) == len({role.rule for role in listed}) == len(listed)


@pytest.mark.parametrize(
    "config", [tiny.TEXT, replace(tiny.DIGIT, image_size=12, n_positions=10)], ids=["text", "digit"]
)
def test_one_head_alone_is_called_what_it_is_called_among_all(config):
    model_input = "not great films x y z a" if config.is_text else np.eye(12, dtype=np.uint8) * 255
    record = capture(tiny.loaded(config), model_input)
    numbers, chance = statistics(record), statistics_of_even_weights(record)
    result = {
        index: roles_from_numbers(record, numbers, *index, chance)
        for index in np.ndindex(record.pattern.shape[:2])
    }
    assert any(result.values())
    assert result == {index: roles_on_input(record, *index) for index in result}


def record():
    """A head that looks at the token before, and one that spreads its weight."""
    before = np.zeros((N, N))
    before[range(N), [0, *range(N - 1)]] = 1
    return from_arrays(np.stack([before, np.full((N, N), 1 / N)])[None], [f"t{index}" for index in range(N)])


def test_a_row_for_each_head_with_its_numbers():
    table = head_table(record())
    assert table[["layer", "head"]].to_numpy().tolist() == [[0, 0], [0, 1]]
    assert table["entropy"].tolist() == pytest.approx([0, 1])
    assert table["previous"].tolist() == pytest.approx([8 / 9, 8 / 81])
    # The mean of |i - j| over all pairs of nine positions is 80 / 27.
    assert table["distance (tokens)"].tolist() == pytest.approx([8 / 9, 80 / 27])
    assert table["role"].tolist() == ["previous-token head", "uniform head"]


def test_rows_that_do_not_sum_to_1_leave_out_what_they_do_not_have():
    table = head_table(from_arrays(np.full((1, 2, 3, 3), 0.1), ["a", "b", "c"]))
    assert not {"entropy", "distance (tokens)", "sink"} & set(table.columns)
    assert {"layer", "head", "role", "previous"} <= set(table.columns)
    assert len(table) == 2
