"""Pairs of texts from a file: a table of two columns, separated by commas, semicolons or tabs, with or without a header."""

import csv
import io
from dataclasses import dataclass
from typing import NamedTuple

from app_pages.controls.address import LONGEST
from app_pages.inputs.uploaded_text import csv_error_message, decode

MOST = 200  # pairs
MOST_SIGNS = 2_000_000  # of a file
SEPARATORS = ("\t", ",", ";")
HEADINGS = {"text", "first", "second", "other", "clean", "corrupted", "source", "text 1", "text 2"}


class TextPair(NamedTuple):
    """Two texts, and the line of the file in which they end, counted from 1."""

    first: str
    second: str
    line: int


@dataclass(frozen=True)
class PairList:
    """Pairs of texts, and notes about what was left out."""

    name: str  # of the file, as in a sentence
    pairs: tuple[TextPair, ...]
    notes: tuple[str, ...] = ()


def pairs_from_file(name: str, content: bytes) -> PairList:
    """The pairs of texts in a file; of more than `MOST` the first ones.

    Raises ValueError, with a one-sentence message that names the line, if a line does not hold exactly two texts.
    """
    text, quoted_name = decode(name, content)
    if len(text) > MOST_SIGNS:
        raise ValueError(f"{quoted_name} has {len(text):,} characters; at most {MOST_SIGNS:,} can be read.")
    if not text.strip():
        raise ValueError(f"{quoted_name} is empty.")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    separator = _separator(next(line for line in text.split("\n") if line.strip()))
    rows = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    pairs: list[TextPair] = []
    n_pairs, is_first = 0, True
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            is_header = is_first and len(cells) == 2 and {cell.lower() for cell in cells} <= HEADINGS
            is_first = False
            if is_header:
                continue
            n_pairs += 1
            if n_pairs <= MOST:
                pairs.append(
                    _pair(cells, separator, f"Line {rows.line_num:,} of {quoted_name}", rows.line_num)
                )
    except csv.Error as error:
        message = csv_error_message(error, rows.line_num)
        raise ValueError(f"{quoted_name} cannot be read as a table: {message}.") from None
    if not pairs:
        raise ValueError(f"{quoted_name} holds a header and no pair.")
    notes = (f"There are {n_pairs:,} pairs, of which the first {MOST:,} are read.",) if n_pairs > MOST else ()
    return PairList(quoted_name, tuple(pairs), notes)


def _separator(first_line: str) -> str:
    """The separator that makes two cells of the first line, else the first one that makes several."""
    n_cells = {
        separator: len(next(csv.reader([first_line[:100_000]], delimiter=separator), []))
        for separator in SEPARATORS
    }
    return min(SEPARATORS, key=lambda separator: (n_cells[separator] != 2, n_cells[separator] < 2))


def _pair(cells: list[str], separator: str, where: str, line: int) -> TextPair:
    if len(cells) == 1:
        raise ValueError(
            f"{where} has one text; the two texts of a pair stand between commas, semicolons or tabs."
        )
    if len(cells) > 2:
        sign = {"\t": "a tab"}.get(separator, f"“{separator}”")
        raise ValueError(
            f"{where} has {len(cells)} cells, not two: put a text that contains {sign} in quotation marks."
        )
    if not all(cells):
        raise ValueError(f"{where} has an empty text.")
    if (longest := max(map(len, cells))) > LONGEST:
        raise ValueError(f"{where} has a text of {longest:,} characters; at most {LONGEST:,} can be read.")
    first, second = cells
    return TextPair(first, second, line)
