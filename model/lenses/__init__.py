"""Lenses: maps that can be shown in place of the attention weights, each returned as an `AttentionRecord`."""

from .apply import through
from .descriptions import (
    ATTENTION,
    LENSES,
    NORM_WEIGHTED,
    RELEVANCE,
    ROLLED_OUT,
    ROLLOUT,
    VALUE_ZEROING,
    WITH_RESIDUAL,
    Lens,
)

__all__ = [
    "ATTENTION",
    "LENSES",
    "NORM_WEIGHTED",
    "RELEVANCE",
    "ROLLED_OUT",
    "ROLLOUT",
    "VALUE_ZEROING",
    "WITH_RESIDUAL",
    "Lens",
    "through",
]
