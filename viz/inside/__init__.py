"""Figures of the numbers inside one head and one block."""
