"""May a map be read as an explanation of this answer? What it scores highly is taken away, and the answer looked at.

The effect of a token or patch is how far the answer falls when it alone is knocked out (`model.experiments.knock_out.falls`): the
fall of the log-odds of the predicted class, in nats, below 0 where the answer becomes surer. What speaks against an
answer explains it no more than what does nothing, so one sign is used throughout. (An encoder that chooses no class has
the cosine distance of its pooled state in the place of the fall; that is never below 0.)

A map may be read as an explanation of the answer to one input, by one kind of knock-out, where both of these hold:
1. Spearman's correlation of the map's scores with the effects is at least LEAST_CORRELATION, with p < SIGNIFICANT
   (two-sided, by permuting; not corrected for how many maps one looks at).
2. Taking positions away in the order of the scores makes the answer fall sooner than chance: the area under its
   deletion curve is above the mean of N_ORDERS random orders by more than BAND of their standard deviations.

The perfect map has the effects themselves as its scores. Where even that one fails, no map can be judged on this input:
it has too few positions, nothing moves its answer, or its positions are too few, or act together too much, for one order
to be told from random ones. Such an input counts neither for a map nor against it.

The thresholds are a convention of this project. A map that passes agrees with knock-outs on this input, no more; one
that does not may still be right about something that knock-outs do not measure.

Sources: correlation with knock-out as in Abnar & Zuidema 2020; permuted attention as in Jain & Wallace 2019, and what
that does not show in Wiegreffe & Pinter 2019; deletion and insertion as in Petsiuk, Das & Saenko 2018.
"""

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from ..capture import capture
from ..capture.intervention import Intervention, at_temperature, permuted_attention
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..measures.changes import answer_drop, cosine_distance, total_variation
from ..record import AttentionRecord, Positions
from .knock_out import Kind, compared, falls, knock_out, knocked_out
from .probabilities import probabilities

LEAST_CORRELATION, SIGNIFICANT, BAND = 0.5, 0.05, 2.0
FEWEST = 5  # positions; of 4, no order of the effects has p < 0.05
LEAST_EFFECT = 0.1  # nats, or of the cosine distance: below it an effect counts as none
N_ORDERS = 10  # random orders that a deletion curve is compared with
N_STEPS = 10  # of a curve: in each about a tenth of the positions is taken away
N_PERMUTATIONS = 4  # of the attention
N_SHUFFLES = 4_999  # of the effects, for p
_Z = 1.959964  # of the normal distribution, for an interval of 95 %


def scores_of(
    record: AttentionRecord, layer: int, head: int, *, classified: bool | None = None
) -> Float[np.ndarray, " key"]:
    """How much a map gives to each position: the class token's row, where that is `classified`, or else the mean row.

    The mean is over the queries that are no padding. `classified` None: as the record says.
    """
    classified = record.has_class_token if classified is None else classified
    return scores_under(record.pattern[layer, head], record, classified=classified)


def scores_under(
    pattern: Float[np.ndarray, "query key"], read: Positions, *, classified: bool
) -> Float[np.ndarray, " key"]:
    """The same for any map over the positions that were `read`."""
    if classified:
        return pattern[0].astype(float)
    queries = [at for at, role in enumerate(read.roles) if role != "padding"]
    return pattern[queries].mean(axis=0, dtype=float)


class Agreement(NamedTuple):
    """Of scores with effects. Arrays of one number a map; NaN where all scores, or all effects, are the same."""

    spearman: Float[np.ndarray, "*maps"]  # from -1 to 1
    p: Float[np.ndarray, "*maps"]  # share of the orders of the effects that correlate as strongly, either way
    low: Float[np.ndarray, "*maps"]  # an interval of 95 %; NaN for fewer than 4 positions
    high: Float[np.ndarray, "*maps"]
    n: int  # positions


def agreement(
    scores: Float[np.ndarray, "*maps position"], effect: Float[np.ndarray, " position"], seed: int = 0
) -> Agreement:
    """Spearman's rank correlation, ties at their mean rank, of each map's scores with the effects.

    p = (1 + number of N_SHUFFLES random orders of the effects with |ρ'| ≥ |ρ|) / (1 + N_SHUFFLES). The interval is
    tanh(atanh ρ ± 1.96 sqrt((1 + ρ²/2) / (n - 3))) (Bonett & Wright 2000), as if positions were drawn independently.
    """
    maps, n = scores.shape[:-1], scores.shape[-1]
    if n < 2:
        nothing = np.full(maps, np.nan)
        return Agreement(nothing, nothing, nothing, nothing, n)
    ranks, others = _standard_ranks(scores.reshape(-1, n)), _standard_ranks(effect)
    found = np.clip(ranks @ others, -1, 1)
    shuffled = np.random.default_rng(seed).permuted(np.tile(others, (N_SHUFFLES, 1)), axis=1)
    # equal correlations, summed in another order, may differ in the last digits
    as_strong = np.abs(ranks @ shuffled.T) >= np.abs(found)[:, None] - 1e-9
    p = np.where(np.isnan(found), np.nan, (1 + as_strong.sum(axis=1)) / (1 + N_SHUFFLES))
    with np.errstate(divide="ignore"):
        middle = np.arctanh(found)
    reach = _Z * np.sqrt((1 + found**2 / 2) / (n - 3)) if n > 3 else np.full_like(found, np.nan)
    low, high = np.tanh(middle - reach), np.tanh(middle + reach)
    return Agreement(*(each.reshape(maps) for each in (found, p, low, high)), n)


