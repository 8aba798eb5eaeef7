"""Experiments that run forward passes: they change heads, tokens or states, and measure how the answer changes."""
