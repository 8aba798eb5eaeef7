"""Experiments that run forward passes: they change heads, tokens or states, and measure how the answer changes.

The answer of an encoder is the probabilities of its classes; without classes, its pooled state; or log P of a word at [MASK].
"""
