"""Figures of both placements of the norm, seed by seed."""
