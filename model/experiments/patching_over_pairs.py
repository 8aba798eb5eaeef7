"""Mean effects of activation patching over many pairs of inputs, also normalised by the difference of the two answers.

The effect of a patch is the change of the answer: of the log-odds of the class that is predicted for the first input, of
log P of a masked word, or the cosine distance of the pooled state. The normalised effect is (patched − clean) / (other −
clean), where clean and other are the answers to the first and second input: 0 if the answer stays that to the first input, 1
if it becomes that to the second (Zhang & Nanda 2024, "Towards best practices of activation patching"; Heimersheim & Nanda
2024, "How to use and interpret activation patching"). A cosine distance has no direction, so the normalised effect on a pooled
state is measured by the similarity with the pooled state of the second input: (cos(patched, other) − cos(clean, other)) /
(1 − cos(clean, other)), below 0 if it decreases.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float64
from scipy.special import stdtr, stdtrit

from ..config import ModelConfig
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..measures.changes import ROUNDING
from ..measures.significance import holm
from .masked_word import LOGITS, AnswerRead, MaskedWord, answer_changes, masked_word
from .patching import FEED_FORWARD, HeadPart, PatchedPart, patch_layer
from .probabilities import probabilities

CONFIDENCE, SIGNIFICANT = 0.95, 0.05
# Two answers nearer than this are too close to divide by their difference.
LEAST_NATS, LEAST_DISTANCE = 0.01, 1e-4
# In a mean of shares they must be further apart: a pair of nearly equal answers would outweigh all others.
LEAST_NATS_OF_MEAN, LEAST_DISTANCE_OF_MEAN = 1.0, 0.01


class MeanEffects(NamedTuple):
    """Mean effect of each part over pairs of inputs, its standard deviation (n − 1), and its 95 % interval by Student's t.

    With a single pair, deviation and interval are NaN.
    """

    mean: Float64[np.ndarray, "layer part"]
    sd: Float64[np.ndarray, "layer part"]
    low: Float64[np.ndarray, "layer part"]
    high: Float64[np.ndarray, "layer part"]
    n: int  # pairs in the mean
    n_equal: int = 0  # pairs left out, whose answers are too close to divide by their difference
    n_repeated: int = 0  # pairs left out that are, to the encoder, the same as one in the mean
    signed: bool = True  # False for cosine distances, which are never below 0

    @property
    def p(self) -> Float64[np.ndarray, "layer part"]:
        """p-value of a t-test of each mean against 0, with Holm's correction over all parts that are tested.

        It is NaN for cosine distances, whose mean is above 0 even without an effect, for a single pair, and for parts whose
        effect does not vary between pairs.
        """
        p_values = np.full(self.mean.shape, np.nan)
        if self.signed and self.n > 1:
            is_tested = self.sd > ROUNDING
            t = np.abs(self.mean[is_tested]) / (self.sd[is_tested] / np.sqrt(self.n))
            p_values[is_tested] = holm(2 * stdtr(self.n - 1, -t))
        return p_values

    @property
    def is_tested(self) -> Bool[np.ndarray, "layer part"]:
        """Whether each part has a p-value."""
        return ~np.isnan(self.p)

    @property
    def is_shown(self) -> Bool[np.ndarray, "layer part"]:
        """Whether the p-value of each part is below 0.05; False where it is not tested."""
        return self.p < SIGNIFICANT


def shares_of_the_way(
    config: ModelConfig,
    clean: Float[np.ndarray, " answer"],
    other: Float[np.ndarray, " answer"],
    answers: Float[np.ndarray, "*patches answer"],
    answer: MaskedWord | None = None,
) -> Float64[np.ndarray, "*patches"]:
    """Normalised effect of each patch, by the formulas of `model.experiments.patching_over_pairs`; `answers` are the patched ones.

    `clean` and `other` are the answers to the first and second input; `answer` is the masked word that they are of, if any.
    """
    whole = answer_changes(config, clean, other, answer)
    if config.chooses_class or answer is not None:
        return answer_changes(config, clean, answers, answer) / whole
    return 1 - answer_changes(config, other, answers) / whole


def is_too_small(
    config: ModelConfig, whole: float, answer: MaskedWord | None = None, *, of_mean: bool = False
) -> bool:
    """Whether the change `whole` (nats or cosine distance) between the answers to two inputs is NaN or too small to divide by.

    With `of_mean`, for a mean over several pairs, the limit is higher than for a single pair.
    """
    is_in_nats = config.chooses_class or answer is not None
    least = (LEAST_NATS, LEAST_NATS_OF_MEAN) if is_in_nats else (LEAST_DISTANCE, LEAST_DISTANCE_OF_MEAN)
    return not abs(whole) >= least[of_mean]


def mean_effects(
    effects: Sequence[Float[np.ndarray, "layer part"]],
    *,
    n_equal: int = 0,
    n_repeated: int = 0,
    signed: bool = True,
) -> MeanEffects:
    """Mean, standard deviation and 95 % interval over the pairs; `effects` has an array for each pair. Raises ValueError if empty."""
    if not len(effects):
        raise ValueError("there is no pair to average over")
    values, n = np.stack(effects).astype(np.float64), len(effects)
    mean = values.mean(axis=0)
    sd = values.std(axis=0, ddof=1) if n > 1 else np.full(mean.shape, np.nan)
    half = stdtrit(max(n - 1, 1), (1 + CONFIDENCE) / 2) * sd / np.sqrt(n)
    return MeanEffects(mean, sd, mean - half, mean + half, n, n_equal, n_repeated, signed)


def patch_pairs(
    loaded: Loaded,
    pairs: Sequence[tuple[InputLike, InputLike]],
    part: PatchedPart = "z",
    *,
    normalised: bool = False,
    answer_of: Callable[[InputLike], MaskedWord] | None = None,
    progress: Callable[[float], None] | None = None,
) -> MeanEffects:
    """Mean effects, over the pairs, of patching one part at a time of the first input with that of the second.

    `part` is that of `model.experiments.patching.patch_heads`, or "feed-forward" (one per layer). `normalised` effects are
    (patched − clean) / (other − clean), as in this module's docstring; pairs whose two answers are too close
    (`LEAST_NATS_OF_MEAN`) are left out. Pairs with equal input tensors count once. `answer_of(first input)` returns the masked
    word whose log P is measured; without it the log-odds of the predicted class, or the pooled state, is. `progress` is called with
    the share of the work that is done, 0 to 1. Raises ValueError, with the number of the pair, for an input that cannot be read,
    and if no pair remains.

    >>> from loupe import load, patch_pairs
    >>> pairs = [("A gripping film.", "A dull film."), ("The best of all.", "The worst of all.")]
    >>> effects = patch_pairs(load("checkpoints/imdb-pre-ln"), pairs, normalised=True)
    >>> effects.mean.shape, effects.n
    ((4, 4), 2)
    """

    def patch(first: InputLike, second: InputLike, layer: int, answer: AnswerRead) -> np.ndarray:
        return patch_layer(loaded, first, second, layer, part, answer)

    return effects_of_patches(
        loaded, pairs, patch, normalised=normalised, answer_of=answer_of, progress=progress
    )


def patch_pairs_in_all_parts(
    loaded: Loaded,
    pairs: Sequence[tuple[InputLike, InputLike]],
    part: HeadPart = "z",
    word: str | None = None,
    *,
    normalised: bool = False,
) -> MeanEffects:
    """Mean effects as in `patch_pairs`, [layer, part]: first those of `part` of each head, last that of the feed-forward.

    With a `word` they are effects on log P of it in place of [MASK] ("": the most probable token); with None on the predicted
    class or the pooled state. Raises as `effects_of_patches` does.
    """

    def patch(first: InputLike, second: InputLike, layer: int, answer: AnswerRead) -> np.ndarray:
        kinds: tuple[PatchedPart, ...] = (part, FEED_FORWARD)
        return np.concatenate([patch_layer(loaded, first, second, layer, kind, answer) for kind in kinds])

    answer_of = None if word is None else lambda first: masked_word(loaded, first, word or None)
    return effects_of_patches(loaded, pairs, patch, normalised=normalised, answer_of=answer_of)


class PairError(ValueError):
    """Error of the pair with this `index`, one of whose inputs cannot be read."""

    def __init__(self, index: int, error: ValueError) -> None:
        super().__init__(f"pair {index + 1}: {error}")
        self.index = index


def effects_of_patches(
    loaded: Loaded,
    pairs: Sequence[tuple[InputLike, InputLike]],
    patch: Callable[[InputLike, InputLike, int, AnswerRead], np.ndarray],
    *,
    normalised: bool = False,
    answer_of: Callable[[InputLike], MaskedWord] | None = None,
    progress: Callable[[float], None] | None = None,
) -> MeanEffects:
    """Like `patch_pairs`, for any patches of a layer: `patch(first, second, layer, answer)` returns the answers [part, answer].

    Raises PairError for a pair that cannot be read, and ValueError if no pair remains.
    """
    config, effects, n_equal, pairs_read = loaded.config, [], 0, set()
    for index, (first, second) in enumerate(pairs):
        try:
            inputs = [
                prepare(loaded, model_input)[0].cpu().numpy().tobytes() for model_input in (first, second)
            ]
            if (pair_read := tuple(inputs)) in pairs_read:
                continue
            pairs_read.add(pair_read)
            answer = None if answer_of is None else answer_of(first)
            clean, other = probabilities(loaded, [first, second], answer=answer or LOGITS)[:, 0]
            if normalised and is_too_small(
                config, float(answer_changes(config, clean, other, answer)), answer, of_mean=True
            ):
                n_equal += 1
                continue
            layers = []
            for layer in range(config.n_layers):
                layers.append(patch(first, second, layer, answer or LOGITS))
                if progress is not None:
                    progress((index + (layer + 1) / config.n_layers) / len(pairs))
        except ValueError as error:
            raise PairError(index, error) from error
        answers = np.stack(layers)
        if normalised:
            effects.append(shares_of_the_way(config, clean, other, answers, answer))
        else:
            effects.append(answer_changes(config, clean, answers, answer))
    if n_equal and not effects:
        pairs_text = "the only pair" if n_equal == 1 else f"all {n_equal} pairs"
        raise ValueError(f"the two answers are too close to divide by their difference in {pairs_text}")
    signed = normalised or config.chooses_class or answer_of is not None
    n_repeated = len(pairs) - len(pairs_read)
    return mean_effects(effects, n_equal=n_equal, n_repeated=n_repeated, signed=signed)
