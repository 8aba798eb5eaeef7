"""Texts from checkpoints and inputs made safe for files, and line breaks in exported figures. Letters that no font on
this machine has are replaced and named in a warning: a picture or a PDF would show empty boxes, and copy as other
letters.
"""

import io
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
import vl_convert
from PIL import Image

from ..builders.figure import Figure, VegaFigure
from ..builders.theme import FONT

# What XML 1.0 does not allow in any spelling, and the other control characters; a half of a pair cannot be encoded.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LONGEST_NAME = 100
_SYMBOL = 36  # pixels, of a legend: a symbol and what is free around it
_TEXT = re.compile("<text [^>]*>[^<]*</text>")
_SPACES = re.compile(" {2,}(?=[^<>]*<)")  # between tags, not in one
_RARE = re.compile("[\u1d00-\u1dbf\u2016\u2070-\u209f\u2207\u2208\u2290-\u22ff\u2400-\u243f\u2c60-\u2c7f]")
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


def replace_forbidden(value: Any) -> Any:
    """A copy of `value` with � for each character that XML forbids, in all strings of nested lists and dicts."""
    if isinstance(value, str):
        return _FORBIDDEN.sub("�", value)
    if isinstance(value, dict):
        return {replace_forbidden(key): replace_forbidden(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [replace_forbidden(child) for child in value]
    return value


def wrap_titles(value: Any, letters: int) -> Any:
    """A copy of a Vega-Lite specification whose titles have at most `letters` letters in a line; Vega itself does not
    wrap titles.
    """
    if isinstance(value, list):
        return [wrap_titles(child, letters) for child in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for name, child in value.items():
        if name == "tooltip":
            result[name] = child
        elif name == "title" and isinstance(child, dict):
            parts = {key: _wrap_lines(child[key], letters) for key in ("text", "subtitle") if key in child}
            result[name] = child | parts
        elif name == "title":
            result[name] = _wrap_lines(child, letters)
        else:
            result[name] = wrap_titles(child, letters)
    return result


def fold_legends(value: Any, width: float, letter: float) -> Any:
    """A copy of a Vega-Lite specification whose legends have several rows if one row would be wider than `width`
    pixels.

    `letter` is the width of a letter in pixels.
    """
    if isinstance(value, list):
        return [fold_legends(child, width, letter) for child in value]
    if not isinstance(value, dict):
        return value
    scale = value.get("scale")
    names = scale.get("domain") if isinstance(scale, dict) else None
    if isinstance(value.get("legend"), dict) and isinstance(names, list):
        longest_name = max((len(str(name)) for name in names), default=0) * letter + _SYMBOL
        if longest_name * len(names) > width:
            columns = {"columns": max(int(width / longest_name), 1)}
            return value | {"legend": value["legend"] | columns}
    if value.get("titleOrient") == "left" and "gradientLength" in value:
        n_beside = len(str(value.get("title"))) * letter + value["gradientLength"]
        return value | ({"titleOrient": "top"} if n_beside > 0.7 * width else {})
    return {
        name: child if name == "datasets" else fold_legends(child, width, letter)
        for name, child in value.items()
    }


def keep_spaces(svg: str) -> str:
    """An SVG whose texts keep several spaces in a row, which programs would otherwise draw as one."""
    return _SPACES.sub(lambda match: "\u00a0" * len(match[0]), svg)


def name_rare_fonts(svg: str) -> str:
    """An SVG in which texts with rare characters, such as raised digits, name a font that has them.

    Otherwise programs that draw the SVG would replace the font of the whole text.
    """

    def with_wide_font(match: re.Match) -> str:
        text = match[0]
        if not _RARE.search(text):
            return text
        return text.replace(f'font-family="{FONT}"', f'font-family="DejaVu Sans, {FONT}"')

    return _TEXT.sub(with_wide_font, svg)


def _wrap_lines(title: Any, letters: int) -> Any:
    """The lines of a title, wrapped at `letters` letters."""
    if isinstance(title, str):
        lines = textwrap.wrap(title, letters) if len(title) > letters else [title]
        return lines if len(lines) > 1 else title
    if isinstance(title, list) and all(isinstance(line, str) for line in title):
        return [line for line in title for line in (textwrap.wrap(line, letters) or [""])]
    return title


def file_name(*parts: str, suffix: str) -> str:
    """A file name from `parts`, without any character that a file system, a shell or a web address could misread.

    ("attention", "L2 H1", "imdb-pre-ln") with the suffix "svg" gives attention-L2-H1-imdb-pre-ln.svg.
    """
    plain = unicodedata.normalize("NFKD", "-".join(filter(None, parts))).encode("ascii", "ignore").decode()
    name = re.sub("[^A-Za-z0-9]+", "-", plain)[:_LONGEST_NAME].strip("-")
    return f"{name or 'figure'}.{suffix}"


def missing_letters_sentence(figure: Figure, kind: str) -> str:
    """One sentence that names the letters of the figure that no font here has, for a file of this `kind` ("png",
    "svg" or "pdf"); "" if all letters are there, or for a kind of file that holds no drawn letters.
    """
    if kind not in ("png", "svg", "pdf"):
        return ""
    letters = missing_letters(_figure_texts(figure))
    if not letters:
        return ""
    names = " ".join(letters[:_NAMED]) + (f" and {len(letters) - _NAMED} more" if letters[_NAMED:] else "")
    if kind == "svg":
        return f"No font here has {names}: the file keeps them, but they show only where a font has them."
    return f"No font here has {names}: the file shows {UNKNOWN} in their place."


def missing_letters(texts: Iterable[str]) -> list[str]:
    """The letters in `texts` that no font here has, each once, in the order of their first occurrence."""
    rare = (replace_forbidden(text) for text in texts if not text.isascii())  # a picture is a long text, too
    letters = dict.fromkeys(letter for text in rare for letter in text if letter > _COMMON)
    drawn = tuple(
        letter for letter in letters if letter != UNKNOWN and unicodedata.category(letter) not in _NO_LETTER
    )
    new = [letter for letter in drawn if letter not in _known]
    for start in range(0, len(new), _AT_ONCE):
        _known.update(_have_fonts(new[start : start + _AT_ONCE]))
    return [letter for letter in drawn if not _known[letter]]


def replace_missing_letters(svg: str) -> str:
    """An SVG with `UNKNOWN` in place of each letter that no font here has; accents on such a letter are removed."""
    gone = missing_letters(_BETWEEN_TAGS.findall(svg))
    if not gone:
        return svg
    table = str.maketrans(
        {letter: "" if unicodedata.category(letter).startswith("M") else UNKNOWN for letter in gone}
    )
    return _BETWEEN_TAGS.sub(lambda match: f">{match[1].translate(table)}<", svg)


def _have_fonts(letters: Sequence[str]) -> dict[str, bool]:
    """For each letter whether a font here has it: whether it is drawn differently from a character that no font has."""
    texts = "".join(
        f'<text x="{_CELL * index + _SIZE / 2}" y="{_SIZE * 1.5}">{escape(_PART.get(letter, letter))}</text>'
        for index, letter in enumerate((_NOWHERE, *letters))
    )
    size = f'width="{_CELL * (1 + len(letters))}" height="{_CELL}" font-family="{FONT}" font-size="{_SIZE}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{texts}</svg>'
    pixels = np.array(Image.open(io.BytesIO(vl_convert.svg_to_png(svg, scale=1, ppi=72))).convert("RGBA"))
    box, *drawn = (pixels[:, start : start + _CELL] for start in range(0, pixels.shape[1], _CELL))
    return {letter: not np.array_equal(cell, box) for letter, cell in zip(letters, drawn, strict=True)}


def _figure_texts(figure: Figure) -> Iterator[str]:
    """All texts of a figure: those of its specification and those of its data."""
    if isinstance(figure, VegaFigure):
        yield from _all_strings(figure.specification)
        for frame in figure.frames.values():
            for name in frame.columns:
                yield from (text for text in frame[name] if isinstance(text, str))
        return
    yield figure.title
    for panel in figure.panels:
        yield from (panel.name, *panel.colours.title)
        for axis in (panel.x, panel.y):
            yield from (axis.title, *(axis.names or ()))


def _all_strings(value: Any) -> Iterator[str]:
    """All strings in nested lists and dicts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _all_strings(child)
