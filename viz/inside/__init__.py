"""Figures of what happens between the numbers of one head."""
