"""Effects of heads over a data set: importance, ablation, greedy pruning, what each head adds to the answer, and how well each lens
(a map of scores for tokens or patches) agrees with the effect of removing them.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from tqdm import tqdm

from ..capture import capture
from ..config import ModelConfig
from ..decompositions.answer_parts import answer_parts
from ..experiments.ablation import AblationKind, ablate_heads, importance
from ..experiments.faithfulness import Undecidable, faithfulness, head_scores
from ..experiments.masked_word import LOGITS, answer_changes
from ..experiments.probabilities import probabilities
from ..experiments.pruning import greedy
from ..inputs import InputLike
from ..lenses import ATTENTION, LENSES, through
from ..loaded import Loaded
from .dataset_examples import Examples, Shard, labelled_examples, naming_example
from .dataset_measure import MomentsMeasure, ProgressCallback, moments_with_prefix
from .run import PartialResult
from .running_moments import Arrays, Moments, from_arrays, to_arrays

IMPORTANCE, ZERO, MEAN = "importance", "zero", "mean"  # the names of the columns
CORRELATION, READABLE, COUNTED = "correlation/", "readable/", "counted/"
NOISE, N_NOISE = "noise", 4  # number of random maps for each example, as a check of the rule
REASONS = {
    Undecidable.TOO_FEW: "too_few",
    Undecidable.TOO_EQUAL: "too_few",  # different effects
    Undecidable.UNMOVED: "unmoved",
    Undecidable.NO_SOONER: "no_sooner",
}  # column that counts each reason why an example cannot be judged
TOLD = "told"  # the column that counts examples that can be judged
COUNTED_COLUMNS = (TOLD, *dict.fromkeys(REASONS.values()))
Effect = Float[np.ndarray, "example layer head"]


@dataclass(frozen=True, kw_only=True)
class Importance(MomentsMeasure):
    """Importance of each head for the predicted class (`model.experiments.ablation.importance`)."""

    name: ClassVar[str] = "importance"
    shard: int = 64

    def measure_shard(self, loaded: Loaded, shard: Shard, report: ProgressCallback) -> Arrays:
        values = importance(loaded, shard.inputs)
        report(len(shard))
        return to_arrays({IMPORTANCE: Moments.from_examples(values)})


@dataclass(frozen=True, kw_only=True)
class Ablation(MomentsMeasure):
    """Change of the answer when a head's output is replaced by zeros, or by its mean over the data set; [layer, head].

    It is |change of the log-odds of the predicted class| in nats, and the cosine distance of the pooled states for encoders
    that do not choose a class.
    """

    name: ClassVar[str] = "ablation"
    shard: int = 32
    means: Float[np.ndarray, "layer head d_v"] = field(repr=False, compare=False)
    of_means: str  # hash of the means

    @classmethod
    def from_means(cls, means: Float[np.ndarray, "layer head d_v"]) -> "Ablation":
        """The measure that replaces outputs by zeros and by these means; their hash identifies its results."""
        return cls(means=means, of_means=hashlib.sha256(means.astype(np.float32).tobytes()).hexdigest())

    def measure_shard(self, loaded: Loaded, shard: Shard, report: ProgressCallback) -> Arrays:
        original_answers = probabilities(loaded, shard.inputs, answer=LOGITS)[:, 0]
        replacements: dict[str, AblationKind] = {ZERO: "zero", MEAN: self.means}
        effects = {
            name: _ablation_effects(loaded, shard.inputs, original_answers, kind)
            for name, kind in replacements.items()
        }
        report(len(shard))
        return to_arrays({name: Moments.from_examples(values) for name, values in effects.items()})


@dataclass(frozen=True, kw_only=True)
class Faithfulness(MomentsMeasure):
    """Agreement of each lens's scores for tokens or patches with the effect of removing them (`model.experiments.faithfulness`).

    For each lens, layer and head: Spearman's correlation of the scores with the effects of removing each token or patch from
    the keys, and the share of the examples in which the scores may be read as an explanation.
    """

    name: ClassVar[str] = "faithfulness"
    shard: int = 8

    def measure_shard(self, loaded: Loaded, shard: Shard, report: ProgressCallback) -> Arrays:
        values: dict[str, list[np.ndarray]] = {}
        for number, text_or_image in zip(shard.numbers, shard.inputs, strict=True):
            with naming_example(number):
                maps = _position_scores(loaded, text_or_image)
                n_positions = maps[ATTENTION].shape[-1]
                random_maps = np.random.default_rng(number).random((1, N_NOISE, n_positions))
                results_by_lens, reason = faithfulness(loaded, text_or_image, {**maps, NOISE: random_maps})
            for lens, result in results_by_lens.items():
                is_judged = np.full_like(result.readable, reason is None)
                values.setdefault(CORRELATION + lens, []).append(result.agreement.spearman)
                values.setdefault(READABLE + lens, []).append(np.where(is_judged, result.readable, np.nan))
            column = TOLD if reason is None else REASONS[reason]
            counts = np.array([float(column == name) for name in COUNTED_COLUMNS])
            values.setdefault(COUNTED, []).append(counts)
            report(1)
        return to_arrays({name: Moments.from_examples(np.stack(rows)) for name, rows in values.items()})


def faithfulness_rows(arrays: Arrays) -> pd.DataFrame:
    """Table with the columns of `faithfulness.parquet`: a row for each lens, layer and head, and a row for random scores.

    The correlation is a mean over the `n` examples on which it is defined. `told` is the number of examples that can be
    judged, and `share` the share of these on which the scores may be read as an explanation; the last three columns count
    the other examples by the reason why they cannot be judged. The column `head` is empty for a lens whose scores belong to
    no head.
    """
    correlations, readable = moments_with_prefix(arrays, CORRELATION), moments_with_prefix(arrays, READABLE)
    reason_moments = moments_with_prefix(arrays, COUNTED)[""]
    counts = dict(
        zip(
            COUNTED_COLUMNS,
            np.rint(reason_moments.mean * reason_moments.n).astype(int).tolist(),
            strict=True,
        )
    )
    rows = []
    for lens in (lens for lens in (*LENSES, NOISE) if lens in correlations):
        spread, n = correlations[lens].spread, correlations[lens].n
        share = readable[lens].spread.mean
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


def _ablation_effects(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    before: Float[np.ndarray, "example answer"],
    kind: AblationKind,
) -> Effect:
    """Effect of ablating each head on the answers, which were `before`; an array [example, layer, head]."""
    ablated_answers = ablate_heads(loaded, inputs, kind, LOGITS)
    changes = [
        answer_changes(loaded.config, *answers) for answers in zip(before, ablated_answers, strict=True)
    ]
    return np.abs(changes)


def _position_scores(
    loaded: Loaded, text_or_image: InputLike
) -> dict[str, Float[np.ndarray, "layer head position"]]:
    """For one input, the score that each lens gives to each position, per layer and head (`head_scores`), by the lens's name."""
    record = capture(loaded, text_or_image)
    scores = {}
    for lens in LENSES:
        lens_record = through(lens, loaded, text_or_image, record=record)
        layers, heads = lens_record.pattern.shape[:2]
        rows = [
            head_scores(lens_record, layer, head, classified=record.has_class_token)
            for layer, head in np.ndindex(layers, heads)
        ]
        scores[lens] = np.reshape(rows, (layers, heads, -1))
    return scores


