"""How tokens are written in figures, and an estimate of their width: the server does not know the reader's font.

Tokens are set in a monospace font and measured in cells, one for a Latin letter. The estimate is generous, since
scripts that the font lacks come from another one with wider letters.
"""

import re
import unicodedata
from itertools import accumulate

# The first is what Streamlit brings along for code; a cell of each is about 0.6 of the font size.
FONT = "'Source Code Pro', 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_CELL = 0.62
_INVISIBLE = {"Mn", "Me", "Cf"}  # accents on the letter before, joiners, direction marks
_CONTROLS = {"Cc", "Cs"}
_LINE_ENDS = "\n\r\v\f\x85\u2028\u2029"
_PATCH = re.compile("r([0-9]+)c([0-9]+)")
_JOINER = "\u200d"  # makes one emoji of two


def visible(token: str) -> str:
    """`token` with marks in place of what would be invisible: · a space, ↵ a line end, ⇥ a tab, ␣ a control character.

    An accent alone stands on a dotted circle, or it would stand on what is written before the token.
    """
    text = "".join(map(_visible_letter, token)) or "·"
    return f"◌{text}" if unicodedata.category(text[0]) in ("Mn", "Me", "Mc") else text


def patch_in_words(token: str) -> str:
    """What names a patch, such as "r2c1", as "the patch in row 2, column 1"; other tokens as they are."""
    return _PATCH.sub(r"the patch in row \1, column \2", token)


def label(token: str, at_most: int) -> str:
    """`token` as `visible` writes it, `shortened` to `at_most` letters."""
    return shortened(visible(token), at_most)


def shortened(text: str, at_most: int) -> str:
    """`text`, its end replaced by an ellipsis if it is wider than `at_most` letters (see `cells`)."""
    if cells(text) <= at_most:
        return text
    n_fitting = sum(width_so_far <= at_most - 1 for width_so_far in accumulate(map(_cells, text)))
    return text[:n_fitting].rstrip(_JOINER) + "…"


def cells(text: str) -> float:
    """Estimated width of a text in cells of a monospace font; wide East Asian letters and emoji count double."""
    return sum(map(_cells, text))


def width(text: str, font_size: float) -> float:
    """Estimated width of a text in pixels."""
    return cells(text) * _CELL * font_size


def _visible_letter(letter: str) -> str:
    if letter in _LINE_ENDS or letter == "\t":
        return "⇥" if letter == "\t" else "↵"
    if letter.isspace():
        return "·"
    return "␣" if unicodedata.category(letter) in _CONTROLS else letter


def _cells(letter: str) -> float:
    if unicodedata.category(letter) in _INVISIBLE:
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    # Latin, Greek, Cyrillic and Armenian come first
    return 1 if letter < "\u0590" or letter in "␣…↵⇥◌" else 1.5
