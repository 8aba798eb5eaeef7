"""Channels for figures that lay themselves out: a field that holds pixels from the upper left corner."""

import altair as alt

from viz.figure import data


def pixel_x(field: str) -> alt.X:
    return alt.X(f"{field}:Q", scale=None, axis=None)


def pixel_y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def whole_picture(frame: str, **mark: bool) -> alt.Chart:
    """For forms: the picture `url` of that frame, over all of the chart."""
    size = {"width": alt.expr("width"), "height": alt.expr("height")}
    place = {"x": 0, "y": 0, "align": "left", "baseline": "top"}
    picture = alt.Chart(data(frame)).mark_image(**place, **size, tooltip=None, aria=False, **mark)
    return picture.encode(url="url:N")
