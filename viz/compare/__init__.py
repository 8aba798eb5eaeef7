"""Figures that set two encoders, or two inputs, side by side."""
