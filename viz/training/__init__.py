"""Figures of how training went."""
