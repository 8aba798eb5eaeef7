"""Figures from arrays and labels: one file for each kind of chart."""
