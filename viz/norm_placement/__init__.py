"""Figures that compare placements of the norm, seed by seed."""