COLUMNS = ("layer", "head", "accuracy", "loss", "turned_wrong", "turned_right")
JUDGES = 2000  # examples to measure the accuracy, at most: the standard error of an accuracy of 90 % is then 0.7 points


class LabelledInputs(NamedTuple):
    """Inputs with their class indices."""

    inputs: Sequence[InputLike]
    labels: Sequence[int]


def split_for_pruning(
    loaded: Loaded, examples: Examples, sample: int
) -> tuple[LabelledInputs, LabelledInputs]:
    """Two sets of examples: one to choose the next head to remove, and one to measure the accuracy without it.

    The first set is every second one of `sample` examples; the second is all other examples, or `JUDGES` of them, evenly spaced.
    Raises ValueError, with a one-sentence message, if the encoder has no classes, or if a label is missing or not one of them.
    """
    if not loaded.config.chooses_class:
        raise ValueError(
            f"{loaded.name} does not choose one of several classes: nothing is right or wrong to prune by"
        )
    choosing = labelled_examples(loaded, examples.limited(sample))[::2]
    choosing_numbers = {number for number, *_ in choosing}
    judging = labelled_examples(loaded, examples.limited(JUDGES + len(choosing)))
    judging = [example for example in judging if example[0] not in choosing_numbers]
    n = min(len(judging), JUDGES)
    judging = [judging[index * len(judging) // n] for index in range(n)]
    return _labelled_inputs(choosing), _labelled_inputs(judging)


def _labelled_inputs(examples: Sequence[tuple[int, InputLike, int]]) -> LabelledInputs:
    return LabelledInputs([model_input for _, model_input, _ in examples], [label for *_, label in examples])


def pruning_rows(
    loaded: Loaded,
    choosing: LabelledInputs,
    judging: LabelledInputs,
    means: np.ndarray,
    progress: PartialResult,
) -> pd.DataFrame:
    """Table with the columns of `pruning.parquet`: a row for each step of pruning, with heads replaced by zeros or by `means`.

    `choosing` and `judging` are the sets of `split_for_pruning`; finished steps are stored in `progress`. Raises ValueError
    as `greedy` does.
    """
    replacements: dict[str, AblationKind] = {"zero": "zero", "mean": means.astype(np.float32)}
    n_heads = loaded.config.n_layers * loaded.config.n_heads
    n_finished, results = progress.load()
    with tqdm(
        total=len(replacements) * (n_heads + 1),
        initial=n_finished,
        desc=f"{loaded.name}: pruning",
        unit=" steps",
        disable=None,
    ) as progress_bar:
        for name, replacement in replacements.items():
            rows = results.get(name, np.empty((0, len(COLUMNS)))).tolist()
            removed = [(int(layer), int(head)) for layer, head, *_ in rows[1:]]
            if not rows or len(removed) < n_heads:
                rows = rows if removed else []  # a step 0 alone is repeated
                for step in greedy(loaded, *choosing, replacement, removed=removed, judged=judging):
                    rows.append([getattr(step, column) for column in COLUMNS])
                    results[name] = np.array(rows, np.float64)  # NaN for the head of step 0
                    progress.save(sum(map(len, results.values())), results)
                    progress_bar.update(1)
    tables = {name: pd.DataFrame(results[name], columns=COLUMNS) for name in replacements}
    return pd.concat(tables, names=["how", "step"]).reset_index()


@dataclass(frozen=True, kw_only=True)
class MeanParts(MomentsMeasure):
    """What each head and feed-forward adds to the logit of the predicted class (`model.decompositions.answer_parts`)."""

    name: ClassVar[str] = "parts"
    shard: int = 64

    def measure_shard(self, loaded: Loaded, shard: Shard, report: ProgressCallback) -> Arrays:
        rows = []
        for number, text_or_image in zip(shard.numbers, shard.inputs, strict=True):
            with naming_example(number):
                frame = answer_parts(loaded, text_or_image).frame
            rows.append(frame.dropna(subset="layer")["value"])
            report(1)
        values = np.array(rows)
        return to_arrays({"value": Moments.from_examples(values), "size": Moments.from_examples(abs(values))})


def mean_parts_rows(arrays: Arrays, config: ModelConfig) -> pd.DataFrame:
    """Table with the columns of `parts.parquet`: a row for each head and feed-forward, in the order of computation.

    `mean` and `sd` are those of what it adds to the predicted class, over the `n` examples; `mean_abs` is the mean absolute value.
    """
    moments = from_arrays(arrays)
    value, size = moments["value"], moments["size"]
    of_layer = [("head", head) for head in range(config.n_heads)] + [("feed-forward", None)]
    rows = [(kind, layer, head) for layer in range(config.n_layers) for kind, head in of_layer]
    numbers = {"mean": value.spread.mean, "sd": value.spread.sd, "mean_abs": size.spread.mean}
    return pd.DataFrame(rows, columns=["kind", "layer", "head"]).assign(**numbers, n=value.n.astype(int))
