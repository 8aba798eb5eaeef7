"""Figures in greys, for a page that is printed without colours.

Colours of weights become greys of the same lightness, as do pictures. Of colours that name kinds, the lightness is too much
alike: each has a grey of its own, and frames of what is chosen have the ink of the page. Purple for what falls and gold for
what rises would be one grey: figures with signs keep all their colours.
"""

import base64
import io
import json
import re
from typing import Literal

import numpy as np
from PIL import Image, ImageColor

from ..builders.figure import Figure, VegaFigure
from ..builders.palette import ACCENT, CATEGORIES, DIFFERENCE, FALLS, NEUTRAL, POST_LN, PRE_LN, RISES

# On a light page, from 0 (black) to 255; on a dark one what is missing to 255. Kinds that one figure shows are far apart.
_OF_KINDS = {
    ACCENT: 0,
    POST_LN: 0,
    PRE_LN: 0xB0,
    NEUTRAL: 0x8C,
    **dict(zip(CATEGORIES, (0x33, 0x85, 0xB3, 0x5C, 0x9C, 0x70), strict=True)),
}
_KINDS = {ImageColor.getrgb(colour): grey for colour, grey in _OF_KINDS.items()}
_SHARES = np.array(
    [0.299, 0.587, 0.114]
)  # of red, green and blue in the lightness: ITU-R BT.601, as Pillow's "L"
# Markup alone: a text, or the label of a mark, may read like a colour.
_TAG = re.compile(r'<[a-zA-Z](?:[^"<>]|"[^"]*")*>')
_COLOUR = re.compile(r'((?:^|\s)(?:fill|stroke|stop-color)=")(#[0-9a-fA-F]{3,8}|rgba?\([^")]*\))"')
_PICTURE = re.compile(r'(\s(?:xlink:)?href=")data:image/png;base64,([^"]*)"')
# As they stand in a specification: by themselves, and at the ends of `DIFFERENCE`.
_SIGNS = (FALLS, RISES, *(colour for colour in DIFFERENCE if colour.endswith(" 1.0)")))


def shows_signs(figure: Figure) -> bool:
    """Whether the figure tells by colours what falls and what rises, or what is below 0 and above."""
    if isinstance(figure, VegaFigure):
        texts = [json.dumps(figure.specification)]
        columns = [frame[name] for frame in figure.frames.values() for name in frame.columns]
        texts += [text for column in columns for text in column if isinstance(text, str)]
    else:
        texts = [str(trace.get("colorscale", "")) for trace in figure.specification.to_plotly_json()["data"]]
    return any(colour in text for text in texts for colour in _SIGNS)


def in_greys(svg: str, theme: Literal["light", "dark"]) -> str:
    """An SVG with greys in place of its colours, in its pictures too; nothing but colours changes."""

    def grey_colour(match: re.Match) -> str:
        red, green, blue, opacity = _rgba(match[2])
        grey = _KINDS.get((red, green, blue))
        if grey is None:
            grey = round(float(np.dot((red, green, blue), _SHARES)))
        elif theme == "dark":
            grey = 255 - grey
        return f'{match[1]}{f"rgba({grey},{grey},{grey},{opacity:g})" if opacity < 1 else "#" + 3 * f"{grey:02x}"}"'

    def grey_tag(match: re.Match) -> str:
        return _PICTURE.sub(
            lambda found: f'{found[1]}{_grey_picture(found[2])}"', _COLOUR.sub(grey_colour, match[0])
        )

    return _TAG.sub(grey_tag, svg)


def _rgba(colour: str) -> tuple[int, int, int, float]:
    """Red, green and blue from 0 to 255 and the opacity from 0 to 1 of a colour of CSS."""
    opacity = 1.0
    if colour.startswith("rgba"):
        *channels, last = colour[5:-1].split(",")
        colour, opacity = f"rgb({','.join(channels)})", float(last)
    red, green, blue = ImageColor.getrgb(colour)[:3]
    return red, green, blue, opacity


def _grey_picture(encoded: str) -> str:
    """A PNG in base64 as a data URI of the same picture in greys."""
    picture = Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA")
    buffer = io.BytesIO()
    picture.convert("LA").save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
