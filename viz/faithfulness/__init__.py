"""Figures of how far a map agrees with what happens when tokens or patches are taken away."""
