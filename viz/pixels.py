"""Channels for figures that lay themselves out: a field that holds pixels from the upper left corner."""

import altair as alt


def pixel_x(field: str) -> alt.X:
    return alt.X(f"{field}:Q", scale=None, axis=None)


def pixel_y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)