def _standard_ranks(values: Float[np.ndarray, "*maps position"]) -> Float[np.ndarray, "*maps position"]:
    """Ranks minus their mean, of length 1; NaN where all are equal."""
    # Not scipy's rankdata: importing scipy.stats takes longer than the first page has.
    ranks = pd.DataFrame(np.atleast_2d(values)).rank(axis=1).to_numpy().reshape(values.shape)
    ranks = ranks - ranks.mean(axis=-1, keepdims=True)  # pandas hands out what cannot be written to
    length = np.linalg.norm(ranks, axis=-1, keepdims=True)
    return np.divide(ranks, length, out=np.full_like(ranks, np.nan), where=length > 0)


def correlates(found: Agreement) -> Bool[np.ndarray, "*maps"]:
    """The first part of the rule."""
    return np.asarray((found.spearman >= LEAST_CORRELATION) & (found.p < SIGNIFICANT))


# Deletion and insertion


def order_of(
    scores: Float[np.ndarray, " position"] | Mapping[int, float], positions: Sequence[int]
) -> tuple[int, ...]:
    """These positions, each of which has one of the `scores`, from the highest score to the lowest; of equal scores the first position comes first."""
    return tuple(sorted(positions, key=lambda at: -scores[at]))


def random_orders(positions: Sequence[int], n: int = N_ORDERS) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(np.random.default_rng(seed).permutation(positions).tolist()) for seed in range(n))


