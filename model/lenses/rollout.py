"""Attention rollout: the product of attention over the layers (Abnar & Zuidema 2020)."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Bool, Float

from ..measures.head_measures import combine_heads
from ..record import AttentionRecord
from .as_record import any_head_mask, as_record, normalise_rows


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
    layer_factors = (
        normalise_rows(combine_heads(heads) / 2 + identity / 2) for heads in record.pattern.astype(np.float64)
    )
    return as_record(record, products_over_layers(layer_factors), reachable_keys(record))


def roll_out(maps: AttentionRecord) -> AttentionRecord:
    """Record of the product C_l … C_0 for each layer l, of the `maps` C of ALTI or value zeroing.

    Unlike in `rollout` no identity is added, since these maps include the residual connection.
    """
    return as_record(maps, products_over_layers(maps.pattern[:, 0].astype(np.float64)), reachable_keys(maps))


def products_over_layers(
    layer_maps: Iterable[Float[np.ndarray, "query key"]],
) -> Float[np.ndarray, "layer 1 query key"]:
    """For each layer, the product of its map in `layer_maps` with the maps of all earlier layers, later layers on the left."""
    products: list[np.ndarray] = []
    for layer_map in layer_maps:
        products.append(layer_map @ products[-1] if products else layer_map)
    return np.stack(products)[:, None]


def reachable_keys(record: AttentionRecord) -> Bool[np.ndarray, "layer 1 query key"]:
    """Mask of the attention rollout, and of other products over layers.

    True if the allowed attention and the residual connections of the layers up to this one connect the key to the query.
    """
    is_reachable = any_head_mask(record) | np.eye(len(record), dtype=bool)
    for layer_mask, previous_layer in zip(is_reachable[1:, 0], is_reachable[:-1, 0], strict=True):
        layer_mask[:] = (
            layer_mask.astype(np.float32) @ previous_layer > 0
        )  # as floats: numpy has no fast product of booleans
    return is_reachable
