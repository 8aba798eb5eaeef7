"""Figures as files, in the format given by the suffix of the file name; the numbers of figures as CSV or Parquet, one
row for each mark or a matrix with its labels; and LaTeX tables in the style of the package booktabs.
"""

import io
import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ..builders.figure import Figure, VegaFigure
from ..builders.number_format import THIN
from .drawing import pdf, png, svg
from .export_style import ExportStyle
from .safe_text import missing_letters_sentence, replace_forbidden

MIME = {
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html",
    "tex": "application/x-tex",
}
PICTURES, TABLES = ("png", "svg", "pdf"), ("csv", "parquet")
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


def numbers_table(figure: Figure) -> pd.DataFrame:
    """The numbers of the figure: its data frame without the columns that only the drawing needs or, if it shows maps
    as pictures, their weights. Labels of rows become the first column, and all column names differ.
    """
    if isinstance(figure, VegaFigure) and figure.table is not None:
        frame = figure.table()
    else:
        frame = figure.frame
        if isinstance(figure, VegaFigure):
            unneeded = [name for name, in_file in figure.in_file.items() if in_file is None]
            frame = frame.drop(columns=unneeded).rename(columns=dict(figure.in_file))
    names = [
        " ".join(map(str, (level for level in name if level != ""))) if isinstance(name, tuple) else str(name)
        for name in frame.columns
    ]
    if not pd.api.types.is_integer_dtype(frame.index.dtype):
        names.insert(0, frame.index.name or "row")
        frame = pd.concat([frame.index.to_series(index=frame.index), frame], axis=1)
    return _clean_texts(
        frame.set_axis(
            _unique_names([replace_forbidden(name.strip().replace(THIN, " ")) for name in names]), axis=1
        )
    )


def _unique_names(names: list[str]) -> list[str]:
    """The names, with a number added to repeated ones: a token may equal the name of another column."""
    result: list[str] = []
    for name in names:
        number, candidate = 2, name
        while candidate in result:
            number, candidate = number + 1, f"{name} ({number})"
        result.append(candidate)
    return result


def csv(figure: Figure) -> bytes:
    """The figure's numbers as CSV in UTF-8."""
    return numbers_table(figure).to_csv(index=False, lineterminator="\n").encode()


def frame_csv(frame: pd.DataFrame) -> bytes:
    """A data frame without its index as CSV in UTF-8."""
    return _clean_texts(frame).to_csv(index=False, lineterminator="\n").encode()


def parquet(figure: Figure) -> bytes:
    """The figure's numbers as Parquet."""
    buffer = io.BytesIO()
    numbers_table(figure).to_parquet(buffer, index=False)
    return buffer.getvalue()


def _clean_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with � in its texts for each character that files may not hold."""
    texts = [name for name, kind in frame.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
    return frame.assign(**{name: [replace_forbidden(text) for text in frame[name]] for name in texts})


def figure_bytes(figure: Figure, kind: str, style: ExportStyle = ExportStyle()) -> bytes:  # noqa: B008 (frozen)
    """The figure in a `style` as "png", "svg" or "pdf", or its numbers as "csv" or "parquet". Raises ValueError for
    another `kind`.
    """
    if kind == "svg":
        return svg(figure, style).encode()
    if kind == "pdf":
        return pdf(figure, style)
    if kind == "png":
        return png(figure, style)
    if kind == "csv":
        return csv(figure)
    if kind == "parquet":
        return parquet(figure)
    raise ValueError(f"a figure becomes one of {', '.join((*PICTURES, *TABLES))}, got {kind!r}")


def save(figure: Figure, path: str | Path, style: ExportStyle = ExportStyle()) -> None:  # noqa: B008 (frozen)
    """Writes the figure to a file in a `style`: .pdf, .svg or .png, or its numbers as .csv or .parquet.

    Warns of letters that no font here has. Raises ValueError for another suffix, and if the style asks for numbers in
    all cells that do not fit or that the figure does not have, and OSError if the file cannot be written.

    >>> from loupe import ExportStyle, attention_heatmap, from_arrays, save_figure
    >>> figure = attention_heatmap(from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"]), layer=0, head=0)
    >>> save_figure(figure, "head.pdf", ExportStyle(width_cm=8.5, font_pt=8))  # doctest: +SKIP
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in (*PICTURES, *TABLES):
        raise ValueError(f"a figure's file ends in .{', .'.join((*PICTURES, *TABLES))}, got {path.name}")
    path.write_bytes(figure_bytes(figure, kind, style))
    if warning := missing_letters_sentence(figure, kind):
        warnings.warn(warning, stacklevel=2)


def latex_table(frame: pd.DataFrame, *, note: str = "") -> str:
    r"""The frame as a LaTeX table without its index, in `\small` letters: texts at the left, escaped, and numbers at the right;
    below it the `note`, plain text such as what was measured.

    The largest number of a column has three significant digits, the others as many decimals as it has; where it is below 0.01 or
    at least a million, the column is in scientific notation. NaN and infinity are dashes. A table of more than 40 rows is a
    `longtable`, which goes on over several pages. A comment on top says which packages it needs.

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
        numbered.style.format({name: _column_formatter(numbered[name]) for name in numbered}, na_rep="--")
        .format_index(lambda number: _latex_escaped(frame.columns[number]), axis=1)
        .hide(axis="index")
        .to_latex(hrules=True, environment="longtable" if is_long else None)
    )
    packages = "booktabs,longtable" if is_long else "booktabs"
    below = rf"\par\smallskip\footnotesize {_latex_escaped(note)}\par" + "\n" if note else ""
    return f"% \\usepackage{{{packages}}}\n{{\\small\n{table}{below}}}"


def _latex_escaped(value: Any) -> str:
    """The text with all LaTeX commands and special characters escaped, even a [ at its start, which would be read as
    an option of the line break before it.
    """
    text = _SPECIAL.sub(lambda match: _ESCAPED[match[0]], " ".join(replace_forbidden(str(value)).split()))
    return f"{{}}{text}" if text.startswith("[") else text


def _column_formatter(column: pd.Series) -> Callable[[Any], str]:
    """The function that writes the values of a column as LaTeX."""
    if pd.api.types.is_bool_dtype(column.dtype) or not pd.api.types.is_numeric_dtype(column.dtype):
        return _latex_escaped
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