def steps(n: int) -> tuple[int, ...]:
    """How many of `n` positions are gone at each point of a curve: from 0 to n, the same from either end."""
    half = {n * step // N_STEPS for step in range(N_STEPS // 2 + 1)}
    return tuple(sorted(half | {n - count for count in half}))


def deletion(
    loaded: Loaded, given: InputLike, orders: Sequence[Sequence[int]], kind: Kind = "keys"
) -> Float[np.ndarray, "order step"]:
    """How far the answer has fallen when the first k positions of an order are gone, k in `steps`; 0 at the start.

    In nats of the log-odds of the predicted class, or in cosine distance, as `model.experiments.knock_out.falls` has it. Each order
    holds the same positions.

    Insertion is the same read backwards: with the first k of an order present, the first n - k of the reversed one
    are gone. So the curve of insertion is `deletion(loaded, given, [order[::-1]])[0, ::-1]`.
    """
    counts = steps(len(orders[0]))
    sets = [tuple(sorted(order[:k])) for order in orders for k in counts]
    distinct = list(dict.fromkeys(sets))  # all orders begin and end with the same
    answers = probabilities(loaded, [given], knocked_out(loaded, given, distinct, kind))[0]
    whole = answers[distinct.index(())]
    followed = int(whole.argmax()) if loaded.config.chooses else None
    by_set = dict(zip(distinct, answer_drop(whole, answers, followed).tolist(), strict=True))
    return np.array([by_set[some] for some in sets]).reshape(len(orders), len(counts))


def area(curve: Float[np.ndarray, "*curves step"], n: int) -> Float[np.ndarray, "*curves"]:
    """Under a curve over `steps(n)` by the trapezoidal rule: x the share of the n positions from 0 to 1, y the curve's."""
    return np.asarray(np.trapezoid(curve, np.array(steps(n)) / max(n, 1), axis=-1))


# What the attention itself is worth


class OtherAttention(NamedTuple):
    """How far the answer moves: total variation of the prediction; without classes, cosine distance of the pooled state."""

    uniform: float  # every row spread evenly over the keys that it may attend to
    permuted: tuple[float, ...]  # every row's weights in a random order among those keys, for each seed


def other_attention(loaded: Loaded, given: InputLike, n: int = N_PERMUTATIONS) -> OtherAttention:
    """In all layers and heads at once. Jain & Wallace 2019 permuted the one attention layer of a recurrent model."""
    roles = prepare(loaded, given)[1].roles
    keys = None if "padding" not in roles else [at for at, role in enumerate(roles) if role != "padding"]
    permuted = [permuted_attention(seed, loaded.config.n_layers, keys) for seed in range(n)]
    answers = probabilities(loaded, [given], (Intervention(), at_temperature(math.inf), *permuted))[0]
    moved = total_variation if loaded.config.chooses else cosine_distance
    uniform, *others = moved(answers[:1], answers[1:]).tolist()
    return OtherAttention(uniform, tuple(others))


# The rule


class Untold(Enum):
    """Why no map can be judged on an input: even the perfect one fails."""

    TOO_FEW = "too few positions"
    UNMOVED = "no knock-out moves the answer"
    NO_SOONER = (
        "taken away in the order of their effects, they lower the answer no sooner than in random orders"
    )


class Deletion(NamedTuple):
    """Areas under deletion curves of one input, in nats or in cosine distance."""

    perfect: float  # in the order of the effects
    random: Float[np.ndarray, " order"]

    @property
    def bound(self) -> float:
        """What an area has to exceed."""
        return float(self.random.mean() + BAND * self.random.std(ddof=1))


def untold(effect: Float[np.ndarray, " position"], deleted: Deletion | None) -> Untold | None:
    """Why no map of an input with these effects can be judged; None where the perfect map passes the rule.

    `deleted` may be missing where there are too few positions, or where all effects are the same.
    """
    if len(effect) < FEWEST:
        return Untold.TOO_FEW
    if np.ptp(effect) == 0 or deleted is None or not deleted.perfect > deleted.bound:
        return Untold.UNMOVED if np.abs(effect).max() < LEAST_EFFECT else Untold.NO_SOONER
    return None


class Verdict(NamedTuple):
    """Whether a map may be read as an explanation of this answer, and from what that follows; see the module's rule."""

    spearman: float
    p: float
    low: float
    high: float
    n: int
    correlates: bool
    area: float | None  # under the deletion curve of the map; None where it was not computed
    deleted: Deletion | None  # of the same input; None where it was not computed
    untold: Untold | None  # why no map can be judged here; None where one can, or where that is not known yet

    @property
    def deletes(self) -> bool | None:
        """The second part of the rule; None where it was not computed."""
        return None if self.area is None or self.deleted is None else self.area > self.deleted.bound

    @property
    def readable(self) -> bool | None:
        """None where no map can be judged on this input, or the curves are not known."""
        if self.untold is not None or self.deleted is None:
            return None
        return False if not self.correlates else self.deletes


def verdict(
    of_map: Agreement,
    effect: Float[np.ndarray, " position"],
    curve: Float[np.ndarray, " step"] | None = None,
    perfect: Float[np.ndarray, " step"] | None = None,
    random: Float[np.ndarray, "order step"] | None = None,
) -> Verdict:
    """Of one map's agreement with the effects, and of the deletion curves in its order, in that of the effects, and in
    random ones, where they were computed."""
    numbers = (float(value) for value in (of_map.spearman, of_map.p, of_map.low, of_map.high))
    first = (*numbers, of_map.n, bool(correlates(of_map)))
    if curve is None or perfect is None or random is None:
        return Verdict(*first, None, None, Untold.TOO_FEW if of_map.n < FEWEST else None)
    deleted = Deletion(float(area(perfect, of_map.n)), area(random, of_map.n))
    return Verdict(*first, float(area(curve, of_map.n)), deleted, untold(effect, deleted))


class Judged(NamedTuple):
    """Maps of one input."""

    agreement: Agreement
    readable: Bool[np.ndarray, "*maps"]  # False for all where no map can be judged


class JudgedInput(NamedTuple):
    maps: dict[str, Judged]
    untold: Untold | None  # why no map can be judged on this input


def faithfulness(
    loaded: Loaded,
    given: InputLike,
    maps: Mapping[str, Float[np.ndarray, "*maps position"]],
    kind: Kind = "keys",
) -> JudgedInput:
    """By name, for the scores of maps on all positions of the input (`scores_of`), such as [layer, head, position].

    One set of knock-outs and of random orders serves all maps; a map has curves computed only where the first part of
    the rule holds.
    """
    record = capture(loaded, given)
    positions = list(compared(record))
    effect = falls(record, knock_out(loaded, given, kind, positions))
    agreements = {name: agreement(scores[..., positions], effect) for name, scores in maps.items()}
    readable = {name: np.zeros_like(correlates(of_maps)) for name, of_maps in agreements.items()}
    n, deleted = len(positions), None
    candidates: list[tuple] = []
    if n >= FEWEST and np.ptp(effect) > 0:
        candidates = [
            (name, *index)
            for name, of_maps in agreements.items()
            for index in np.argwhere(correlates(of_maps))
        ]
        perfect = order_of(dict(zip(positions, effect.tolist(), strict=True)), positions)
        orders = [order_of(maps[name][tuple(index)], positions) for name, *index in candidates]
        areas = area(deletion(loaded, given, (*random_orders(positions), perfect, *orders), kind), n)
        deleted = Deletion(float(areas[N_ORDERS]), areas[:N_ORDERS])
    reason = untold(effect, deleted)
    if reason is None:
        for (name, *index), own in zip(candidates, areas[N_ORDERS + 1 :], strict=True):
            readable[name][tuple(index)] = own > deleted.bound
    judged = {name: Judged(of_maps, readable[name]) for name, of_maps in agreements.items()}
    return JudgedInput(judged, reason)
