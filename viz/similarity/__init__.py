"""Figures of similarities: between two texts by pairs of their tokens, between a picture and texts, and between the
patches of pictures.
"""
