"""Roles of heads, such as "previous-token head", by thresholds on the statistics of `model.measures.head_statistics`.

The rules apply to the statistics of one input or to their means over a data set. On one input a statistic must also exceed
chance: with even weights, a token and its two neighbours get 78, 52 and 31 % of the weight in texts of 3, 5 and 9 tokens.
So a share of attention must also be twice the share with even weights over the same keys, and heads have no roles on inputs
of fewer than `FEWEST` positions.

Clark et al. 2019 (section 3) describe heads that on average put more than half of their attention on the previous token,
the next one or the separator; the rules here use the share of the weight as well. Voita et al. 2019 call a head positional
if its largest weight is on one neighbour for 90 % of the tokens.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float

from ..record import AttentionRecord, Positions
from .head_statistics import statistics, statistics_of_even_weights

HALF = 0.5  # Clark et al. 2019
SINK = 0.3  # Gu et al. 2024
UNIFORM = 0.9  # of the entropy of even weights: over 64 keys as much as even weights over 42 of them have
NEAR = 1.5  # patches: the eight around a patch are 1 or √2 from it
FEWEST = 8  # positions of one input: in fewer, a few words decide the role of a head
TWICE = 2  # times the share that even weights over the same keys would have, on one input
ON_ONE_INPUT = (
    f"on one input, of at least {FEWEST} positions, it also needs {TWICE} times the share (of distances: half the distance) "
    "that even weights over the same keys would give"
)

_AROUND = ("previous", "next", "same")

# The statistics of one head by name; those that an input does not have are missing.
HeadNumbers = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadRole:
    """A role that a head can have: its name, its rule in words, and the function that decides it.

    `holds(numbers, chance)` takes a head's statistics by name, and those of even weights on the same input.
    """

    name: str
    rule: str  # in words
    # called with the numbers of a head and with those of even weights; the latter are empty for means over data
    holds: Callable[[HeadNumbers, HeadNumbers], bool]


def _majority_role(name: str, statistic: str, target: str) -> HeadRole:
    """The role of a head with most of its weight on `target`, such as "the previous token", measured by `statistic`."""
    return HeadRole(
        name=name,
        rule=f"at least half of its weight is on {target}",
        holds=lambda numbers, chance: (
            numbers.get(statistic, 0) >= max(HALF, TWICE * chance.get(statistic, 0))
        ),
    )


def _is_local(numbers: HeadNumbers, chance: HeadNumbers) -> bool:
    shares = [numbers.get(name, 0) for name in _AROUND]
    return (
        sum(shares) >= max(HALF, TWICE * sum(chance.get(name, 0) for name in _AROUND)) and max(shares) < HALF
    )


def _is_local_to_patches(numbers: HeadNumbers, chance: HeadNumbers) -> bool:
    if _attends_to_first(numbers):
        return False
    chance_distance = chance.get("distance", np.inf) / (1 - chance.get("first", 0))
    return numbers.get("distance", np.inf) <= min(NEAR, chance_distance / TWICE) * (
        1 - numbers.get("first", 0)
    )


def _attends_to_first(numbers: HeadNumbers) -> bool:
    return numbers.get("first", 0) >= HALF


def _has_even_weights(numbers: HeadNumbers) -> bool:
    return numbers.get("entropy", 0) >= UNIFORM


def _is_sink(numbers: HeadNumbers, chance: HeadNumbers) -> bool:
    has_other_role = (
        _has_even_weights(numbers) or _attends_to_first(numbers) or numbers.get("separator", 0) >= HALF
    )
    return numbers.get("sink", 0) > max(SINK, TWICE * chance.get("sink", 0)) and not has_other_role


_NEIGHBOURS = (
    _majority_role("previous-token head", "previous", "the token before the query"),
    _majority_role("next-token head", "next", "the token after the query"),
)
_SAME_TOKEN = _majority_role("same-token head", "same", "the query itself")
_SAME_PATCH = _majority_role("same-patch head", "same", "the query itself")
_CLASS = _majority_role("class-token head", "first", "the class token")
_FIRST = _majority_role("first-token head", "first", "the first token")
_SEPARATOR = _majority_role("separator head", "separator", "separators")
_LOCAL_TOKEN = HeadRole(
    name="local head",
    rule="at least half of its weight is on the token before, the token after and the query itself together, but on none "
    "of the three alone",
    holds=_is_local,
)
_LOCAL_PATCH = HeadRole(
    name="local head",
    rule=f"what it gives to patches is on average at most {NEAR} patches away (the eight around a patch are 1 to 1.4 away), "
    "and less than half goes to the class token",
    holds=_is_local_to_patches,
)
_SINK = HeadRole(
    name="sink head",
    rule=f"one key gets more than {SINK} of the weight of every query, on average, and it is not a head for the first token, "
    "for separators or of even weights",
    holds=_is_sink,
)
_UNIFORM = HeadRole(
    name="uniform head",
    rule=f"its entropy is at least {UNIFORM} of that of even weights",
    holds=lambda numbers, _: _has_even_weights(numbers),
)


def possible_roles(record: Positions) -> tuple[HeadRole, ...]:
    """Roles that a head can have on an input of this kind: text or patches, with or without a class token."""
    keys = getattr(record, "attended", record)
    first_role = _CLASS if keys.roles[:1] == ("class",) else _FIRST
    if record.unit == "patch":
        return (_SAME_PATCH, first_role, _LOCAL_PATCH, _SINK, _UNIFORM)
    return (*_NEIGHBOURS, _SAME_TOKEN, first_role, _SEPARATOR, _LOCAL_TOKEN, _SINK, _UNIFORM)


def roles_from_numbers(
    record: Positions,
    numbers: Mapping[str, Float[np.ndarray, "layer head"]],
    layer: int,
    head: int,
    chance: Mapping[str, Float[np.ndarray, "#layer #head"]] | None = None,
) -> tuple[HeadRole, ...]:
    """Roles of one head, often none, decided by its entries in the statistics `numbers`.

    If `numbers` are those of a single input, `chance` holds the statistics of even weights (`statistics_of_even_weights`)
    on it; if they are means over many inputs, it is None.
    """
    if chance is not None and has_too_few_positions(record):
        return ()
    head_numbers = {name: float(values[layer, head]) for name, values in numbers.items()}
    chance_numbers = {
        name: float(np.broadcast_to(values, numbers[name].shape)[layer, head])
        for name, values in (chance or {}).items()
        if name in numbers
    }
    return tuple(role for role in possible_roles(record) if role.holds(head_numbers, chance_numbers))


def has_too_few_positions(positions: Positions) -> bool:
    """Whether the input has fewer than `FEWEST` positions, so that its heads get no roles."""
    return len(getattr(positions, "attended", positions)) < FEWEST


def head_table(record: AttentionRecord) -> pd.DataFrame:
    """A row for each head, layer by layer: `layer`, `head`, `role` (several are joined by commas; often empty), and a column for
    each of `model.measures.head_statistics.statistics` that is defined for the record.

    These are from 0 to 1, except the mean distance, whose column names the unit: `distance (tokens)`.

    >>> from loupe import from_arrays, head_table
    >>> table = head_table(from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"]))
    >>> table[["layer", "head", "entropy", "distance (tokens)"]]
       layer  head  entropy  distance (tokens)
    0      0     0      0.5               0.25
    """
    numbers, chance = statistics(record), statistics_of_even_weights(record)
    heads = list(np.ndindex(record.pattern.shape[:2]))
    roles = [roles_from_numbers(record, numbers, layer, head, chance) for layer, head in heads]
    return pd.DataFrame(
        {
            "layer": [layer for layer, _ in heads],
            "head": [head for _, head in heads],
            "role": [", ".join(role.name for role in held) for held in roles],
            **{
                f"{name} ({record.units})" if name == "distance" else name: values.ravel().astype(float)
                for name, values in numbers.items()
            },
        }
    )
