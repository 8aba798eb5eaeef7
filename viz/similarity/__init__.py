"""Figures of similarities: of two inputs by pairs of their tokens, and of the patches of a picture."""
