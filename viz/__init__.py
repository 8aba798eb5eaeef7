"""Figures from arrays and labels: one file a chart."""
