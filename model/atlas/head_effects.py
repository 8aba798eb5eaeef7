"""What counts, over a data set: importance and ablation of each head, and how far each lens agrees with knock-outs."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float

from ..capture import capture
from ..experiments.ablation import AblationKind, ablate_heads
from ..experiments.faithfulness import Undecidable, faithfulness, scores_of
from ..experiments.importance import importance
from ..experiments.probabilities import probabilities
from ..inputs import InputLike
from ..lenses import ATTENTION, LENSES, through
from ..loaded import Loaded
from ..measures.changes import cosine_distance, log_odds
from .dataset_examples import Shard
from .dataset_measure import MomentsMeasure, ProgressCallback, moments_with_prefix
from .running_moments import Arrays, Moments, to_arrays

IMPORTANCE, ZERO, MEAN = "importance", "zero", "mean"  # the names of the columns
CORRELATION, READABLE, COUNTED = "correlation/", "readable/", "counted/"
NOISE, N_NOISE = "noise", 4  # maps of random scores, as a check of the rule: so many for each example
UNTOLD = {
    Undecidable.TOO_FEW: "too_few",
    Undecidable.UNMOVED: "unmoved",
    Undecidable.NO_SOONER: "no_sooner",
}  # columns
Effect = Float[np.ndarray, "example layer head"]


@dataclass(frozen=True, kw_only=True)
class Importance(MomentsMeasure):
    """`model.experiments.importance.importance` with the predicted class: a forward and a backward pass an example."""

    name: ClassVar[str] = "importance"
    shard: int = 64

    def of(self, loaded: Loaded, shard: Shard, step: ProgressCallback) -> Arrays:
        found = importance(loaded, shard.inputs)
        step(len(shard))
        return to_arrays({IMPORTANCE: Moments.of(found)})


@dataclass(frozen=True, kw_only=True)
class Ablation(MomentsMeasure):
    """How far the answer moves without each head: its output made zero, and made its mean over the data set.

    |change of the log-odds of the predicted class|, in nats; of an encoder that does not choose a class the cosine
    distance of the pooled states.
    """

    name: ClassVar[str] = "ablation"
    shard: int = 32
    means: Float[np.ndarray, "layer head d_v"] = field(repr=False, compare=False)
    of_means: str  # their hash

    @classmethod
    def by(cls, means: Float[np.ndarray, "layer head d_v"]) -> "Ablation":
        return cls(means=means, of_means=hashlib.sha256(means.astype(np.float32).tobytes()).hexdigest())

    def of(self, loaded: Loaded, shard: Shard, step: ProgressCallback) -> Arrays:
        before = probabilities(loaded, shard.inputs)[:, 0]
        ways: dict[str, AblationKind] = {ZERO: "zero", MEAN: self.means}
        found = {name: _effects(loaded, shard.inputs, before, how) for name, how in ways.items()}
        step(len(shard))
        return to_arrays({name: Moments.of(each) for name, each in found.items()})


@dataclass(frozen=True, kw_only=True)
class Faithfulness(MomentsMeasure):
    """By lens: Spearman's correlation of its scores with knocking each token or patch out of the keys, and whether the
    map may be read as an explanation, by the rule of `model.experiments.faithfulness`, on the examples where that can be told."""

    name: ClassVar[str] = "faithfulness"
    shard: int = 8

    def of(self, loaded: Loaded, shard: Shard, step: ProgressCallback) -> Arrays:
        found: dict[str, list[np.ndarray]] = {}
        for number, given in zip(shard.numbers, shard.inputs, strict=True):
            try:
                maps = _scores(loaded, given)
                n = maps[ATTENTION].shape[-1]
                noise = np.random.default_rng(number).random((1, N_NOISE, n))
                judged, untold = faithfulness(loaded, given, {**maps, NOISE: noise})
            except ValueError as error:
                raise ValueError(f"example {number}: {error}") from error
            for lens, of_lens in judged.items():
                told = np.full_like(of_lens.readable, untold is None)
                found.setdefault(CORRELATION + lens, []).append(of_lens.agreement.spearman)
                found.setdefault(READABLE + lens, []).append(np.where(told, of_lens.readable, np.nan))
            counts = np.array([float(untold is reason) for reason in (None, *UNTOLD)])
            found.setdefault(COUNTED, []).append(counts)
            step(1)
        return to_arrays({name: Moments.of(np.stack(each)) for name, each in found.items()})


def faithfulness_rows(found: Arrays) -> pd.DataFrame:
    """With the columns of `model.atlas.results.FAITHFULNESS_COLUMNS`: a row a lens, layer and head, lenses in their order, and
    one of maps of random scores.

    The correlation is of the n examples on which it can be computed: not all scores, and not all effects, are the same.
    `share` is that of the `told` examples, on which maps can be judged, on which this map may be read as an
    explanation; on the others they cannot be judged for one of the reasons counted in the last three columns. A lens
    without heads has none in its row.
    """
    correlations, readable = moments_with_prefix(found, CORRELATION), moments_with_prefix(found, READABLE)
    counted = moments_with_prefix(found, COUNTED)[""]
    counts = dict(
        zip(("told", *UNTOLD.values()), np.rint(counted.mean * counted.n).astype(int).tolist(), strict=True)
    )
    rows = []
    for lens in (lens for lens in (*LENSES, NOISE) if lens in correlations):
        spread, n, share = (
            correlations[lens].spread_or_nan,
            correlations[lens].n,
            readable[lens].spread_or_nan.mean,
        )
        if lens == NOISE:
            row = {"lens": lens, "layer": None, "head": None, "spearman_mean": float(spread.mean.mean())}
            row |= {"spearman_sd": float(spread.sd.mean()), "share": float(share.mean()), "n": int(n.min())}
            rows.append(row | counts)
            continue
        for layer, head in np.ndindex(n.shape):
            row = {"lens": lens, "layer": layer, "head": head if LENSES[lens].has_heads else None}
            row |= {"spearman_mean": spread.mean[layer, head], "spearman_sd": spread.sd[layer, head]}
            rows.append(row | {"share": share[layer, head], "n": int(n[layer, head])} | counts)
    return pd.DataFrame(rows)


def _effects(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    before: Float[np.ndarray, "example answer"],
    how: AblationKind,
) -> Effect:
    after = ablate_heads(loaded, inputs, how)
    if not loaded.config.chooses:
        return cosine_distance(before[:, None, None], after)
    followed = before.argmax(axis=-1)
    moved = [
        log_odds(one, at) - log_odds(first, at)
        for first, one, at in zip(before, after, followed.tolist(), strict=True)
    ]
    return np.abs(moved)


def _scores(loaded: Loaded, given: InputLike) -> dict[str, Float[np.ndarray, "layer head position"]]:
    record = capture(loaded, given)
    found = {}
    for lens in LENSES:
        seen = through(lens, loaded, given, record=record)
        layers, heads = seen.pattern.shape[:2]
        found[lens] = np.array(
            [
                [scores_of(seen, layer, head, classified=record.has_class_token) for head in range(heads)]
                for layer in range(layers)
            ]
        )
    return found
