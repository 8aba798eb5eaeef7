"""Texts and tables as pandas and Excel write them: in UTF-8 or UTF-16, separated by commas, semicolons or tabs."""

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

SEPARATORS = (",", ";", "\t")
LONGEST_TEXT = 10_000_000  # characters of a cell
BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16, as Excel writes “Unicode text”
NOT_UNICODE = "it is not written in UTF-8: save it so, which Excel calls “CSV UTF-8”"


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a text file: names of the columns in lower case, separator, and rows, which are read one by one.

    A row is the number of its last line in the file, and its cells.
    """

    names: tuple[str, ...]
    separator: str
    rows: Iterator[tuple[int, list[str]]]  # the line in which a row ends, counted from 1, and its cells


def decode(content: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 with a byte order mark. Raises ValueError for other encodings; its message is a clause that ends a sentence."""
    try:
        text = content.decode(_encoding(content))
    except UnicodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(NOT_UNICODE)
    return text


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Context manager with the text of a file, in which line ends stay as they are.

    Raises ValueError, with the name of the file in a sentence, if it is neither UTF-8 nor UTF-16.
    """
    with path.open("rb") as file:
        encoding = _encoding(file.read(2))
    try:
        with path.open(newline="", encoding=encoding) as text:
            yield text
    except UnicodeError as error:
        raise ValueError(f"{path.name} cannot be read: {NOT_UNICODE}") from error


def _encoding(beginning: bytes) -> str:
    """Encoding of a file by its beginning: UTF-16 if that is a byte order mark of it, else UTF-8."""
    return "utf-16" if beginning.startswith(BYTE_ORDER_MARKS) else "utf-8-sig"


def find_separator(header: str, *columns: str) -> str | None:
    """The separator of a table: that by which its first line, `header`, divides into names that include all `columns`.

    Upper and lower case are equal. None if there is no such separator.
    """
    return next(
        (separator for separator in SEPARATORS if set(columns) <= set(_column_names(header, separator))), None
    )


def _column_names(header: str, separator: str) -> tuple[str, ...]:
    """Names of the columns in the first line of a table, in lower case and without spaces around them."""
    cells = next(csv.reader([header], delimiter=separator, skipinitialspace=True), [])
    return tuple(cell.strip().lower() for cell in cells)


def read_table(lines: Iterable[str], *columns: str) -> Table:
    """The table in the lines of a text, whose first line names its columns.

    Raises ValueError, with the end of a sentence, if one of `columns` is missing, and while the rows are read if one of them
    is damaged.
    """
    lines, n_empty, header = iter(lines), 0, ""
    for header in lines:
        if header.strip():
            break
        n_empty += 1
    if "\0" in header:
        raise ValueError(NOT_UNICODE)
    separator = find_separator(header, *columns)
    if separator is None:
        names = max((_column_names(header, separator) for separator in SEPARATORS), key=len)
        missing = next((name for name in columns if name not in names), columns[0])
        shown = f"“{header.strip()[:120]}”" if header.strip() else "empty"
        raise ValueError(f"it lacks the column {missing}: name it in the first line, which is {shown}")
    reader = csv.reader(
        chain([header], lines),
        delimiter=separator,
        strict=True,
        skipinitialspace=f"{separator} " in header,  # as in "text, label"
    )
    rows = _rows(reader, n_empty)
    next(rows)
    return Table(_column_names(header, separator), separator, rows)


def _rows(reader: Any, n_before: int) -> Iterator[tuple[int, list[str]]]:
    """Yields the line number and the cells of each row of a `csv.reader`; `n_before` lines of the file come before its first.

    A cell may have up to `LONGEST_TEXT` characters. The `csv` module has one such limit for the whole process, so it is raised
    only while a row is read: several files may be read in turn, and not to their end.
    """
    while True:
        previous_limit = csv.field_size_limit(LONGEST_TEXT)
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ValueError(csv_error_message(error, n_before + reader.line_num)) from error
        finally:
            csv.field_size_limit(previous_limit)
        if cells is None:
            return
        if cells:
            yield n_before + reader.line_num, cells


def csv_error_message(error: csv.Error, line: int) -> str:
    """What is wrong in this line of a table, as a clause that ends an error message."""
    if "end of data" in str(error):
        return "a quotation mark is opened and never closed"
    if "expected after" in str(error):
        return f"in line {line:,} a quotation mark inside a text is not doubled"
    return f"line {line:,}: {error}"


def table_rows(path: Path, *columns: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields the number of the line at which each row of a table ends, and its cells by the name of their column.

    Raises ValueError, with a one-sentence message, if one of the `columns` is missing or a row is damaged.
    """
    with open_text(path) as lines:
        try:
            table = read_table(lines, *columns)
            for line, cells in table.rows:
                if len(cells) != len(table.names):
                    sign = {"\t": "a tab"}.get(table.separator, f"“{table.separator}”")
                    raise ValueError(
                        f"line {line:,} has more or fewer cells than its first; a text that contains {sign} stands in "
                        "quotation marks"
                    )
                yield line, dict(zip(table.names, cells, strict=True))
        except UnicodeError:
            raise
        except ValueError as error:
            raise ValueError(f"{path.name} cannot be read as a table: {error}") from error
