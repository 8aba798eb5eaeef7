"""Figures of position vectors and token embeddings."""
