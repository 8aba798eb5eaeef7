"""Lenses: maps between positions other than the attention weights, each as an `AttentionRecord`."""

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
