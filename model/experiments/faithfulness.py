"""Whether a map may be read as an explanation of an answer, tested by knocking out the positions that the map scores highly.

A map gives each position (token or patch) a score. The effect of a position is how far the answer falls when that position
alone is knocked out (`model.experiments.knock_out.log_odds_falls`): the fall of the log-odds of the predicted class, in nats, negative
where the class becomes more probable. (For an encoder that chooses no class, the effect is the cosine distance of the pooled
states, which is never below 0. For a word in place of [MASK] it is the fall of log P of that word, in nats.)

Effects, and scores, that differ by no more than rounding of single precision count as equal (`rounded_effects`, `agreement`).

A map may be read as an explanation of the answer to one input, by one kind of knock-out, if both of these hold:
1. Spearman's correlation of the map's scores with the effects is at least LEAST_CORRELATION, with p < SIGNIFICANT
   (two-sided permutation test; not corrected for the number of maps).
2. Removing positions in the order of the scores makes the answer fall sooner than chance: the area under the deletion
   curve is above the mean of N_ORDERS random orders by more than BAND of their standard deviations.

The perfect map has the effects themselves as its scores. If even the perfect map fails, no map can be judged on this input:
it has too few positions, or too few with different effects, no knock-out changes its answer, or removing positions in the
order of the effects makes the answer fall no sooner than random orders. Such an input counts neither for a map nor against it.

The thresholds are a convention of this project. A map that passes agrees with knock-outs on this input; a map that fails may
still be right about something that knock-outs do not measure.

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
from ..measures.changes import ROUNDING, ROUNDING_DISTANCE, cosine_distance, total_variation
from ..record import AttentionRecord, Positions
from .attribution import explained_positions
from .knock_out import KnockOutKind, knock_out, knock_out_interventions, log_odds_falls
from .masked_word import LOGITS, MaskedWord, answer_changes, answer_falls
from .probabilities import probabilities

LEAST_CORRELATION, SIGNIFICANT, BAND = 0.5, 0.05, 2.0
FEWEST = 5  # positions; of 4, no order of the effects has p < 0.05
LEAST_EFFECT = 0.1  # nats, or of the cosine distance: below it an effect counts as none
N_ORDERS = 10  # random orders that a deletion curve is compared with
N_STEPS = 10  # of a curve: in each about a tenth of the positions is taken away
N_PERMUTATIONS = 4  # of the attention
N_SHUFFLES = 4_999  # of the effects, for p
ROUNDING_SHARE = 1e-6  # of a weight in single precision
_Z = 1.959964  # of the normal distribution, for an interval of 95 %


def head_scores(
    record: AttentionRecord, layer: int, head: int, *, classified: bool | None = None
) -> Float[np.ndarray, " key"]:
    """Score of each key in a head's map: the weight that the class token as query gives it, or the mean weight over queries.

    The former if `classified` (whether the classifier reads the class token's state; by default `record.has_class_token`).
    Padding is left out of the mean.
    """
    classified = record.has_class_token if classified is None else classified
    return map_scores(record.pattern[layer, head], record, read_at=0 if classified else None)


def map_scores(
    pattern: Float[np.ndarray, "query key"], positions: Positions, *, read_at: int | None
) -> Float[np.ndarray, " key"]:
    """Score of each key in a map: the weight that the query `read_at`, whose state gives the answer, puts on the key.

    If `read_at` is None, as with mean pooling, it is the mean weight over the queries that are not padding.
    """
    if read_at is not None:
        return pattern[read_at].astype(float)
    queries = [query for query, role in enumerate(positions.roles) if role != "padding"]
    return pattern[queries].mean(axis=0, dtype=float)


class Agreement(NamedTuple):
    """Rank correlation of each map's scores with the effects; NaN for a map if all its scores, or all effects, are equal."""

    spearman: Float[np.ndarray, "*maps"]  # from -1 to 1
    p: Float[np.ndarray, "*maps"]  # share of random orders of the effects with at least the same |ρ|
    low: Float[np.ndarray, "*maps"]  # ends of the 95 % interval; NaN for fewer than 4 positions
    high: Float[np.ndarray, "*maps"]
    n: int  # positions


def agreement(
    scores: Float[np.ndarray, "*maps position"], effect: Float[np.ndarray, " position"], seed: int = 0
) -> Agreement:
    """Spearman's rank correlation ρ of each map's scores with the effects of knock-outs; `seed` is that of the shuffles.

    Ties get their mean rank; scores that differ by at most `ROUNDING_SHARE` of their size are tied. If m of N_SHUFFLES random
    orders of the effects have a correlation ρ' with |ρ'| ≥ |ρ|, then p = (1 + m) / (1 + N_SHUFFLES). The interval is
    tanh(atanh ρ ± 1.96 sqrt((1 + ρ²/2) / (n - 3))) (Bonett & Wright 2000), as if positions were drawn independently.
    """
    maps, n = scores.shape[:-1], scores.shape[-1]
    if n < 2:
        undefined = np.full(maps, np.nan)
        return Agreement(undefined, undefined, undefined, undefined, n)
    score_ranks = _standard_ranks(_without_rounding(scores.reshape(-1, n), relative=ROUNDING_SHARE))
    effect_ranks = _standard_ranks(effect)
    spearman = np.clip(score_ranks @ effect_ranks, -1, 1)
    shuffled = np.random.default_rng(seed).permuted(np.tile(effect_ranks, (N_SHUFFLES, 1)), axis=1)
    # equal correlations, summed in another order, may differ in the last digits
    is_as_strong = np.abs(score_ranks @ shuffled.T) >= np.abs(spearman)[:, None] - 1e-9
    p = np.where(np.isnan(spearman), np.nan, (1 + is_as_strong.sum(axis=1)) / (1 + N_SHUFFLES))
    with np.errstate(divide="ignore"):
        centre = np.arctanh(spearman)
    half_width = _Z * np.sqrt((1 + spearman**2 / 2) / (n - 3)) if n > 3 else np.full_like(spearman, np.nan)
    return Agreement(
        spearman=spearman.reshape(maps),
        p=p.reshape(maps),
        low=np.tanh(centre - half_width).reshape(maps),
        high=np.tanh(centre + half_width).reshape(maps),
        n=n,
    )


def rounded_effects(
    effect: Float[np.ndarray, " position"], *, in_nats: bool
) -> Float[np.ndarray, " position"]:
    """The effects, nats if `in_nats`, else cosine distances, with the same value for those that differ by rounding alone.

    The tolerance in nats grows with the largest effect, since the rounding of large logits is larger in proportion.
    """
    rounding = ROUNDING * max(1.0, float(np.abs(effect).max(initial=0))) if in_nats else ROUNDING_DISTANCE
    return _without_rounding(effect, absolute=rounding)


def _without_rounding(
    values: Float[np.ndarray, "*axes position"], *, relative: float = 0.0, absolute: float = 0.0
) -> Float[np.ndarray, "*axes position"]:
    """The values, with the same value for neighbours in sorted order that differ by at most `absolute` + `relative` |value|."""
    order = values.argsort(axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    is_new = np.ones(values.shape, bool)
    is_new[..., 1:] = ~np.isclose(ordered[..., 1:], ordered[..., :-1], rtol=relative, atol=absolute)
    first = np.maximum.accumulate(np.where(is_new, np.arange(values.shape[-1]), 0), axis=-1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(ordered, first, axis=-1), axis=-1)
    return result


def _standard_ranks(values: Float[np.ndarray, "*maps position"]) -> Float[np.ndarray, "*maps position"]:
    """Ranks minus their mean, as vectors of length 1; NaN if all values are equal."""
    # Not scipy's rankdata: importing scipy.stats would delay the first page.
    ranks = pd.DataFrame(np.atleast_2d(values)).rank(axis=1).to_numpy().reshape(values.shape)
    ranks = ranks - ranks.mean(axis=-1, keepdims=True)  # not in place: pandas returns a read-only array
    norm_of_ranks = np.linalg.norm(ranks, axis=-1, keepdims=True)
    return np.divide(ranks, norm_of_ranks, out=np.full_like(ranks, np.nan), where=norm_of_ranks > 0)


def is_correlated(maps_agreement: Agreement) -> Bool[np.ndarray, "*maps"]:
    """Whether each map passes part 1 of this module's rule: ρ at least LEAST_CORRELATION, and p below SIGNIFICANT."""
    return np.asarray((maps_agreement.spearman >= LEAST_CORRELATION) & (maps_agreement.p < SIGNIFICANT))


# Deletion and insertion


def sort_by_score(
    scores: Float[np.ndarray, " position"] | Mapping[int, float], positions: Sequence[int]
) -> tuple[int, ...]:
    """The positions in the order of falling scores; positions with equal scores keep their order."""
    return tuple(sorted(positions, key=lambda position: -scores[position]))


def random_orders(positions: Sequence[int], n: int = N_ORDERS) -> tuple[tuple[int, ...], ...]:
    """The positions in `n` random orders, drawn with the seeds 0 to n - 1."""
    return tuple(tuple(np.random.default_rng(seed).permutation(positions).tolist()) for seed in range(n))


def removal_counts(n: int) -> tuple[int, ...]:
    """Numbers of removed positions, of `n`, at which a deletion curve is computed: from 0 to `n`, symmetric about `n` / 2."""
    lower_half = {n * step // N_STEPS for step in range(N_STEPS // 2 + 1)}
    return tuple(sorted(lower_half | {n - count for count in lower_half}))


def deletion(
    loaded: Loaded,
    model_input: InputLike,
    orders: Sequence[Sequence[int]],
    kind: KnockOutKind = "keys",
    answer: MaskedWord | None = None,
) -> Float[np.ndarray, "order step"]:
    """Deletion curves: the fall of the answer when the first k positions of each order are removed, for each k in `removal_counts`.

    The positions are removed by the knock-out `kind`. The unit is nats, or cosine distance; nats of log P for a masked word as the
    `answer`. All orders must hold the same positions.

    The insertion curve of an order (only the first k positions are kept) is the deletion curve of the reversed order, read
    backwards: `deletion(loaded, model_input, [order[::-1]])[0, ::-1]`.
    """
    answers = deletion_answers(loaded, model_input, orders, kind, answer)
    return answer_falls(loaded.config, answers[0, 0], answers, answer)


def deletion_answers(
    loaded: Loaded,
    model_input: InputLike,
    orders: Sequence[Sequence[int]],
    kind: KnockOutKind = "keys",
    answer: MaskedWord | None = None,
) -> Float[np.ndarray, "order step answer"]:
    """Answers at each step of `deletion`: logits, or pooled states of an encoder without classes, or log P of a masked word."""
    counts = removal_counts(len(orders[0]))
    removed_sets = [tuple(sorted(order[:k])) for order in orders for k in counts]
    distinct_sets = list(dict.fromkeys(removed_sets))  # all orders begin and end with the same
    answers = probabilities(
        loaded,
        [model_input],
        knock_out_interventions(loaded, model_input, distinct_sets, kind),
        answer or LOGITS,
    )[0]
    row_by_set = {removed: row for row, removed in enumerate(distinct_sets)}
    rows = [row_by_set[removed] for removed in removed_sets]
    return answers[rows].reshape(len(orders), len(counts), -1)


def deletion_area(curve: Float[np.ndarray, "*curves step"], n: int) -> Float[np.ndarray, "*curves"]:
    """Area under each deletion curve of `n` positions, by the trapezoidal rule over the removed share, from 0 to 1."""
    return np.asarray(np.trapezoid(curve, np.array(removal_counts(n)) / max(n, 1), axis=-1))


# Other attention weights


class OtherAttention(NamedTuple):
    """Change of the answer with uniform attention and with permuted attention (once for each permutation).

    It is the total variation of the class probabilities, the cosine distance of pooled states, or the change of log P of a
    masked word in nats, below 0 where it falls.
    """

    uniform: float  # with every row uniform over the keys that it may attend to
    permuted: tuple[float, ...]  # with every row's weights in a random order among those keys, for each seed


def other_attention(
    loaded: Loaded, model_input: InputLike, n: int = N_PERMUTATIONS, answer: MaskedWord | None = None
) -> OtherAttention:
    """Changes of the answer with uniform attention, and with `n` random permutations of the weights, in all layers and
    heads at once.

    Jain & Wallace 2019 permuted the one attention layer of a recurrent model.
    """
    roles = prepare(loaded, model_input)[1].roles
    real_positions = [position for position, role in enumerate(roles) if role != "padding"]
    allowed_keys = real_positions if "padding" in roles else None
    permutations = [permuted_attention(seed, loaded.config.n_layers, allowed_keys) for seed in range(n)]
    interventions = (Intervention(), at_temperature(math.inf), *permutations)
    answers = probabilities(loaded, [model_input], interventions, answer)[0]
    if answer is not None:
        changes = answer_changes(loaded.config, answers[0], answers[1:], answer)
    else:
        distance = total_variation if loaded.config.chooses_class else cosine_distance
        changes = distance(answers[:1], answers[1:])
    uniform, *permuted_changes = changes.tolist()
    return OtherAttention(uniform, tuple(permuted_changes))


# The rule


class Undecidable(Enum):
    """Reasons why no map can be judged on an input: even the perfect map fails the rule."""

    TOO_FEW = "too few positions"
    TOO_EQUAL = "so many positions have equal effects that not even their own order has a small p"
    UNMOVED = "no knock-out moves the answer"
    NO_SOONER = (
        "taken away in the order of their effects, they lower the answer no sooner than in random orders"
    )


class DeletionAreas(NamedTuple):
    """Areas under deletion curves, in nats or cosine distance, with which the area of every map of an input is compared."""

    perfect: float  # in the order of the effects
    random: Float[np.ndarray, " order"]

    @property
    def bound(self) -> float:
        """Area that a map must exceed: the mean over the random orders plus BAND standard deviations, or plus ROUNDING if that
        is more.
        """
        return float(self.random.mean() + max(BAND * self.random.std(ddof=1), ROUNDING))


def undecidable_reason(
    effect: Float[np.ndarray, " position"], deletion_areas: DeletionAreas | None
) -> Undecidable | None:
    """Why no map of an input with these effects can be judged; None if the perfect map passes both parts of the rule.

    `deletion_areas` may be None if there are too few positions, or all effects are equal.
    """
    if len(effect) < FEWEST:
        return Undecidable.TOO_FEW
    is_ordered = bool(is_correlated(agreement(effect, effect)))
    if is_ordered and deletion_areas is not None and deletion_areas.perfect > deletion_areas.bound:
        return None
    if np.abs(effect).max() < LEAST_EFFECT:
        return Undecidable.UNMOVED
    return Undecidable.NO_SOONER if is_ordered else Undecidable.TOO_EQUAL


class Verdict(NamedTuple):
    """The numbers that decide whether a map may be read as an explanation of an answer, by this module's rule."""

    spearman: float
    p: float
    low: float
    high: float
    n: int
    correlates: bool
    area: float | None  # under the deletion curve of the map; None where it was not computed
    deletion_areas: DeletionAreas | None  # of the same input; None where it was not computed
    undecidable: Undecidable | None  # why no map can be judged here; None also where that is not known yet

    @property
    def passes_deletion(self) -> bool | None:
        """Whether the map passes part 2 of the rule, on deletion curves; None if they were not computed."""
        return (
            None
            if self.area is None or self.deletion_areas is None
            else self.area > self.deletion_areas.bound
        )

    @property
    def readable(self) -> bool | None:
        """Whether the map passes both parts of the rule; None if no map can be judged, or the curves were not computed."""
        if self.undecidable is not None or self.deletion_areas is None:
            return None
        return False if not self.correlates else self.passes_deletion


def verdict(
    map_agreement: Agreement,
    effect: Float[np.ndarray, " position"],
    curve: Float[np.ndarray, " step"] | None = None,
    perfect: Float[np.ndarray, " step"] | None = None,
    random: Float[np.ndarray, "order step"] | None = None,
) -> Verdict:
    """Verdict on one map, from its agreement with the effects and, if given, from deletion curves.

    Positions are removed in the order of the map's scores (`curve`), of the effects (`perfect`), and in random orders
    (`random`).
    """
    n, map_area, deletion_areas = map_agreement.n, None, None
    reason = Undecidable.TOO_FEW if n < FEWEST else None
    if curve is not None and perfect is not None and random is not None:
        map_area, deletion_areas = (
            float(deletion_area(curve, n)),
            DeletionAreas(float(deletion_area(perfect, n)), deletion_area(random, n)),
        )
        reason = undecidable_reason(effect, deletion_areas)
    return Verdict(
        spearman=float(map_agreement.spearman),
        p=float(map_agreement.p),
        low=float(map_agreement.low),
        high=float(map_agreement.high),
        n=n,
        correlates=bool(is_correlated(map_agreement)),
        area=map_area,
        deletion_areas=deletion_areas,
        undecidable=reason,
    )


class JudgedMaps(NamedTuple):
    """For each of several maps, its agreement with the effects of knock-outs on one input, and whether it may be read as an
    explanation.
    """

    agreement: Agreement
    readable: Bool[np.ndarray, "*maps"]  # False for all where no map can be judged


class JudgedInput(NamedTuple):
    """Result of `faithfulness` for one input."""

    maps: dict[str, JudgedMaps]  # by the name of their lens
    undecidable: Undecidable | None  # why no map can be judged on this input


def faithfulness(
    loaded: Loaded,
    model_input: InputLike,
    maps: Mapping[str, Float[np.ndarray, "*maps position"]],
    kind: KnockOutKind = "keys",
) -> JudgedInput:
    """For each of many maps, whether it may be read as an explanation of one answer, and its agreement with knock-outs of this `kind`.

    `maps` holds, by name, the scores (`head_scores`) of maps on all positions of the input, such as [layer, head,
    position]. The answer is the predicted class or the pooled state. All maps share the knock-outs and random orders; deletion
    curves are computed only for maps that pass part 1 of the rule.
    """
    record = capture(loaded, model_input)
    positions = list(explained_positions(record, None))
    effect = log_odds_falls(record, knock_out(loaded, model_input, kind, positions, LOGITS))
    effect = rounded_effects(effect, in_nats=loaded.config.chooses_class)
    agreements = {name: agreement(scores[..., positions], effect) for name, scores in maps.items()}
    readable = {
        name: np.zeros_like(is_correlated(map_agreement)) for name, map_agreement in agreements.items()
    }
    n, deletion_areas = len(positions), None
    candidates: list[tuple] = []
    areas = np.empty(0)
    if n >= FEWEST:
        candidates = [
            (name, *index)
            for name, map_agreement in agreements.items()
            for index in np.argwhere(is_correlated(map_agreement))
        ]
        perfect_order = sort_by_score(dict(zip(positions, effect.tolist(), strict=True)), positions)
        candidate_orders = [sort_by_score(maps[name][tuple(index)], positions) for name, *index in candidates]
        areas = deletion_area(
            deletion(
                loaded, model_input, (*random_orders(positions), perfect_order, *candidate_orders), kind
            ),
            n,
        )
        deletion_areas = DeletionAreas(float(areas[N_ORDERS]), areas[:N_ORDERS])
    reason = undecidable_reason(effect, deletion_areas)
    if reason is None and deletion_areas is not None:
        for (name, *index), map_area in zip(candidates, areas[N_ORDERS + 1 :], strict=True):
            readable[name][tuple(index)] = map_area > deletion_areas.bound
    judged_maps = {
        name: JudgedMaps(map_agreement, readable[name]) for name, map_agreement in agreements.items()
    }
    return JudgedInput(judged_maps, reason)
