"""Figures of what encoders and layers cost."""
