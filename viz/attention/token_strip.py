"""The text itself, each token on the colour of the weight that the chosen query gives to it."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.attention.attention_colour import attention_colour
from viz.attention.token_label import FONT, label, visible
from viz.attention.token_label import width as label_width
from viz.palette import ACCENT, NEUTRAL, ColourScale, top
from viz.pixels import pixel_x
from viz.theme import INK, LIGHT_INK

_FONT_SIZE = 15
_LINE = 36  # pixels, as all lengths here
_PADDING = 6  # left and right of a token, in its box
_SPACE = 6  # between words
_ROUNDING = 6
_LONGEST_TOKEN = 24  # cells
_LONGEST_WORD = 240  # a longer one may break between its pieces
CONTINUES = "##"  # before a piece that goes on with the word before it


def token_strip(
    tokens: Sequence[str], weights: np.ndarray, *, query: int, scale: ColourScale = "own"
) -> alt.LayerChart:
    """Tokens in lines like text, coloured by weights [position]; the token `query` is outlined.

    The pieces of a word touch each other and lose their "##". A click on a token sets the point selection
    `token`, field `position`. The lines are broken in the browser and fit any width that Streamlit gives.
    Raises ValueError where tokens and weights differ in number.
    """
    if len(tokens) != len(weights):
        raise ValueError(f"{len(tokens)} tokens need as many weights, got {len(weights)}")
    boxes = _boxes(tokens).assign(weight=weights)
    boxes["chosen"] = boxes["position"] == query
    longest = (boxes["end"] - boxes["word"]).max() if len(boxes) else 0
    base = (
        alt.Chart(boxes)
        # The one endless line is cut into pieces, and a word goes where it starts. The pieces are shorter
        # than the width by the longest word: whichever comes last in its line, it fits.
        .transform_calculate(line=f"floor(datum.word / max(width - {longest}, 1))")
        .transform_joinaggregate(line_start="min(word)", groupby=["line"])
        .transform_calculate(left="datum.start - datum.line_start", right="datum.end - datum.line_start")
        .transform_calculate(middle="(datum.left + datum.right) / 2")
        .encode(
            x=pixel_x("left"),
            y=alt.Y("line:O", axis=None, scale=alt.Scale(paddingInner=0.22, paddingOuter=0.11)),
        )
    )
    box = {
        f"cornerRadius{corner}": alt.expr(f"datum.{end} ? {_ROUNDING} : 0")
        for end, corners in {
            "starts_word": ("TopLeft", "BottomLeft"),
            "ends_word": ("TopRight", "BottomRight"),
        }.items()
        for corner in corners
    }
    colours = base.mark_rect(**box, aria=False).encode(
        x2="right:Q", color=attention_colour(weights, scale, own="this row's maximum")
    )
    # The darkest colours are too dark for the dark ink of a light page.
    ink = f"datum.weight > {0.85 * top(weights, scale)} ? '{LIGHT_INK}' : {INK.expr}"
    text = base.mark_text(
        aria=False,
        font=FONT,
        fontSize=_FONT_SIZE,
        fontWeight=alt.expr("datum.chosen ? 'bold' : 'normal'"),
        color=alt.expr(ink),
        limit=alt.expr("datum.end - datum.start"),
    ).encode(x=pixel_x("middle"), text="label:N")
    # On top and clear: a click on a letter counts as one on its box.
    cover = (
        base.mark_rect(**box, fill="transparent", cursor="pointer")
        .encode(
            x2="right:Q",
            stroke=alt.when("datum.chosen").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL)),
            strokeWidth=alt.when("datum.chosen").then(alt.value(2.5)).otherwise(alt.value(0.5)),
            description="token:N",
            tooltip=[
                alt.Tooltip("token:N"),
                alt.Tooltip("position:Q"),
                alt.Tooltip("weight:Q", format=".4f", title="attention weight"),
            ],
        )
        .add_params(alt.selection_point(name="token", fields=["position"], toggle=False, clear=False))
    )
    return alt.layer(colours, text, cover).properties(
        width=1000,  # pixels, where Streamlit gives none
        height=alt.Step(_LINE),
        autosize="pad",  # the number of lines makes the height, and Vega fits nothing to a size of such a kind
        description=f"The {len(tokens)} tokens of the text, coloured by the attention of token {query} to them",
    )


def _boxes(tokens: Sequence[str]) -> pd.DataFrame:
    """A row a token, as if all stood in one endless line: `start` and `end`, and the start of its `word`."""
    rows = []
    word = end = 0.0
    for position, token in enumerate(tokens):
        continues = position > 0 and token.startswith(CONTINUES) and token != CONTINUES
        if continues:
            rows[-1]["ends_word"] = False
        shown = label(token.removeprefix(CONTINUES) if continues else token, _LONGEST_TOKEN)
        start = end if continues or position == 0 else end + _SPACE
        end = start + label_width(shown, _FONT_SIZE) + 2 * _PADDING
        if not continues or end - word > _LONGEST_WORD:
            word = start
        rows.append(
            {
                "position": position,
                "token": visible(token),
                "label": shown,
                "start": start,
                "end": end,
                "word": word,
                "starts_word": not continues,
                "ends_word": True,
            }
        )
    columns = ["position", "token", "label", "start", "end", "word", "starts_word", "ends_word"]
    return pd.DataFrame(rows, columns=columns)
