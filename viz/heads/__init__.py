"""Figures of what heads do, and of the effects of removing or replacing them."""
