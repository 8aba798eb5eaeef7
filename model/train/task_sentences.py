"""Training tasks on pairs of edited reviews, and combinations of several tasks in one training step."""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from ..transformer import Transformer
from .corpus import Corpus
from .task import Batch
from .task_reviews import EpochBatches, Sentiment, classify_reviews, pad_ends

LONG = 100  # tokens; reviews are longer on average, sentences shorter


class EditedPairs:
    """Pairs of a negative and a positive version of one review: classify both, and tell which of them is the positive one."""

    def __init__(
        self, negative: Corpus, positive: Corpus, *, n_positions: int, contrast_weight: float
    ) -> None:
        self.versions = negative, positive
        self.n_positions, self.contrast_weight = n_positions, contrast_weight
        self.n_examples = len(negative)
        longer_lengths = np.maximum(negative.lengths, positive.lengths)
        self._batches = EpochBatches(np.minimum(longer_lengths, n_positions - 2))

    def batch(self, seed: int, step: int, size: int) -> Batch:
        """Token ids [pair, 2, position]; the negative version comes before the positive one."""
        indices = self._batches(seed, step, size)
        rows = [version[index] for index in indices for version in self.versions]
        return (pad_ends(rows, self.n_positions).unflatten(0, (-1, 2)),)

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        """Loss in nats: the cross-entropy of all versions, plus `contrast_weight` times that of the pairs.

        The latter is the cross-entropy of telling which version is positive, by the difference of their log-odds.
        """
        tokens = batch[0].flatten(0, 1)
        logits = model.classify(model.encode(tokens), tokens).float()
        labels = torch.arange(len(tokens), device=tokens.device) % 2
        log_odds = (logits[:, 1] - logits[:, 0]).unflatten(0, (-1, 2))
        contrast_loss = functional.softplus(log_odds[:, 0] - log_odds[:, 1]).mean()
        return functional.cross_entropy(logits, labels) + self.contrast_weight * contrast_loss


@dataclass(frozen=True, slots=True)
class WeightedTask:
    """One task of a combined training step, with the weight of its loss and the relative size of its batch."""

    task: Sentiment | EditedPairs
    weight: float  # of its loss
    share: float  # size of its batch, relative to that of the first task


class CombinedTask:
    """Several tasks, each with its own batch in every step, whose weighted losses are added.

    It is evaluated on several sets: `accuracy` is that of the first set, `accuracy, NAME` that of the set called NAME.
    """

    n_glance, n_check, drop_last = 40, 80, True

    def __init__(
        self,
        parts: list[WeightedTask],
        held_out: dict[str, tuple[Corpus, Int[Tensor, " text"]]],
        *,
        n_positions: int,
    ) -> None:
        self.parts, self.held_out, self.n_positions = parts, held_out, n_positions
        self.n_examples = parts[0].task.n_examples
        self._bounds: list[int] = []  # where the tensors of each task begin in a batch

    def batch(self, seed: int, step: int, size: int) -> Batch:
        batches = [
            part.task.batch(seed, step, min(part.task.n_examples, max(2, round(size * part.share))))
            for part in self.parts
        ]
        self._bounds = np.cumsum([0, *map(len, batches)]).tolist()  # the same at every step
        return tuple(values for batch in batches for values in batch)

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        losses = [
            part.weight * part.task.loss(model, batch[start:end])
            for part, (start, end) in zip(self.parts, pairwise(self._bounds), strict=True)
        ]
        return sum(losses[1:], start=losses[0])

    def evaluate(self, model: Transformer, max_examples: int) -> dict[str, int | float]:
        """`n`, `accuracy` (0 to 1) and `loss` (nats) on the first evaluation set, and "accuracy, NAME" on each further one.

        Each set's first `max_examples` texts are used. Of whole reviews only a quarter of that number is used, since a review takes ten times as long as a sentence.
        """
        pad, figures = partial(pad_ends, n_positions=self.n_positions), {}
        for name, (corpus, labels) in self.held_out.items():
            is_long = corpus.lengths.mean() > LONG
            figures[name] = classify_reviews(
                model, corpus, labels, pad, max_examples // 4 if is_long else max_examples
            )
        first_name, *other_names = figures
        return figures[first_name] | {f"accuracy, {name}": figures[name]["accuracy"] for name in other_names}
