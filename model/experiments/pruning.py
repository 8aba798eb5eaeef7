"""Greedy pruning: removes heads one by one, at each step the head whose removal increases the loss least."""

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from ..capture import evaluation_mode
from ..hooks import watch
from ..inputs import InputLike
from ..loaded import Loaded
from .ablation import AblationKind, HeadName, ablated, change_each_head, check_labels, head_replacement
from .batching import answers_from_block, batches
from .masked_word import LOGITS

BAND = 2.0  # standard errors; below it a difference may be chance


class PruningStep(NamedTuple):
    """Accuracy and mean loss (nats) after `step` heads were removed, the last of which is (`layer`, `head`); None at step 0."""

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
        """The change of the accuracy since step 0, from -1 to 1."""
        return (self.turned_right - self.turned_wrong) / self.n

    @property
    def standard_error(self) -> float:
        """Standard error of `change`, the mean over the inputs of 1 (turned right), -1 (turned wrong) or 0; NaN below two inputs."""
        if self.n < 2:
            return math.nan
        n_changed, net_change = self.turned_right + self.turned_wrong, self.turned_right - self.turned_wrong
        return math.sqrt(max(n_changed - net_change**2 / self.n, 0) / (self.n - 1) / self.n)

    @property
    def is_worse(self) -> bool:
        """Whether the accuracy is lower than at step 0 by more than BAND standard errors."""
        return -self.change > BAND * self.standard_error


def greedy(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    labels: Sequence[int],
    ablation: AblationKind = "zero",
    *,
    removed: Sequence[HeadName] = (),
    judged: tuple[Sequence[InputLike], Sequence[int]] | None = None,
) -> Iterator[PruningStep]:
    """Yields the steps of a pruning that ablates heads (`ablate_heads`) one after the other until all are removed.

    At each step every remaining head is tried on all `inputs`, and the head without which the mean loss is smallest is
    removed. Accuracy and loss are measured on the `judged` inputs and labels, by default on the same `inputs`, where both
    look better than on other inputs. Each step is yielded as soon as it is computed. Pruning continues after the heads already
    `removed`, in this order; if there are none, it begins with step 0. Raises ValueError if there are no inputs, or not one
    valid class label for each input.

    >>> from loupe import load, prune_heads
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> steps = prune_heads(encoder, ["A gripping film.", "A dull film."], labels=[1, 0])
    >>> next(steps).accuracy
    1.0
    """
    choice_inputs = _LabelledBatches(loaded, inputs, labels, ablation)
    removed_heads = list(removed)
    judged_inputs = choice_inputs if judged is None else _LabelledBatches(loaded, *judged, ablation)
    right_at_start, loss = judged_inputs.answers(())
    if not removed_heads:
        yield _pruning_step(0, None, right_at_start, right_at_start, loss)
    config = loaded.config
    remaining = [(layer, head) for layer in range(config.n_layers) for head in range(config.n_heads)]
    while remaining := [head for head in remaining if head not in removed_heads]:
        losses = choice_inputs.losses_without_each(removed_heads, remaining)
        removed_heads.append(remaining[int(losses.argmin())])
        is_right, loss = judged_inputs.answers(removed_heads)
        yield _pruning_step(len(removed_heads), removed_heads[-1], right_at_start, is_right, loss)


def _pruning_step(
    step: int,
    last: HeadName | None,
    before: Bool[np.ndarray, " input"],
    is_right: Bool[np.ndarray, " input"],
    loss: float,
) -> PruningStep:
    layer, head = last or (None, None)
    return PruningStep(
        step=step,
        layer=layer,
        head=head,
        accuracy=float(is_right.mean()),
        loss=loss,
        n=len(is_right),
        turned_wrong=int((before & ~is_right).sum()),
        turned_right=int((~before & is_right).sum()),
    )


def n_removable_heads(steps: Sequence[PruningStep]) -> int:
    """Number of heads that can be removed before the accuracy is clearly lower (`PruningStep.is_worse`) for the first time.

    Raises ValueError unless `steps` begin with step 0.
    """
    if not steps or steps[0].step != 0:
        raise ValueError("what may go is counted from step 0, before the first head goes")
    return next((step.step - 1 for step in steps if step.is_worse), steps[-1].step)


class _LabelledBatches:
    """Batches of inputs with their labels, tokenised once, on which an encoder is measured with some of its heads ablated."""

    def __init__(
        self, loaded: Loaded, inputs: Sequence[InputLike], labels: Sequence[int], ablation: AblationKind
    ) -> None:
        self.replace = head_replacement(loaded, ablation)
        self.means = None if isinstance(ablation, str) else ablation
        check_labels(loaded, inputs, labels)
        if not len(inputs):
            raise ValueError("there is no input to judge the heads by")
        self.model, self.n_inputs = loaded.model, len(inputs)
        self.batches = [
            (batch, torch.tensor([int(labels[index]) for index in indices]))
            for indices, batch in batches(loaded, inputs)
        ]

    def answers(self, removed: Sequence[HeadName]) -> tuple[Bool[np.ndarray, " input"], float]:
        """Whether each input is classified correctly without the heads `removed`, in the order of the batches; mean loss in nats."""
        is_right: list[Tensor] = []
        loss = 0.0
        with torch.inference_mode(), evaluation_mode(self.model), self._watch_without(removed):
            for batch, labels in self.batches:
                states, mask = self.model.embed(batch), self.model.full_mask(batch)
                answers = answers_from_block(self.model, 0, states, batch, mask, LOGITS)[0].cpu()
                is_right.append(answers.argmax(dim=-1) == labels)
                loss += _loss(answers, labels).sum().item()
        return torch.cat(is_right).numpy(), loss / self.n_inputs

    def losses_without_each(
        self, removed: Sequence[HeadName], remaining: Sequence[HeadName]
    ) -> Float64[np.ndarray, " remaining"]:
        """Mean loss in nats without the heads `removed` and one more head, for each head in `remaining`."""
        loss_sums = dict.fromkeys(remaining, 0.0)
        with torch.inference_mode(), evaluation_mode(self.model), self._watch_without(removed):
            for batch, labels in self.batches:
                steps = change_each_head(self.model, batch, self.replace, set(remaining), LOGITS)
                for layer, heads, answers in steps:
                    for head, loss in zip(heads, _loss(answers.cpu(), labels).sum(dim=-1), strict=True):
                        loss_sums[layer, head] += loss.item()
        return np.array([loss_sums[head] for head in remaining]) / self.n_inputs

    def _watch_without(self, removed: Sequence[HeadName]) -> AbstractContextManager[None]:
        return watch(self.model, ablated(heads=removed, means=self.means).watchers(self.model, None))


def _loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy in nats, [..., input]."""
    return -logits.double().log_softmax(dim=-1)[..., torch.arange(len(labels)), labels]
