"""Figures of untrained encoders (gradients, norms, model updates), and of training runs with learning-rate warm-ups."""
