"""Experiments that need forward passes of their own: changing heads, tokens or states, and measuring the answer."""
