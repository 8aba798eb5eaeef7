"""Figures of masks and of what follows from them."""
