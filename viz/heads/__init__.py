"""Figures of what heads do and what they are worth."""
