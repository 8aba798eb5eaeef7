"""Figures to choose inputs from."""
