"""Attention rollout, the product of attention over the layers (Abnar & Zuidema 2020), and relevance, which weights attention by
the gradient of the answer with respect to it (the generic method of Chefer et al. 2021).
"""

from collections.abc import Iterable
from itertools import accumulate

import numpy as np
import torch
from jaxtyping import Bool, Float

from ..capture import activations
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import AttentionRecord
from ..record.from_arrays import LEAST, any_head_mask, normalise_rows, record_with_map


def rollout(record: AttentionRecord) -> AttentionRecord:
    """Attention rollout Ã_l = (½ mean_h A_l + ½ I) Ã_{l−1}, as a record with one map per layer.

    The identity stands for the residual connection. The rows of each factor are divided by their sums, so the rows of Ã
    sum to 1 even if those of the record do not. Raises ValueError if queries and keys are different positions.
    """
    if record.keys is not None:
        raise ValueError(
            "attention between two inputs cannot be followed through layers: queries and keys differ"
        )
    identity = np.eye(len(record))
    factors = normalise_rows(record.pattern.astype(np.float64).mean(axis=1) / 2 + identity / 2)
    return record_with_map(record, products_over_layers(factors), reachable_keys(record))


def record_of_rolled_out_maps(maps: AttentionRecord) -> AttentionRecord:
    """Record of the product C_l … C_0 for each layer l, where the `maps` C_l are those of ALTI or value zeroing.

    Unlike in `rollout` no identity is added, since these maps include the residual connection.
    """
    return record_with_map(
        maps, products_over_layers(maps.pattern[:, 0].astype(np.float64)), reachable_keys(maps)
    )


def products_over_layers(
    layer_maps: Iterable[Float[np.ndarray, "query key"]],
) -> Float[np.ndarray, "layer 1 query key"]:
    """For each layer, the product of its map in `layer_maps` with the maps of all earlier layers, later layers on the left."""
    return np.stack([*accumulate(layer_maps, lambda product, layer_map: layer_map @ product)])[:, None]


def reachable_keys(record: AttentionRecord) -> Bool[np.ndarray, "layer 1 query key"]:
    """Mask of the attention rollout and of other products over layers.

    True if a path of allowed attention and residual connections leads from the key to the query in the layers up to this one.
    """
    is_reachable = any_head_mask(record) | np.eye(len(record), dtype=bool)
    for layer_mask, previous_layer in zip(is_reachable[1:, 0], is_reachable[:-1, 0], strict=True):
        # as floats: numpy has no fast product of booleans
        layer_mask[:] = layer_mask.astype(np.float32) @ previous_layer > 0
    return is_reachable


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


def relevance(
    record: AttentionRecord, weighted_attention: Float[np.ndarray, "layer query key"]
) -> AttentionRecord:
    """Record of relevance, R ← R + Ā R from layer to layer, beginning with R = I; `weighted_attention` holds Ā of each layer
    (`gradient_weighted_attention`).

    The map of a layer is R − I divided by its largest value, so rows keep their relative sizes and do not sum to 1.
    """
    identity = np.eye(len(record))
    gained_relevance = products_over_layers(weighted_attention + identity) - identity
    largest_values = gained_relevance.max(axis=(1, 2, 3), keepdims=True)
    return record_with_map(
        record, gained_relevance / np.maximum(largest_values, LEAST), reachable_keys(record)
    )
