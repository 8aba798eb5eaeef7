"""What a figure can do about the reader's theme, which the server cannot know.

Streamlit colours axes, legends and titles, but leaves text marks black. Vega has the page's background as a
signal: these expressions choose where the theme is known, in the reader's browser, and in an exported PNG too.
"""

import altair as alt

DARK_INK, LIGHT_INK = "#1a1c24", "#fafafa"
ON_DARK = "luminance(background) < 0.4"
INK = alt.expr(f"{ON_DARK} ? '{LIGHT_INK}' : '{DARK_INK}'")


def heading(text: str, *below: str) -> dict:
    """The `title` of a chart: one line, and smaller ones below it."""
    style = {"anchor": "start", "fontSize": 13, "limit": 0, "subtitleFontSize": 11}
    return {"text": text, "subtitle": list(below), "subtitleColor": {"expr": INK.expr}, **style}
