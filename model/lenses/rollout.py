"""Attention rollout: the product of attention over the layers (Abnar & Zuidema 2020)."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Bool, Float

from ..measures.head_measures import combine_heads
from ..record import AttentionRecord
from .as_record import as_record, as_shares, of_layers


def rollout(record: AttentionRecord) -> AttentionRecord:
    """Ã_l = (½ mean_h A_l + ½ I) Ã_{l−1}, from the input to each layer: one map a layer.

    The I is the residual connection, which counts as half. The rows of each factor are divided by their sum, so that those
    of Ã sum to 1 also where a query attends to nothing, or where the weights of the record do not sum to 1.
    Raises ValueError where queries and keys are not the same positions.
    """
    if record.keys is not None:
        raise ValueError(
            "attention between two inputs cannot be followed through layers: queries and keys differ"
        )
    itself = np.eye(len(record))
    steps = (as_shares(combine_heads(heads) / 2 + itself / 2) for heads in record.pattern.astype(np.float64))
    return as_record(record, multiplied(steps), reachable(record))


def multiplied(
    steps: Iterable[Float[np.ndarray, "query key"]],
) -> Float[np.ndarray, "layer 1 query key"]:
    """For each layer the product of its map with those of all earlier layers, later ones on the left."""
    products: list[np.ndarray] = []
    for step in steps:
        products.append(step @ products[-1] if products else step)
    return np.stack(products)[:, None]


def reachable(record: AttentionRecord) -> Bool[np.ndarray, "layer 1 query key"]:
    """True where a path of allowed attention and residual connections leads from the key to the query, by layer."""
    reached = of_layers(record) | np.eye(len(record), dtype=bool)
    for layer, before in zip(reached[1:, 0], reached[:-1, 0], strict=True):
        layer[:] = layer.astype(np.float32) @ before > 0  # as floats: numpy has no fast product of booleans
    return reached
