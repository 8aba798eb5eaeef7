"""Mean effects of activation patching over many pairs of inputs, and effects as a share of the way to the other answer.

The effect of a patch is the change of the answer: of the log-odds of the class that is predicted for the first input, of
log P of a masked word, or the cosine distance of the pooled state. As a share of the way it is (patched − clean) / (other −
clean), where clean and other are the answers to the two inputs: 0 as for the first, 1 as for the second (Zhang & Nanda
2024, "Towards best practices of activation patching"; Heimersheim & Nanda 2024, "How to use and interpret activation
patching").
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float64
from scipy.special import stdtrit

from ..config import ModelConfig
from ..inputs import InputLike
from ..loaded import Loaded
from ..measures.changes import cosine_distance, log_odds
from ..measures.many_tests import holm
from .masked_word import MaskedWord, log_probability_changes
from .patching import Part, patch_layer
from .probabilities import probabilities

CONFIDENCE = 0.95
# Two answers nearer than this are too close to divide by their difference.
LEAST_NATS, LEAST_DISTANCE = 0.01, 1e-4


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

    @property
    def is_shown(self) -> np.ndarray:
        """Whether each part has an effect, bools [layer, part]: a t-test against 0, corrected for all parts after Holm.

        False with a single pair.
        """
        from scipy.stats import t as student_t  # a second to import, which not every page shall wait for

        if self.n < 2:
            return np.zeros(self.mean.shape, bool)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(self.mean) / (self.sd / np.sqrt(self.n))
        p_values = 2 * student_t.sf(
            np.nan_to_num(t, nan=0.0, posinf=np.inf), self.n - 1
        )  # 0 / 0: no effect at all
        return (holm(p_values.ravel()) < 1 - CONFIDENCE).reshape(self.mean.shape)


def answer_changes(
    config: ModelConfig,
    clean: Float[np.ndarray, " answer"],
    answers: Float[np.ndarray, "*patches answer"],
    answer: MaskedWord | None = None,
) -> Float64[np.ndarray, "*patches"]:
    """Change from the `clean` answer to each of `answers`: nats of the predicted class's log-odds or of log P of the masked
    word `answer`, or for an encoder that chooses no class the cosine distance of the pooled states.
    """
    if answer is not None:
        return log_probability_changes(float(clean[0]), answers)
    if config.chooses_class:
        predicted = int(clean.argmax())
        return np.asarray(log_odds(answers, predicted) - log_odds(clean, predicted))
    return cosine_distance(np.asarray(clean, np.float64), np.asarray(answers, np.float64))


def is_too_small(config: ModelConfig, whole: float, answer: MaskedWord | None = None) -> bool:
    """Whether the change `whole` from one input's answer to the other's is too small to be divided by, or NaN."""
    is_in_nats = config.chooses_class or answer is not None
    return not abs(whole) >= (LEAST_NATS if is_in_nats else LEAST_DISTANCE)


def mean_effects(effects: Sequence[Float[np.ndarray, "layer part"]], n_equal: int = 0) -> MeanEffects:
    """Mean, standard deviation and 95 % interval of effects, one array for each pair. Raises ValueError without any."""
    if not len(effects):
        raise ValueError("there is no pair to average over")
    values, n = np.stack(effects).astype(np.float64), len(effects)
    mean = values.mean(axis=0)
    sd = values.std(axis=0, ddof=1) if n > 1 else np.full(mean.shape, np.nan)
    half = stdtrit(max(n - 1, 1), (1 + CONFIDENCE) / 2) * sd / np.sqrt(n)
    return MeanEffects(mean, sd, mean - half, mean + half, n, n_equal)


def patch_pairs(
    loaded: Loaded,
    pairs: Sequence[tuple[InputLike, InputLike]],
    part: Part = "z",
    *,
    normalised: bool = False,
    answer_of: Callable[[InputLike], MaskedWord] | None = None,
    step: Callable[[float], None] | None = None,
) -> MeanEffects:
    """Mean effect of each part, taken from the second input of a pair, on the answer to the first.

    `part` is that of `model.experiments.patching.patch_heads`, or "feed-forward" (one part a layer). `normalised` effects
    are shares of the way; pairs whose two answers are too close are left out of them. `answer_of` makes the masked word that
    is measured from the first input. `step` is called with the share that is done. Raises ValueError, with the number of the
    pair, for an input that cannot be read, and where no pair is left.

    >>> from loupe import load, patch_pairs
    >>> pairs = [("A gripping film.", "A dull film."), ("The best of all.", "The worst of all.")]
    >>> effects = patch_pairs(load("checkpoints/imdb-pre-ln"), pairs, normalised=True)
    >>> effects.mean.shape, effects.n
    ((4, 4), 2)
    """
    effects, n_equal, n_layers = [], 0, loaded.config.n_layers
    for index, (first, second) in enumerate(pairs):
        try:
            answer = None if answer_of is None else answer_of(first)
            clean, other = probabilities(loaded, [first, second], answer=answer)[:, 0]
            whole = float(answer_changes(loaded.config, clean, other, answer))
            if normalised and is_too_small(loaded.config, whole, answer):
                n_equal += 1
                continue
            layers = []
            for layer in range(n_layers):
                layers.append(patch_layer(loaded, first, second, layer, part, answer))
                if step is not None:
                    step((index + (layer + 1) / n_layers) / len(pairs))
        except ValueError as error:
            raise ValueError(f"pair {index + 1}: {error}") from error
        changes = answer_changes(loaded.config, clean, np.stack(layers), answer)
        effects.append(changes / whole if normalised else changes)
    if n_equal and not effects:
        pairs_text = "the only pair" if n_equal == 1 else f"all {n_equal} pairs"
        raise ValueError(f"the two answers are too close to divide by their difference in {pairs_text}")
    return mean_effects(effects, n_equal)
