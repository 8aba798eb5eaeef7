"""Figures of fresh encoders: gradients, hidden norms, model updates, grids of short runs."""
