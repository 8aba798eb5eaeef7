"""Figures of untrained encoders: gradients, hidden norms, model updates, grids of short runs."""
