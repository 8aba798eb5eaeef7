"""Figures of untrained encoders (gradients, lengths, model updates), and of runs with warm-ups."""
