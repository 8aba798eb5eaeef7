r"""A data frame as a LaTeX table, written by pandas in the form of the package booktabs."""

import math
import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from .safe_text import clean

_LONGEST = 40  # rows; more do not fit on a page
_DIGITS = 3  # of the largest number of a column
_EXPONENTS = range(-2, 6)  # of the largest number, in which the numbers of a column need no power of ten
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


def latex_table(frame: pd.DataFrame, *, note: str = "") -> str:
    r"""The frame as a LaTeX table without its index, in `\small` letters: texts at the left, escaped, and numbers at the right;
    below it the `note`, plain text such as what was measured.

    A column of numbers has as many decimals as three digits of its largest number need; where that is below 0.01 or from a
    million on, each number has a power of ten. What is no finite number is a dash. Beyond 40 rows the table is a `longtable`, which
    goes on over several pages. A comment on top says which packages it needs.

    >>> import pandas as pd
    >>> from loupe import latex_table
    >>> print(latex_table(pd.DataFrame({"head": ["L0 H1"], "share_of [SEP]": [0.25]})))
    % \usepackage{booktabs}
    {\small
    \begin{tabular}{lr}
    \toprule
    head & share\_of [SEP] \\
    \midrule
    L0 H1 & $0.250$ \\
    \bottomrule
    \end{tabular}
    }
    """
    is_long = len(frame) > _LONGEST
    numbered = frame.set_axis(range(frame.shape[1]), axis=1).reset_index(drop=True)  # names may occur twice
    table = (
        numbered.style.format({name: _formatter(numbered[name]) for name in numbered}, na_rep="--")
        .format_index(lambda number: _escaped(frame.columns[number]), axis=1)
        .hide(axis="index")
        .to_latex(hrules=True, environment="longtable" if is_long else None)
    )
    packages = "booktabs,longtable" if is_long else "booktabs"
    below = rf"\par\smallskip\footnotesize {_escaped(note)}\par" + "\n" if note else ""
    return f"% \\usepackage{{{packages}}}\n{{\\small\n{table}{below}}}"


def _escaped(value: Any) -> str:
    """Text in which nothing is a command; at the start of a row, [ would be read as an option of the line break before it."""
    text = _SPECIAL.sub(lambda match: _ESCAPED[match[0]], " ".join(clean(str(value)).split()))
    return f"{{}}{text}" if text.startswith("[") else text


def _formatter(column: pd.Series) -> Callable[[Any], str]:
    """What writes the values of a column."""
    if pd.api.types.is_bool_dtype(column.dtype) or not pd.api.types.is_numeric_dtype(column.dtype):
        return _escaped
    if pd.api.types.is_integer_dtype(column.dtype):
        return lambda value: f"${value}$"
    largest = max((abs(value) for value in column if math.isfinite(value)), default=0.0)
    exponent = math.floor(math.log10(largest)) if largest else 0
    decimals = max(0, _DIGITS - 1 - exponent) if largest else 0

    def number(value: float) -> str:
        if not math.isfinite(value):
            return "--"
        if exponent in _EXPONENTS or not value:
            return f"${value:z.{decimals if exponent in _EXPONENTS else 0}f}$"
        digits, power = f"{value:.{_DIGITS - 1}e}".split("e")
        return rf"${digits} \cdot 10^{{{int(power)}}}$"

    return number
