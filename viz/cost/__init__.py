"""Figures of the cost of encoders and layers."""
