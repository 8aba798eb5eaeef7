"""Lenses: other maps than the attention weights of what passes between positions, each shown as an `AttentionRecord`."""

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
