"""Sentences beside whole reviews: several tasks in one step, and a review's two versions against each other."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from ..transformer import Transformer
from .corpus import Corpus, pad_rows
from .task import Batch
from .task_reviews import PAD, EpochBatches, Sentiment, end_of_review, judge, with_class_and_separator

LONG = 100  # tokens


class EditedPairs:
    """A negative and a positive version of each review: what each is, and which of the two is the positive one."""

    def __init__(
        self, negative: Corpus, positive: Corpus, *, n_positions: int, contrast_weight: float
    ) -> None:
        self.versions, self.n_positions, self.contrast_weight = (
            (negative, positive),
            n_positions,
            contrast_weight,
        )
        self.n_examples = len(negative)
        longer = np.maximum(negative.lengths, positive.lengths)
        self._batches = EpochBatches(np.minimum(longer, n_positions - 2))

    def batch(self, seed: int, step: int, size: int) -> Batch:
        """[pair, 2, position]: the negative version before the positive one."""
        chosen = self._batches(seed, step, size)
        rows = [
            with_class_and_separator(end_of_review(one[place], self.n_positions - 2))
            for place in chosen
            for one in self.versions
        ]
        return (pad_rows(rows, PAD).unflatten(0, (-1, 2)),)

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        """Cross-entropy of each version, and of the pair by the difference of their log-odds, in nats."""
        tokens = batch[0].flatten(0, 1)
        logits = model.classify(model.encode(tokens), tokens).float()
        labels = torch.arange(len(tokens), device=tokens.device) % 2
        log_odds = (logits[:, 1] - logits[:, 0]).unflatten(0, (-1, 2))
        contrast = functional.softplus(log_odds[:, 0] - log_odds[:, 1]).mean()
        return functional.cross_entropy(logits, labels) + self.contrast_weight * contrast


@dataclass(frozen=True, slots=True)
class WeightedTask:
    """One of the tasks of a step, with its share of the loss and its examples for each of the first part's."""

    task: Sentiment | EditedPairs
    weight: float
    share: float


class CombinedTask:
    """A step takes a batch of every part, each with as much padding as it needs; their losses are added.

    Judged on several sets: `accuracy` is that of the first, the others are under their names.
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
        self._ends: list[int] = []

    def batch(self, seed: int, step: int, size: int) -> Batch:
        batches = [
            part.task.batch(seed, step, min(part.task.n_examples, max(2, round(size * part.share))))
            for part in self.parts
        ]
        self._ends = np.cumsum([0, *map(len, batches)]).tolist()  # the same at every step
        return tuple(values for batch in batches for values in batch)

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        losses = [
            part.weight * part.task.loss(model, batch[start:end])
            for part, (start, end) in zip(self.parts, pairwise(self._ends), strict=True)
        ]
        return sum(losses[1:], start=losses[0])

    def evaluate(self, model: Transformer, at_most: int) -> dict[str, int | float]:
        """Of whole reviews a quarter as many as of sentences: each takes ten times as long."""
        figures = {}
        for name, (corpus, labels) in self.held_out.items():
            long = corpus.lengths.mean() > LONG
            figures[name] = judge(model, corpus, labels, self._tokens, at_most // 4 if long else at_most)
        first, *others = figures
        return figures[first] | {f"accuracy, {name}": figures[name]["accuracy"] for name in others}

    def _tokens(self, corpus: Corpus, chosen: np.ndarray) -> Int[Tensor, "batch position"]:
        return pad_rows(
            [
                with_class_and_separator(end_of_review(corpus[place], self.n_positions - 2))
                for place in chosen
            ],
            PAD,
        )
