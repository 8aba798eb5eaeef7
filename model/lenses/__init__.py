"""Lenses: other maps than the attention weights of what passes between positions, each shown as an `AttentionRecord`."""

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
from .through import through

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
