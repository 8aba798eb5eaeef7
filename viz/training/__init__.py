"""Figures of training runs."""
