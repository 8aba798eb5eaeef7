"""Names for heads that do one thing, and the rule that gave each: thresholds on `model.measures.head_statistics`.

The same rules read the numbers of one input, or their means over a data set. On one input a role needs more than chance
besides: even weights put 78, 52 and 31 % on a token and its neighbours in texts of 3, 5 and 9 tokens, so a share counts
from twice what even weights over the same keys would give, and below `FEWEST` positions there are no roles.

Clark et al. 2019 (section 3) speak of heads that put more than half of their attention on the token before, on the next
one or on the separator, on average; Voita et al. 2019 call a head positional whose largest weight is at one neighbour for
90 % of the tokens, and ask this of the largest weight alone. Here the share of the weight decides, as with Clark et al.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..record import AttentionRecord, Positions
from .head_statistics import by_chance, of_one_head, statistics

HALF = 0.5  # Clark et al. 2019
SINK = 0.3  # Gu et al. 2024
UNIFORM = 0.9  # of the entropy of even weights: over 64 keys as much as even weights over 42 of them have
NEAR = 1.5  # patches: the eight around a patch are 1 or √2 from it
FEWEST = 8  # positions of one input: in less, a few words decide what a head looks like
TWICE = 2  # what even weights over the same keys would give, on one input
ON_ONE_INPUT = (
    f"on one input, of at least {FEWEST} positions, it also needs {TWICE} times the share (of distances: half the distance) "
    "that even weights over the same keys would give"
)

_AROUND = ("previous", "next", "same")

Numbers = Mapping[
    str, float
]  # of one head, by the names of `statistics`; what an input does not have is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    name: str
    rule: str  # in words
    # of the numbers of a head, and of what even weights would give, empty where that is not asked
    holds: Callable[[Numbers, Numbers], bool]


def _half_on(name: str, statistic: str, what: str) -> Role:
    return Role(
        name=name,
        rule=f"at least half of its weight is on {what}",
        holds=lambda numbers, chance: (
            numbers.get(statistic, 0) >= max(HALF, TWICE * chance.get(statistic, 0))
        ),
    )


def _near(numbers: Numbers, chance: Numbers) -> bool:
    near = [numbers.get(name, 0) for name in _AROUND]
    return sum(near) >= max(HALF, TWICE * sum(chance.get(name, 0) for name in _AROUND)) and max(near) < HALF


def _near_patches(numbers: Numbers, chance: Numbers) -> bool:
    if _to_first(numbers):
        return False
    by_chance = chance.get("distance", np.inf) / (1 - chance.get("first", 0))
    return numbers.get("distance", np.inf) <= min(NEAR, by_chance / TWICE) * (1 - numbers.get("first", 0))


def _to_first(numbers: Numbers) -> bool:
    return numbers.get("first", 0) >= HALF


def _even(numbers: Numbers) -> bool:
    return numbers.get("entropy", 0) >= UNIFORM


def _sink(numbers: Numbers, chance: Numbers) -> bool:
    other = _even(numbers) or _to_first(numbers) or numbers.get("separator", 0) >= HALF
    return numbers.get("sink", 0) > max(SINK, TWICE * chance.get("sink", 0)) and not other


_NEIGHBOURS = (
    _half_on("previous-token head", "previous", "the token before the query"),
    _half_on("next-token head", "next", "the token after the query"),
)
_SAME_TOKEN = _half_on("same-token head", "same", "the query itself")
_SAME_PATCH = _half_on("same-patch head", "same", "the query itself")
_CLASS = _half_on("class-token head", "first", "the class token")
_FIRST = _half_on("first-token head", "first", "the first token")
_SEPARATOR = _half_on("separator head", "separator", "separators")
_LOCAL_TOKEN = Role(
    name="local head",
    rule="at least half of its weight is on the token before, the token after and the query itself together, but on none "
    "of the three alone",
    holds=_near,
)
_LOCAL_PATCH = Role(
    name="local head",
    rule=f"what it gives to patches is on average at most {NEAR} patches away (the eight around a patch are 1 to 1.4 away), "
    "and less than half goes to the class token",
    holds=_near_patches,
)
_SINK = Role(
    name="sink head",
    rule=f"one key gets more than {SINK} of the weight of every query, on average, and it is not a head for the first token, "
    "for separators or of even weights",
    holds=_sink,
)
_UNIFORM = Role(
    name="uniform head",
    rule=f"its entropy is at least {UNIFORM} of that of even weights",
    holds=lambda numbers, _: _even(numbers),
)


def roles_for(record: Positions) -> tuple[Role, ...]:
    """All that a head can be called on such an input, whose first token may be a class token or not."""
    keys = getattr(record, "attended", record)
    first = _CLASS if keys.roles[:1] == ("class",) else _FIRST
    if record.unit == "patch":
        return (_SAME_PATCH, first, _LOCAL_PATCH, _SINK, _UNIFORM)
    return (*_NEIGHBOURS, _SAME_TOKEN, first, _SEPARATOR, _LOCAL_TOKEN, _SINK, _UNIFORM)


def roles(
    record: Positions,
    numbers: Mapping[str, Float[np.ndarray, "layer head"]],
    layer: int,
    head: int,
    chance: Mapping[str, Float[np.ndarray, "#layer #head"]] | None = None,
) -> tuple[Role, ...]:
    """Those of one head by its `numbers`; often none.

    Without `chance` the numbers are means over inputs of this kind. With it, `model.measures.head_statistics.by_chance` of
    the record, they are those of the record.
    """
    if chance is not None and too_few(record):
        return ()
    of_head = {name: float(values[layer, head]) for name, values in numbers.items()}
    even = {
        name: float(np.broadcast_to(values, numbers[name].shape)[layer, head])
        for name, values in (chance or {}).items()
        if name in numbers
    }
    return tuple(role for role in roles_for(record) if role.holds(of_head, even))


def too_few(read: Positions) -> bool:
    """Whether the input is too short to call a head anything."""
    return len(getattr(read, "attended", read)) < FEWEST


def roles_on(record: AttentionRecord, layer: int, head: int) -> tuple[Role, ...]:
    """Those of one head on one input, computed for that head alone."""
    alone = of_one_head(record, layer, head)
    return roles(alone, statistics(alone), 0, 0, by_chance(alone))
