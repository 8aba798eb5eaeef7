"""Which letters of a figure no font of this machine has: a picture or a PDF would show empty boxes, and copy as other letters."""

import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
import vl_convert
from PIL import Image

from ..builders.figure import Figure, VegaFigure
from .safe_text import FONT, clean

UNKNOWN = "�"  # stands in a picture for a letter that cannot be drawn
_COMMON = "\u024f"  # each font has the Latin letters up to here
_NO_LETTER = {"Cc", "Cf", "Cs", "Cn", "Co", "Zs", "Zl", "Zp"}  # nothing is drawn for most of these
_NOWHERE = "\U0010fffd"  # for private use: no font has it
_CELL, _SIZE = 48, 20  # pixels of a letter's cell, and of the letter
_AT_ONCE = 200  # letters that one picture tests
_PART = {"ำ": "า", "ຳ": "າ"}  # letters that are drawn as two: the one that is as good a test
_known: dict[str, bool] = {}  # whether a font has the letter, of those that were asked for: 5 ms each
_NAMED = 12  # letters that a sentence names
_BETWEEN_TAGS = re.compile(">([^<]+)<")


def sentence(figure: Figure, kind: str) -> str:
    """One sentence about the letters of the figure that no font here has, for a file of this `kind` ("png", "svg" or "pdf"); ""
    if there are none, or for a file without drawn letters.
    """
    if kind not in ("png", "svg", "pdf"):
        return ""
    letters = missing(_texts(figure))
    if not letters:
        return ""
    names = " ".join(letters[:_NAMED]) + (f" and {len(letters) - _NAMED} more" if letters[_NAMED:] else "")
    if kind == "svg":
        return f"No font here has {names}: the file keeps them, but they show only where a font has them."
    return f"No font here has {names}: the file shows {UNKNOWN} in their place."


def missing(texts: Iterable[str]) -> list[str]:
    """The letters of the texts that no font here has, each once, in the order of their first occurrence."""
    rare = (clean(text) for text in texts if not text.isascii())  # a picture is a long text, too
    letters = dict.fromkeys(letter for text in rare for letter in text if letter > _COMMON)
    drawn = tuple(
        letter for letter in letters if letter != UNKNOWN and unicodedata.category(letter) not in _NO_LETTER
    )
    new = [letter for letter in drawn if letter not in _known]
    for start in range(0, len(new), _AT_ONCE):
        _known.update(_have_fonts(new[start : start + _AT_ONCE]))
    return [letter for letter in drawn if not _known[letter]]


def with_replacements(svg: str) -> str:
    """An SVG with `UNKNOWN` in place of each letter that no font here has; accents on such a letter go with it."""
    gone = missing(_BETWEEN_TAGS.findall(svg))
    if not gone:
        return svg
    table = str.maketrans(
        {letter: "" if unicodedata.category(letter).startswith("M") else UNKNOWN for letter in gone}
    )
    return _BETWEEN_TAGS.sub(lambda match: f">{match[1].translate(table)}<", svg)


def _have_fonts(letters: Sequence[str]) -> dict[str, bool]:
    """For each letter whether what draws the files draws it in another way than a character that no font has."""
    texts = "".join(
        f'<text x="{_CELL * index + _SIZE / 2}" y="{_SIZE * 1.5}">{escape(_PART.get(letter, letter))}</text>'
        for index, letter in enumerate((_NOWHERE, *letters))
    )
    size = f'width="{_CELL * (1 + len(letters))}" height="{_CELL}" font-family="{FONT}" font-size="{_SIZE}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{texts}</svg>'
    pixels = np.array(Image.open(io.BytesIO(vl_convert.svg_to_png(svg, scale=1, ppi=72))).convert("RGBA"))
    box, *drawn = (pixels[:, start : start + _CELL] for start in range(0, pixels.shape[1], _CELL))
    return {letter: not np.array_equal(cell, box) for letter, cell in zip(letters, drawn, strict=True)}


def _texts(figure: Figure) -> Iterator[str]:
    """All texts of a figure: those of its specification, and those of its data."""
    if isinstance(figure, VegaFigure):
        yield from _strings(figure.specification)
        for frame in figure.frames.values():
            for name in frame.columns:
                yield from (text for text in frame[name] if isinstance(text, str))
        return
    yield figure.title
    for panel in figure.panels:
        yield from (panel.name, *panel.colours.title)
        for axis in (panel.x, panel.y):
            yield from (axis.title, *(axis.names or ()))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _strings(child)
