"""Figures of positions and of the vectors that they are added to."""
