"""Makes an `AttentionRecord` from the map of a lens."""

import numpy as np
from jaxtyping import Bool, Float

from ..record import AttentionRecord
from ..record.from_arrays import positions

LEAST = 1e-30  # smallest divisor


def as_record(
    record: AttentionRecord,
    pattern: Float[np.ndarray, "layer head query key"],
    mask: Bool[np.ndarray, "layer head query key"],
) -> AttentionRecord:
    """A record with the positions of `record` and another map, in which masked cells are set to 0."""
    return AttentionRecord(
        pattern=np.where(mask, pattern, 0).astype(np.float32),
        mask=mask,
        keys=record.keys,
        **positions(record),
    )


def any_head_mask(record: AttentionRecord) -> Bool[np.ndarray, "layer 1 query key"]:
    """Mask for a map without heads: True if any head of the layer may attend from the query to the key."""
    return np.any(record.mask, axis=1, keepdims=True)


def normalise_rows(
    rows: Float[np.ndarray, "*axes query key"], least: float = LEAST
) -> Float[np.ndarray, "*axes query key"]:
    """Rows divided by their sums; a row whose sum is below `least` becomes zeros."""
    sums = rows.sum(axis=-1, keepdims=True)
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums >= least)
