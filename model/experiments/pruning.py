"""Heads taken away one after the other, always the one that is missed least: how many may go?"""

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from ..capture import evaluating
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from .ablation import How, ablated
from .importance import check_labels
from .one_head_changed import HeadName, with_each_head
from .probabilities import of_one_length, read_answer

BAND = 2.0  # standard errors; below it a difference may be chance


class Step(NamedTuple):
    """How well the encoder answers once `step` heads have gone, of which this was the last; none had, at step 0."""

    step: int
    layer: int | None
    head: int | None
    accuracy: float  # share of the inputs, from 0 to 1
    loss: float  # mean cross-entropy in nats
    n: int  # inputs that were judged
    turned_wrong: int  # of those, answers that were right at step 0 and are not now
    turned_right: int  # and the other way round

    @property
    def change(self) -> float:
        """Of the accuracy since step 0."""
        return (self.turned_right - self.turned_wrong) / self.n

    @property
    def error(self) -> float:
        """Standard error of `change`, which is a mean of -1, 0 and 1 over the inputs; NaN of fewer than two."""
        if self.n < 2:
            return math.nan
        turned, net = self.turned_right + self.turned_wrong, self.turned_right - self.turned_wrong
        return math.sqrt(max(turned - net**2 / self.n, 0) / (self.n - 1) / self.n)

    @property
    def loses(self) -> bool:
        """Whether the accuracy is lower than at step 0 by more than BAND standard errors of that difference."""
        return -self.change > BAND * self.error


def greedy(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    labels: Sequence[int],
    how: How = "zero",
    *,
    removed: Sequence[HeadName] = (),
    judged: tuple[Sequence[InputLike], Sequence[int]] | None = None,
) -> Iterator[Step]:
    """Removes heads (as `how` says, see `model.experiments.ablation.ablate_heads`) until none is left, and says what remains right.

    At each step all that are left are tried, on all `inputs`, and the one goes without which the mean loss is least;
    of equal ones the first. Accuracy and loss are of the same inputs, or of others that are `judged`: those that
    chose a head flatter the choice, so what is reported should be of others. Steps come as they are found. With heads `removed` already, in this order, it goes
    on with the next one; without, it begins with step 0.
    Raises ValueError where labels are no classes of the encoder, one an input, or where there is no input.
    """
    chosen_by = _Data(loaded, inputs, labels)
    means = None if isinstance(how, str) else how
    gone = list(removed)
    judge = chosen_by if judged is None else _Data(loaded, *judged)
    before, loss = judge.answers((), means)
    if not gone:
        yield _step(0, None, before, before, loss)
    every = [
        (layer, head) for layer in range(loaded.config.n_layers) for head in range(loaded.config.n_heads)
    ]
    while left := [each for each in every if each not in gone]:
        losses = chosen_by.losses_without_each(gone, left, means)
        gone.append(left[int(losses.argmin())])
        yield _step(len(gone), gone[-1], before, *judge.answers(gone, means))


def _step(
    step: int,
    gone: HeadName | None,
    before: Bool[np.ndarray, " input"],
    right: Bool[np.ndarray, " input"],
    loss: float,
) -> Step:
    return Step(
        step,
        *(gone or (None, None)),
        accuracy=float(right.mean()),
        loss=loss,
        n=len(right),
        turned_wrong=int((before & ~right).sum()),
        turned_right=int((~before & right).sum()),
    )


def may_go(steps: Sequence[Step]) -> int:
    """How many heads are gone before accuracy is, for the first time, clearly lower (`Step.loses`); whatever comes after.

    Raises ValueError where the steps do not begin with 0.
    """
    if not steps or steps[0].step != 0:
        raise ValueError("what may go is counted from step 0, before the first head goes")
    return next((each.step - 1 for each in steps if each.loses), steps[-1].step)


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

    def answers(
        self, gone: Sequence[HeadName], means: np.ndarray | None
    ) -> tuple[Bool[np.ndarray, " input"], float]:
        """Which inputs are answered rightly without the heads that are `gone`, in an order of its own, and the mean loss."""
        right: list[Tensor] = []
        loss = 0.0
        with torch.inference_mode(), evaluating(self.model), self._without(gone, means):
            for batch, labels in zip(self.batches, self.labels, strict=True):
                states = self.model.pass_blocks(self.model.embed(batch), self.model.full_mask(batch, None))
                answers = read_answer(self.model, states, batch).cpu()
                right.append(answers.argmax(dim=-1) == labels)
                loss += _loss(answers, labels).sum().item()
        return torch.cat(right).numpy(), loss / sum(map(len, self.labels))

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
