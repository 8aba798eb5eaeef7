"""Figures of masks and of their effects."""
