"""Figures of the computation inside one head and one block."""
