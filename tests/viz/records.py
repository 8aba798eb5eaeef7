"""Records of given weights, for figures that take one."""

from collections.abc import Sequence

import numpy as np

from model.record import AttentionRecord, Positions


def heads_record(pattern: np.ndarray) -> AttentionRecord:
    """A record of patterns [layer, head, query, key] over tokens called t0, t1, ..."""
    n = pattern.shape[2]
    return AttentionRecord(
        tokens=tuple(f"t{index}" for index in range(n)),
        roles=("word",) * n,
        pattern=pattern.astype(np.float32),
        mask=np.ones(pattern.shape, bool),
    )


def head_record(
    pattern: np.ndarray,
    tokens: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    keys: Sequence[str] | None = None,
    numbers: tuple[int, ...] | None = None,
) -> AttentionRecord:
    """A record of one layer with one head, whose pattern is [query, key]."""
    mask = np.ones(pattern.shape, bool) if mask is None else mask
    return AttentionRecord(
        tokens=tuple(tokens),
        roles=("word",) * len(tokens),
        numbers=numbers,
        pattern=pattern[None, None].astype(np.float32),
        mask=mask[None, None].copy(),
        keys=None if keys is None else Positions(tokens=tuple(keys), roles=("word",) * len(keys)),
    )
