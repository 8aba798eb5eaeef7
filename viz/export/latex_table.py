"""A data frame as a LaTeX table, in the form of the package booktabs."""

import math
import re
from collections.abc import Sequence
from numbers import Real
from typing import Any

import pandas as pd

from ..builders.number_format import format_tex
from .safe_text import clean

_DIGITS = 3  # of the largest number of a column
_LONGEST = 40  # rows; more do not fit on a page
_TEXT_WIDTH = 455  # points: a page of A4 with margins of 2.5 cm
_LETTER = 4.9  # points, of which letters and digits at 10 pt are wide on average, measured over such tables
_SMALLER = (
    ("", 1.0, 6),
    ("\\small", 0.9, 4),
    ("\\footnotesize", 0.8, 3),
    ("\\scriptsize", 0.7, 2),
)  # font, times 10 pt, and points beside each column
_MOST_DECIMALS = 4  # a smaller largest number is written with a power of ten
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
_MARKUP = re.compile(r"\\times|\\(?=[&%$#_{}])|[${}^]")  # what takes no room, or little
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPED)))


def latex_table(frame: pd.DataFrame) -> str:
    r"""The frame as a LaTeX table without its index: texts at the left, escaped, and numbers at the right.

    A column of numbers has as many decimals as three digits of its largest number need; a number that would then be 0
    and is not is written with a power of ten. A number that is missing is a dash. Beyond 40 rows the table is a `longtable`,
    which goes on over several pages. A table that would be wider than 16 cm has a smaller font. Comments on top say which
    packages it needs, and whether it is too wide even so.

    >>> import pandas as pd
    >>> from loupe import latex_table
    >>> print(latex_table(pd.DataFrame({"head": ["L0 H1"], "share_of [SEP]": [0.25]})))
    % \usepackage{booktabs}
    \begin{tabular}{lr}
    \toprule
    head & share\_of [SEP] \\
    \midrule
    L0 H1 & $0.250$ \\
    \bottomrule
    \end{tabular}
    """
    columns = [_cells(frame.iloc[:, index]) for index in range(frame.shape[1])]
    alignment = "".join("r" if is_numeric else "l" for is_numeric, _ in columns)
    rows = [f"{' & '.join(row)} \\\\" for row in zip(*(cells for _, cells in columns), strict=True)]
    heading = f"{' & '.join(_escaped(name) for name in frame.columns)} \\\\"
    is_long = len(frame) > _LONGEST
    environment = "longtable" if is_long else "tabular"
    font, gap, fits = _font(
        [[_escaped(name), *cells] for name, (_, cells) in zip(frame.columns, columns, strict=True)]
    )
    return "\n".join(
        [
            f"% \\usepackage{{booktabs{',longtable' * is_long}}}",
            *([] if fits else ["% wider than 16 cm even in this font: leave columns out, or turn the page"]),
            *([f"{{{font}\\setlength{{\\tabcolsep}}{{{gap}pt}}"] if font else []),
            f"\\begin{{{environment}}}{{{alignment}}}",
            "\\toprule",
            heading,
            "\\midrule",
            *(["\\endhead", "\\bottomrule", "\\endfoot"] if is_long else []),
            # A row that begins with [ would be read as an option of the line break before it.
            *("{}" * row.startswith("[") + row for row in rows),
            *([] if is_long else ["\\bottomrule"]),
            f"\\end{{{environment}}}",
            *(["}"] if font else []),
        ]
    )


def _font(columns: Sequence[Sequence[str]]) -> tuple[str, int, bool]:
    """Largest font in which columns with these cells are about as wide as a page of text at most, the points beside each of
    them, and whether they are; "" is the font around the table.
    """
    letters = sum(max(len(_MARKUP.sub("", cell)) for cell in column) for column in columns)
    for font, size, gap in _SMALLER:
        if letters * _LETTER * size + 2 * gap * len(columns) <= _TEXT_WIDTH:
            return font, gap, True
    return font, gap, False


def _cells(column: pd.Series) -> tuple[bool, list[str]]:
    """Whether a column holds numbers, and its cells as LaTeX."""
    values = column.tolist()
    if pd.api.types.is_bool_dtype(column.dtype) or not pd.api.types.is_numeric_dtype(column.dtype):
        return False, [_escaped(value) for value in values]
    if pd.api.types.is_integer_dtype(column.dtype):
        return True, [f"${value}$" for value in values]
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    decimals = max(0, _DIGITS - 1 - math.floor(math.log10(largest))) if largest else 0
    return True, [_number(value, decimals) for value in values]


def _number(value: Real, decimals: int) -> str:
    number = float(value)
    if not math.isfinite(number):
        return "--"
    text = f"{number:.{decimals}f}"
    if number and (decimals > _MOST_DECIMALS or not text.strip("-0.")):
        text = format_tex(number, ".1e")
    return f"${text.removeprefix('-') if not text.strip('-0.') else text}$"


def _escaped(value: Any) -> str:
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], " ".join(clean(str(value)).split()))
