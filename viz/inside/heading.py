"""What stands above a chart: its name, and in small letters how to read it."""

import altair as alt

from viz.theme import INK

# Streamlit hands a width over: the rest of the picture is laid out around a plot of the height that is asked for.
FIT = alt.AutoSizeParams(type="fit-x", contains="padding")


def heading(name: str, reading: str) -> alt.Title:
    # Streamlit colours titles for its theme, but leaves subtitles black.
    return alt.Title(
        name,
        subtitle=reading,
        subtitleColor=INK,
        anchor="start",
        frame="group",
        fontSize=14,
        subtitleFontSize=12,
        subtitlePadding=4,
        offset=10,
        limit=0,
    )
