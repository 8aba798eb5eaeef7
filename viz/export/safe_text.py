"""Texts from checkpoints and inputs, made safe for files, and the breaking of lines in exported figures."""

import re
import textwrap
import unicodedata
from typing import Any

from ..builders.theme import FONT

# What XML 1.0 does not allow in any spelling, and the other control characters; a half of a pair cannot be encoded.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LONGEST_NAME = 100
_SYMBOL = 36  # pixels, of a legend: a symbol and what is free around it
_TEXT = re.compile("<text [^>]*>[^<]*</text>")
_SPACES = re.compile(" {2,}(?=[^<>]*<)")  # between tags, not in one
_RARE = re.compile("[\u1d00-\u1dbf\u2016\u2070-\u209f\u2207\u2208\u2290-\u22ff\u2400-\u243f\u2c60-\u2c7f]")


def clean(value: Any) -> Any:
    """`value` with � for each character that XML forbids, in all strings of nested lists and dictionaries."""
    if isinstance(value, str):
        return _FORBIDDEN.sub("�", value)
    if isinstance(value, dict):
        return {clean(key): clean(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [clean(child) for child in value]
    return value


def wrap_titles(value: Any, letters: int) -> Any:
    """A Vega-Lite specification whose titles have at most `letters` a line, as Vega itself breaks no line."""
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
    """A Vega-Lite specification whose legends take several rows where one row would be wider than `width` pixels.

    `letter` is the width of a letter in pixels.
    """
    if isinstance(value, list):
        return [fold_legends(child, width, letter) for child in value]
    if not isinstance(value, dict):
        return value
    names = (value.get("scale") or {}).get("domain") if isinstance(value.get("scale"), dict) else None
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
    """An SVG whose texts keep several spaces in a row, of which programs would draw one."""
    return _SPACES.sub(lambda match: "\u00a0" * len(match[0]), svg)


def name_rare_fonts(svg: str) -> str:
    """An SVG in which texts with rare characters, such as raised digits, name a font that has these.

    Programs that draw the SVG would else replace the font of the whole text.
    """

    def with_wide_font(match: re.Match) -> str:
        text = match[0]
        if not _RARE.search(text):
            return text
        return text.replace(f'font-family="{FONT}"', f'font-family="DejaVu Sans, {FONT}"')

    return _TEXT.sub(with_wide_font, svg)


def _wrap_lines(title: Any, letters: int) -> Any:
    if isinstance(title, str):
        lines = textwrap.wrap(title, letters) if len(title) > letters else [title]
        return lines if len(lines) > 1 else title
    if isinstance(title, list) and all(isinstance(line, str) for line in title):
        return [line for line in title for line in (textwrap.wrap(line, letters) or [""])]
    return title


def file_name(*parts: str, suffix: str) -> str:
    """A file name of `parts` without anything that a file system, a shell or a web address could misread.

    ("attention", "L2 H1", "imdb-pre-ln") with the suffix "svg" gives attention-L2-H1-imdb-pre-ln.svg.
    """
    plain = unicodedata.normalize("NFKD", "-".join(filter(None, parts))).encode("ascii", "ignore").decode()
    name = re.sub("[^A-Za-z0-9]+", "-", plain)[:_LONGEST_NAME].strip("-")
    return f"{name or 'figure'}.{suffix}"
