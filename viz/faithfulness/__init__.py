"""Figures of how well an attention map agrees with the effects of removing tokens or patches."""
