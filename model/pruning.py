"""Heads taken away one after the other, always the one that is missed least: how many may go?"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from .ablation import How, ablated
from .capture import evaluating
from .checkpoint import Loaded
from .each_head import HeadName, with_each_head
from .hooks import watch
from .importance import check_labels
from .inputs import InputLike, prepare
from .probabilities import of_one_length, read_answer

POINT = 0.01  # of accuracy


class Step(NamedTuple):
    """What is right once `step` heads have gone, of which this was the last; none had, at step 0."""

    step: int
    layer: int | None
    head: int | None
    accuracy: float  # share of the inputs, from 0 to 1
    loss: float  # mean cross-entropy in nats


def greedy(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    labels: Sequence[int],
    how: How = "zero",
    *,
    removed: Sequence[HeadName] = (),
    judged: tuple[Sequence[InputLike], Sequence[int]] | None = None,
) -> Iterator[Step]:
    """Removes heads (as `how` says, see `model.ablation.ablate_heads`) until none is left, and says what remains right.

    At each step all that are left are tried, on all `inputs`, and the one goes without which the mean loss is least;
    of equal ones the first. Accuracy and loss are of the same inputs, or of others that are `judged`: those that
    chose a head flatter the choice. Steps come as they are found. With heads `removed` already, in this order, it goes
    on with the next one; without, it begins with step 0.
    Raises ValueError where labels are no classes of the encoder, one an input, or where there is no input.
    """
    chosen_by = _Data(loaded, inputs, labels)
    means = None if isinstance(how, str) else how
    gone = list(removed)
    judge = chosen_by if judged is None else _Data(loaded, *judged)
    if not gone:
        yield Step(0, None, None, *judge.figures((), means))
    every = [
        (layer, head) for layer in range(loaded.config.n_layers) for head in range(loaded.config.n_heads)
    ]
    while left := [each for each in every if each not in gone]:
        losses = chosen_by.losses_without_each(gone, left, means)
        layer, head = left[int(losses.argmin())]
        gone.append((layer, head))
        yield Step(len(gone), layer, head, *judge.figures(gone, means))


def may_go(steps: Sequence[Step], lost: float = POINT) -> int:
    """How many heads go before the accuracy is, for the first time, more than `lost` below that of step 0.

    Raises ValueError where the steps do not begin with 0.
    """
    if not steps or steps[0].step != 0:
        raise ValueError("what may go is counted from step 0, before the first head goes")
    least = steps[0].accuracy - lost - 1e-9  # 0.9 - 0.01 is not all of 0.89
    return next((each.step - 1 for each in steps if each.accuracy < least), steps[-1].step)


class _Data:
    """Inputs with their labels, prepared once."""

    def __init__(self, loaded: Loaded, inputs: Sequence[InputLike], labels: Sequence[int]) -> None:
        check_labels(loaded, inputs, labels)
        if not len(inputs):
            raise ValueError("there is no input to judge the heads by")
        self.model = loaded.model
        prepared = [prepare(loaded, given)[0] for given in inputs]
        rows = list(of_one_length(prepared, loaded.config))
        self.batches = [torch.cat([prepared[row] for row in some]) for some in rows]
        self.labels = [torch.tensor([int(labels[row]) for row in some]) for some in rows]

    def figures(self, gone: Sequence[HeadName], means: np.ndarray | None) -> tuple[float, float]:
        """Accuracy and mean loss without the heads that are `gone`."""
        right = loss = 0.0
        with torch.inference_mode(), evaluating(self.model), self._without(gone, means):
            for batch, labels in zip(self.batches, self.labels, strict=True):
                states = self.model.pass_blocks(self.model.embed(batch), self.model.full_mask(batch, None))
                answers = read_answer(self.model, states, batch).cpu()
                right += (answers.argmax(dim=-1) == labels).sum().item()
                loss += _loss(answers, labels).sum().item()
        n = sum(map(len, self.labels))
        return right / n, loss / n

    def losses_without_each(
        self, gone: Sequence[HeadName], left: Sequence[HeadName], means: np.ndarray | None
    ) -> Float64[np.ndarray, " left"]:
        """The mean loss without those that are `gone` and one of those that are `left`."""
        summed = dict.fromkeys(left, 0.0)
        vectors = None if means is None else torch.as_tensor(means)

        def instead(layer: int, z: Tensor) -> Tensor:
            return torch.zeros_like(z) if vectors is None else vectors[layer, :, None].to(z)

        with torch.inference_mode(), evaluating(self.model), self._without(gone, means):
            for batch, labels in zip(self.batches, self.labels, strict=True):
                for layer, heads, answers in with_each_head(self.model, batch, instead, set(left)):
                    for head, loss in zip(heads, _loss(answers.cpu(), labels).sum(dim=-1), strict=True):
                        summed[layer, head] += loss.item()
        return np.array([summed[each] for each in left]) / sum(map(len, self.labels))

    def _without(self, gone: Sequence[HeadName], means: np.ndarray | None) -> AbstractContextManager[None]:
        return watch(self.model, ablated(heads=gone, means=means).watchers(self.model, None))


def _loss(probabilities: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy in nats, [..., input]; no probability counts as less than float32 holds in full."""
    least = torch.finfo(torch.float32).tiny
    at_label = probabilities.double()[..., torch.arange(len(labels)), labels]
    return -at_label.clamp(min=least).log()
