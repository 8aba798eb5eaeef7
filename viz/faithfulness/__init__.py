"""Figures of how well a map agrees with the effect of removing tokens or patches."""
