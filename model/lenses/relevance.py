"""Attention weighted by how much the answer depends on it (Chefer et al. 2021, the generic method)."""

import numpy as np
import torch
from jaxtyping import Float

from ..capture import activations, capture
from ..capture.intervention import Intervention
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import AttentionRecord
from .as_record import LEAST, as_record
from .rollout import multiplied, reachable


def gradient_relevance(
    loaded: Loaded,
    given: InputLike,
    class_number: int | None = None,
    intervention: Intervention | None = None,
) -> AttentionRecord:
    """R ← R + Ā R with R = I before the first layer and Ā = mean_h max(0, ∇A ∘ A); one map a layer.

    Shown is R − I, divided by its largest number in each layer: the rows keep their sizes among each other, and do not sum
    to 1. ∇A is the gradient of `target`. Raises IndexError for a class that is not there, else as `capture` does.
    """
    record = capture(loaded, given, intervention)
    return relevance(record, weighted(loaded, given, class_number, intervention))


def weighted(
    loaded: Loaded,
    given: InputLike,
    class_number: int | None = None,
    intervention: Intervention | None = None,
) -> Float[np.ndarray, "layer query key"]:
    """Ā of each layer."""
    names = [f"blocks.{layer}.attention.pattern" for layer in range(loaded.config.n_layers)]
    seen = activations(loaded, [given], [*names, "logits"], intervention=intervention, gradients=True)
    patterns = [seen[name] for name in names]
    gradients = torch.autograd.grad(target(loaded, seen["logits"][0], class_number), patterns)
    made = [
        (pattern.detach() * gradient).clamp(min=0).mean(dim=1)[0]
        for pattern, gradient in zip(patterns, gradients, strict=True)
    ]
    return torch.stack(made).double().cpu().numpy()


def target(
    loaded: Loaded, answer: Float[torch.Tensor, " answer"], class_number: int | None
) -> Float[torch.Tensor, ""]:
    """What the gradient is of: the logit of a class, of the one with the largest where none is chosen.

    Of an encoder without classes, p · p with the second p held fixed, p its pooled state.
    """
    n_classes = loaded.config.n_classes
    if not n_classes:
        return answer @ answer.detach()
    number = int(answer.argmax()) if class_number is None else class_number
    if number not in range(n_classes):
        raise IndexError(f"class {number} is none of the {n_classes} classes")
    return answer[number]


def relevance(record: AttentionRecord, steps: Float[np.ndarray, "layer query key"]) -> AttentionRecord:
    """The lens, from `weighted`."""
    itself = np.eye(len(record))
    gained = multiplied(steps + itself) - itself
    largest = gained.max(axis=(1, 2, 3), keepdims=True)
    return as_record(record, gained / np.maximum(largest, LEAST), reachable(record))
