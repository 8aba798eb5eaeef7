"""Lenses: other maps than the attention weights of what passes between positions, each shown as an `AttentionRecord`."""

from .descriptions import LENSES, Lens
from .through import through

__all__ = ["LENSES", "Lens", "through"]
