"""How tokens are written in figures, and an estimate of their width, since the server does not know the reader's
font.

Tokens are set in a monospace font, and their width is measured in the width of a Latin letter. The estimate is
generous, since letters that the font lacks come from another font with wider letters.
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
    """The `token` with signs in place of invisible letters: · for a space, ↵ a line end, ⇥ a tab, ␣ a control
    character.

    An accent alone gets a dotted circle below it; otherwise it would stand on the letter before the token.
    """
    text = "".join(map(_visible_letter, token)) or "·"
    return f"◌{text}" if unicodedata.category(text[0]) in ("Mn", "Me", "Mc") else text


def patch_in_words(token: str) -> str:
    """The token of a patch, such as "r2c1", as "the patch in row 2, column 1"; other tokens as they are."""
    return _PATCH.sub(r"the patch in row \1, column \2", token)


def label(token: str, max_letters: int) -> str:
    """The `token` as `visible` writes it, cut by `shortened` to `max_letters`."""
    return shortened(visible(token), max_letters)


def shortened(text: str, max_letters: int) -> str:
    """The `text`, with an ellipsis in place of its end if it is wider than `max_letters` Latin letters (see
    `width_in_letters`).
    """
    if width_in_letters(text) <= max_letters:
        return text
    n_fitting = sum(width_so_far <= max_letters - 1 for width_so_far in accumulate(map(_letter_width, text)))
    return text[:n_fitting].rstrip(_JOINER) + "…"


def width_in_letters(text: str) -> float:
    """The estimated width of a text in a monospace font, in widths of a Latin letter; wide East Asian letters and
    emoji count double.
    """
    return sum(map(_letter_width, text))


def width(text: str, font_size: float) -> float:
    """The estimated width of a text in pixels, in a monospace font of `font_size` pixels."""
    return width_in_letters(text) * _CELL * font_size


def _visible_letter(letter: str) -> str:
    """The letter, or the sign in place of an invisible one."""
    if letter in _LINE_ENDS or letter == "\t":
        return "⇥" if letter == "\t" else "↵"
    if letter.isspace():
        return "·"
    return "␣" if unicodedata.category(letter) in _CONTROLS else letter


def _letter_width(letter: str) -> float:
    """The estimated width of one letter, in widths of a Latin letter."""
    if unicodedata.category(letter) in _INVISIBLE:
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    # Latin, Greek, Cyrillic and Armenian come first
    return 1 if letter < "\u0590" or letter in "␣…↵⇥◌" else 1.5
