"""Figures of attention patterns."""
