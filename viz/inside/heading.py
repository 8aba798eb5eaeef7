"""What stands above a chart: its name, and in small letters how to read it."""

from viz import theme

FIT = theme.FIT


def heading(name: str, reading: str) -> dict:
    """The `title` of a chart, larger than `theme.heading` and in line with the plot."""
    place = {"frame": "group", "fontSize": 14, "subtitleFontSize": 12, "subtitlePadding": 4, "offset": 10}
    return theme.heading(name, reading) | place
