"""Formulas of the Transformer worked out in numbers, and experiments with untrained encoders, which need no checkpoint."""
