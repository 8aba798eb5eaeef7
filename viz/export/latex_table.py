"""A data frame as a LaTeX table, in the form of the package booktabs."""

import math
import re
from numbers import Real
from typing import Any

import pandas as pd

from ..builders.number_format import format_tex
from .safe_text import clean

_DIGITS = 3  # of the largest number of a column
_LONGEST = 40  # rows; more do not fit on a page
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
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPED)))


def latex_table(frame: pd.DataFrame) -> str:
    r"""The frame as a LaTeX table without its index: texts at the left, escaped, and numbers at the right.

    A column of numbers has as many decimals as three digits of its largest number need; a number that would then be 0
    and is not is written with a power of ten. A number that is missing is a dash. Beyond 40 rows the table is a `longtable`,
    which goes on over several pages. A comment on top says which packages it needs.

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
    return "\n".join(
        [
            f"% \\usepackage{{booktabs{',longtable' * is_long}}}",
            f"\\begin{{{environment}}}{{{alignment}}}",
            "\\toprule",
            heading,
            "\\midrule",
            *(["\\endhead", "\\bottomrule", "\\endfoot"] if is_long else []),
            # A row that begins with [ would be read as an option of the line break before it.
            *("{}" * row.startswith("[") + row for row in rows),
            *([] if is_long else ["\\bottomrule"]),
            f"\\end{{{environment}}}",
        ]
    )


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
