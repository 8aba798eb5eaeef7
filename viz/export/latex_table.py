r"""A data frame as a LaTeX table, in the form of the package booktabs, no wider than the text around it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import pandas as pd

from .latex_columns import Column, columns, escaped, heading_lines

TEXT_WIDTH = 12.1  # cm, of the class article at 10 pt
_LONGEST = 40  # rows; more do not fit on a page
_POINTS = 72.27 / 2.54  # of TeX, in a centimetre
_INDENT = 15  # points, of a paragraph in the class article
_NARROWEST = 80  # points, of a column whose texts are broken into lines


class _Font(NamedTuple):
    command: str  # "" for the font around the table
    size: float  # points, of letters that are as wide for their size as those at 10 pt
    gap: float  # points beside each column


_FONTS = (_Font("", 10, 6), _Font("\\small", 9.26, 4), _Font("\\small", 9.26, 3))


def latex_table(frame: pd.DataFrame, *, note: str = "", width_cm: float = TEXT_WIDTH) -> str:
    r"""The frame as a LaTeX table without its index: texts at the left, escaped, and numbers at the right; below it the `note`,
    plain text such as what was measured.

    A column of numbers has as many decimals as three digits of its largest number need; if that is below 0.01 or from a
    million on, the heading says which power of ten is the unit. A number that would be 0 and is not is written as below half
    of the last decimal. A number that is missing is a dash. Beyond 40 rows the table is a `longtable`, which goes on over several
    pages.

    The table is at most `width_cm` wide at 10 pt in Computer Modern; the text of the class article is 12.1 cm wide. As far as it
    takes, headings are broken into lines, then letters are `\small`, then texts are broken into lines, and then the table goes on
    below itself, in parts that begin with the columns that tell the rows apart. Comments on top say which packages it needs,
    and whether it is too wide even so, because of a word that cannot be broken.

    >>> import pandas as pd
    >>> from loupe import latex_table
    >>> print(latex_table(pd.DataFrame({"head": ["L0 H1"], "share_of [SEP]": [0.25]})))
    % \usepackage{booktabs}
    \begin{tabular}{@{}lr@{}}
    \toprule
    head & share\_of [SEP] \\
    \midrule
    L0 H1 & $0.250$ \\
    \bottomrule
    \end{tabular}
    """
    room = width_cm * _POINTS
    font, parts = _layout(columns(frame), room)
    is_long = len(frame) > _LONGEST
    packages = ["booktabs"]
    if is_long:
        packages.append("longtable")
    if _n_broken(parts):
        packages.append("array")
    widths = [_width(part, font) for part in parts]
    tables = [_table(part, is_long=is_long) for part in parts[:-1]]
    tables.append(_table(parts[-1], is_long=is_long, note=escaped(note), width=widths[-1]))
    # The first line of a paragraph begins with an indent, for which a wide table leaves no room.
    start = "" if is_long or max(widths) <= room - _INDENT else "\\noindent\n"
    body = "\n\n\\medskip\n".join(start + table for table in tables)
    lines = [f"% \\usepackage{{{','.join(packages)}}}"]
    if max(widths) > room:
        lines.append(f"% wider than {width_cm:g} cm even so: a word is too long to be broken")
    if font.command:
        lines.append(f"{{{font.command}\\setlength{{\\tabcolsep}}{{{font.gap}pt}}%")
        body += "\\par}" if len(parts) > 1 else "%\n}"
    return "\n".join([*lines, body])


def _layout(one_line: Sequence[Column], room: float) -> tuple[_Font, Sequence[Sequence[Column]]]:
    """The largest font in which the columns fit into `room` points, and the columns with the fewest lines, in as few parts as that
    takes.
    """
    broken = [replace(column, heading=heading_lines(column)) for column in one_line]
    for font in _FONTS:
        for tried in (one_line, broken):
            if _width(tried, font) <= room:
                return font, [tried]
    narrow = _with_broken_texts(broken, room, font)
    return font, [narrow] if _width(narrow, font) <= room else _balanced_parts(broken, room, font)


def _width(part: Sequence[Column], font: _Font) -> float:
    return sum(column.width(font.size) for column in part) + 2 * font.gap * max(len(part) - 1, 0)


def _with_broken_texts(part: Sequence[Column], room: float, font: _Font) -> list[Column]:
    """The columns, with texts broken into lines that are as long as there is room for: the widest column is made as narrow as the
    next, and so on.
    """
    narrow, limit = list(part), room
    while _width(narrow, font) > room and limit > _NARROWEST:
        limit = max(limit - 5, _NARROWEST)
        narrow = [
            replace(column, broken_at=limit) if column.is_text and column.width(font.size) > limit else column
            for column in part
        ]
    return narrow


def _balanced_parts(whole: Sequence[Column], room: float, font: _Font) -> Sequence[Sequence[Column]]:
    """The columns in as few parts as fit, about equally wide, and no text broken for that."""
    parts = _parts(whole, room, font)
    for limit in range(round(room), round(room / 2), -5):
        narrower = _parts(whole, limit, font)
        if len(narrower) > len(parts) or _n_broken(narrower) > _n_broken(parts):
            break
        parts = narrower
    return parts


def _n_broken(parts: Sequence[Sequence[Column]]) -> int:
    return sum(column.broken_at is not None for part in parts for column in part)


def _parts(whole: Sequence[Column], room: float, font: _Font) -> Sequence[Sequence[Column]]:
    """The columns in parts that fit, each of which begins with the fewest first columns that tell the rows apart; with the first
    alone if these would take more than half of the room.
    """
    n_keys = _n_keys(whole)
    narrow_keys = _with_broken_texts(whole[:n_keys], room / 2, font)
    if _width(narrow_keys, font) > room / 2:
        narrow_keys = _with_broken_texts(whole[:1], room / 2, font)
    parts: list[list[Column]] = []
    for column in whole[len(narrow_keys) :]:
        if parts and _width([*parts[-1], column], font) <= room:
            parts[-1].append(column)
        else:
            parts.append(_with_broken_texts([*narrow_keys, column], room, font))
    return parts or [narrow_keys]


def _n_keys(whole: Sequence[Column]) -> int:
    """How many of the columns before the first measure tell the rows apart; all of these, but at least one, if none do."""
    keys = [column.cells for column in whole if column.is_key]
    for n in range(1, len(keys)):
        if len(set(zip(*keys[:n], strict=True))) == len(keys[0]):
            return n
    return max(len(keys), 1)


def _table(part: Sequence[Column], *, is_long: bool, note: str = "", width: float = 0) -> str:
    environment = "longtable" if is_long else "tabular"
    headings = zip_longest(*(column.heading[::-1] for column in part), fillvalue="")
    rows = _rows(zip(*(column.cells for column in part), strict=True))
    heading = _rows(list(headings)[::-1])
    end = ["\\bottomrule"]
    if note:
        # A little narrower than the table, whose width is an upper bound.
        end.append(
            f"\\multicolumn{{{len(part)}}}{{@{{}}p{{{0.95 * width:.0f}pt}}@{{}}}}{{\\rule{{0pt}}{{3ex}}\\footnotesize {note}}} \\\\"
        )
    head = ["\\toprule", *heading, "\\midrule"]
    return "\n".join(
        [
            f"\\begin{{{environment}}}{{@{{}}{''.join(column.alignment for column in part)}@{{}}}}",
            *([*head, "\\endhead", "\\bottomrule", "\\endfoot", *end, "\\endlastfoot"] if is_long else head),
            *rows,
            *([] if is_long else end),
            f"\\end{{{environment}}}",
        ]
    )


def _rows(cells: Iterable[Sequence[str]]) -> list[str]:
    # A row that begins with [ would be read as an option of the line break before it.
    return [f"{'{}' * row[0].startswith('[')}{' & '.join(row)} \\\\" for row in cells]
