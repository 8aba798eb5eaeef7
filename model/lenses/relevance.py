"""Relevance: attention weighted by how much the answer depends on it (the generic method of Chefer et al. 2021)."""

import numpy as np
import torch
from jaxtyping import Float

from ..capture import activations
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import AttentionRecord
from .as_record import LEAST, as_record
from .rollout import products_over_layers, reachable_keys


def gradient_weighted_attention(
    loaded: Loaded,
    model_input: InputLike,
    class_number: int | None = None,
) -> Float[np.ndarray, "layer query key"]:
    """Gradient-weighted attention Ā = mean_h max(0, ∇A ∘ A) of each layer.

    ∇A is the gradient, with respect to the weights A, of the logit of class `class_number`, by default the predicted class
    (`gradient_target`). Raises as `model.capture.capture` does, and IndexError for a class that does not exist.
    """
    names = [f"blocks.{layer}.attention.pattern" for layer in range(loaded.config.n_layers)]
    captured = activations(loaded, [model_input], [*names, "logits"], gradients=True)
    patterns = [captured[name] for name in names]
    gradients = torch.autograd.grad(gradient_target(loaded, captured["logits"][0], class_number), patterns)
    averages = [
        (pattern.detach() * gradient).clamp(min=0).mean(dim=1)[0]
        for pattern, gradient in zip(patterns, gradients, strict=True)
    ]
    return torch.stack(averages).double().cpu().numpy()


def gradient_target(
    loaded: Loaded, answer: Float[torch.Tensor, " answer"], class_number: int | None
) -> Float[torch.Tensor, ""]:
    """The scalar whose gradient is taken: the logit of class `class_number`, or of the predicted class if that is None.

    For an encoder without classes it is p · p with the second p held constant, where p is the pooled state.
    """
    n_classes = loaded.config.n_classes
    if not n_classes:
        return answer @ answer.detach()
    class_index = int(answer.argmax()) if class_number is None else class_number
    if class_index not in range(n_classes):
        raise IndexError(f"class {class_index} is none of the {n_classes} classes")
    return answer[class_index]


def relevance(record: AttentionRecord, steps: Float[np.ndarray, "layer query key"]) -> AttentionRecord:
    """Record of relevance, R ← R + Ā R from layer to layer, beginning with R = I; `steps` holds Ā
    (`gradient_weighted_attention`).

    The map of a layer is R − I divided by its largest value, so rows keep their relative sizes and do not sum to 1.
    """
    identity = np.eye(len(record))
    gained_relevance = products_over_layers(steps + identity) - identity
    largest_values = gained_relevance.max(axis=(1, 2, 3), keepdims=True)
    return as_record(record, gained_relevance / np.maximum(largest_values, LEAST), reachable_keys(record))
