"""What a figure can do about the reader's theme, which the server cannot know.

Streamlit colours axes, legends and titles, but leaves text marks black. Vega has the page's background as a
signal: these expressions choose where the theme is known, in the reader's browser, and in an exported PNG too.
"""

import altair as alt

DARK_INK, LIGHT_INK = "#1a1c24", "#fafafa"
ON_DARK = "luminance(background) < 0.4"
INK = alt.expr(f"{ON_DARK} ? '{LIGHT_INK}' : '{DARK_INK}'")
