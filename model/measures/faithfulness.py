"""May a map be read as an explanation of this answer? What it scores highly is taken away, and the answer looked at.

The rule by which a map may be read so, for one input and one kind of knock-out (`model.knock_out`); both parts must hold:
1. Spearman's correlation of the map's scores with the effects of knocking out each token or patch alone is at least
   LEAST_CORRELATION, with p < SIGNIFICANT (two-sided, by permuting; not corrected for how many maps one looks at).
2. What is taken away in the order of the scores hurts sooner than chance: the area under the deletion curve is below
   the mean of N_ORDERS random orders by more than BAND of their standard deviations.
The thresholds are a convention of this project. A map that passes agrees with knock-outs on this input, no more; one
that does not may still be right about something that knock-outs do not measure.

Sources: correlation with knock-out as in Abnar & Zuidema 2020; permuted attention as in Jain & Wallace 2019, and what
that does not show in Wiegreffe & Pinter 2019; deletion and insertion as in Petsiuk, Das & Saenko 2018.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from ..capture import capture
from ..checkpoint import Loaded
from ..inputs import InputLike, prepare
from ..intervention import Intervention, at_temperature, permuted_attention
from ..knock_out import Kind, compared, effects, knock_out, knocked_out
from ..probabilities import probabilities
from ..record import AttentionRecord, Positions
from .changes import cosine_distance, total_variation

LEAST_CORRELATION, SIGNIFICANT, BAND = 0.5, 0.05, 2.0
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
    """What is left of the answer when the first k positions of an order are gone, k in `steps`.

    That is the probability of the class which the whole input is given; of an encoder that does not choose a class,
    the cosine similarity of the pooled state to that of the whole input. Each order holds the same positions.

    Insertion is the same read backwards: with the first k of an order present, the first n - k of the reversed one
    are gone. So the curve of insertion is `deletion(loaded, given, [order[::-1]])[0, ::-1]`.
    """
    counts = steps(len(orders[0]))
    sets = [tuple(sorted(order[:k])) for order in orders for k in counts]
    unlike = list(dict.fromkeys(sets))  # all orders begin and end with the same
    answers = probabilities(loaded, [given], knocked_out(loaded, given, unlike, kind))[0]
    if loaded.config.chooses:
        left = answers[:, answers[unlike.index(())].argmax()]
    else:
        left = 1 - cosine_distance(answers[unlike.index(())], answers)
    by_set = dict(zip(unlike, left.tolist(), strict=True))
    return np.array([by_set[each] for each in sets]).reshape(len(orders), len(counts))


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


class Verdict(NamedTuple):
    """Whether a map may be read as an explanation of this answer, and from what that follows; see the module's rule."""

    spearman: float
    p: float
    low: float
    high: float
    n: int
    correlates: bool
    area: float | None  # under the deletion curve; None where it was not computed
    random_mean: float | None  # of the areas of random orders
    random_sd: float | None
    deletes: bool | None

    @property
    def readable(self) -> bool | None:
        """None where the first part holds and the second is not known."""
        return False if not self.correlates else self.deletes


def verdict(
    found: Agreement,
    curve: Float[np.ndarray, " step"] | None = None,
    random: Float[np.ndarray, "order step"] | None = None,
) -> Verdict:
    """Of one map's agreement, and of its deletion curve beside those of random orders where they were computed."""
    numbers = (float(each) for each in (found.spearman, found.p, found.low, found.high))
    first = (*numbers, found.n, bool(correlates(found)))
    if curve is None or random is None:
        return Verdict(*first, None, None, None, None)
    own, areas = float(area(curve, found.n)), area(random, found.n)
    mean, sd = float(areas.mean()), float(areas.std(ddof=1))
    return Verdict(*first, own, mean, sd, own < mean - BAND * sd)


class Judged(NamedTuple):
    """Many maps of one input."""

    agreement: Agreement
    readable: Bool[np.ndarray, "*maps"]


def faithfulness(
    loaded: Loaded,
    given: InputLike,
    maps: Mapping[str, Float[np.ndarray, "*maps position"]],
    kind: Kind = "keys",
    *,
    curves: bool = True,
) -> dict[str, Judged]:
    """By name, for the scores of maps on all positions of the input (`scores_of`), such as [layer, head, position].

    One set of knock-outs and of random orders serves all maps; a map has curves computed only where the first part of
    the rule holds. Without `curves`, `readable` is that first part alone.
    """
    record = capture(loaded, given)
    at = list(compared(record))
    effect = effects(record, knock_out(loaded, given, kind, at))
    found = {name: agreement(scores[..., at], effect) for name, scores in maps.items()}
    if not curves:
        return {name: Judged(each, correlates(each)) for name, each in found.items()}
    hopeful = [(name, *index) for name, each in found.items() for index in np.argwhere(correlates(each))]
    readable = {name: np.zeros_like(correlates(each)) for name, each in found.items()}
    if hopeful:
        orders = [order_of(maps[name][tuple(index)], at) for name, *index in hopeful]
        by_order = deletion(loaded, given, (*random_orders(at), *orders), kind)
        random, own = by_order[:N_ORDERS], by_order[N_ORDERS:]
        for (name, *index), curve in zip(hopeful, own, strict=True):
            each = found[name]
            of_one = Agreement(*(part[tuple(index)] for part in each[:4]), each.n)
            readable[name][tuple(index)] = verdict(of_one, curve, random).readable
    return {name: Judged(each, readable[name]) for name, each in found.items()}
