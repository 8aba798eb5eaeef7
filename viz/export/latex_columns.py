"""The columns of a data frame in LaTeX: heading, cells, and how wide they are."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pandas as pd

from .latex_width import latex_width
from .safe_text import clean

_DIGITS = 3  # of the largest number of a column
_SMALLEST, _LARGEST = (
    -2,
    5,
)  # exponents of the largest number; else the heading of the column has a power of ten as the unit
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPED)))
_BREAKS = re.compile(r" |(?<=[^\s-]-)(?=\w)")  # at a space, or after a hyphen within a word


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table, in LaTeX."""

    heading: tuple[str, ...]  # its lines
    cells: tuple[str, ...]
    is_text: bool
    is_key: bool  # whether it stands before the first measure, and so says what a row is about
    broken_at: float | None = None  # points at which lines of its cells are broken

    @property
    def alignment(self) -> str:
        if self.broken_at is not None:
            return rf">{{\raggedright\arraybackslash}}p{{{self.broken_at:.0f}pt}}"
        return "l" if self.is_text else "r"

    def width(self, size: float) -> float:
        """Points, in letters of `size` points, without the space beside the column."""
        cells = (
            self.cells if self.broken_at is None else [word for cell in self.cells for word in cell.split()]
        )
        lines = [*self.heading, *cells]
        return max(self.broken_at or 0, *(latex_width(line, size) for line in lines), 0)


def columns(frame: pd.DataFrame) -> list[Column]:
    """The columns of `frame`, each with a heading of one line."""
    made, is_key = [], True
    for index, name in enumerate(frame.columns):
        values = frame.iloc[:, index]
        is_key = is_key and not pd.api.types.is_float_dtype(values.dtype)
        is_text, cells, unit = _cells(values)
        heading = escaped(name) + f" (in $10^{{{unit}}}$)" * bool(unit)
        made.append(Column(heading=(heading,), cells=tuple(cells), is_text=is_text, is_key=is_key))
    return made


def heading_lines(column: Column) -> tuple[str, ...]:
    """The heading of a column, broken into as few lines as are as wide as its widest cell or, if that is wider, the longest word."""
    words = list(_words(column.heading[0]))
    room = max(map(latex_width, (*column.cells, *(word.strip() for word in words))), default=0)
    lines = [""]
    for word in words:
        if lines[-1] and latex_width(lines[-1] + word.rstrip()) > room:
            lines.append("")
        lines[-1] += word
    return tuple(line.strip() for line in lines)


def escaped(value: Any) -> str:
    """Text in which nothing is a command."""
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], " ".join(clean(str(value)).split()))


def _words(heading: str) -> Iterator[str]:
    """The parts of a heading between which its line can be broken; each ends with its space. `(in $10^{-3}$)` is one."""
    text, _, unit = heading.partition(" (in $")
    start = 0
    for match in _BREAKS.finditer(text):
        yield text[start : match.end()]
        start = match.end()
    yield text[start:] + " " * bool(unit)
    if unit:
        yield f"(in ${unit}"


def _cells(column: pd.Series) -> tuple[bool, list[str], int]:
    """Whether a column holds texts, its cells in LaTeX, and the exponent of the power of ten that is their unit."""
    values = column.tolist()
    if pd.api.types.is_bool_dtype(column.dtype) or not pd.api.types.is_numeric_dtype(column.dtype):
        return True, [escaped(value) for value in values], 0
    if pd.api.types.is_integer_dtype(column.dtype):
        return False, [f"${value}$" for value in values], 0
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    exponent = math.floor(math.log10(largest)) if largest else 0
    unit = 0 if _SMALLEST <= exponent <= _LARGEST or not largest else exponent
    decimals = max(0, _DIGITS - 1 - (exponent - unit)) if largest else 0
    return False, [_number(float(value), unit, decimals) for value in values], unit


def _number(value: float, unit: int, decimals: int) -> str:
    """A number in units of ten to the power of `unit`; one that would be 0 and is not is below half of the last decimal."""
    if not math.isfinite(value):
        return "--"
    text = f"{Decimal(value).scaleb(-unit):.{decimals}f}"
    if text.strip("-0."):
        return f"${text}$"
    if not value:
        return f"${text.removeprefix('-')}$"
    least = f"{5 * 10.0 ** -(decimals + 1):.{decimals + 1}f}"
    return f"$<{least}$" if value > 0 else f"$>-{least}$"
