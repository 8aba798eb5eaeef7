"""Figures that compare pre-LN and post-LN, seed by seed."""
