"""Reads pairs of texts, or of numbers of test digits, from a file with two columns, separated by commas, semicolons or tabs, with
or without a header.
"""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from app_pages.controls.address import LONGEST
from app_pages.inputs.parse_texts import decode
from model.files.table_file import csv_error_message

MOST_PAIRS = 200  # pairs
MOST_SIGNS = 2_000_000  # of a file
SEPARATORS = ("\t", ",", ";")
HEADINGS = {"text", "first", "second", "other", "clean", "corrupted", "source", "text 1", "text 2"}


Item = TypeVar("Item", str, int)


class Pair(NamedTuple, Generic[Item]):
    """Two texts, or the numbers of two test digits, and the last line of the file that belongs to them, counted from 1."""

    first: Item
    second: Item
    line: int


@dataclass(frozen=True)
class PairList(Generic[Item]):
    """Pairs of texts or of digits, and notes about what was left out."""

    name: str  # of the file, as in a sentence
    pairs: tuple[Pair[Item], ...]
    notes: tuple[str, ...] = ()


def pairs_from_file(name: str, content: bytes) -> PairList[str]:
    """The pairs of texts in a file; of more than `MOST_PAIRS` the first ones.

    Raises ValueError, with a one-sentence message that names the line, if a line does not hold exactly two texts.
    """
    return _read(name, content, _is_header_of_texts, _text_pair)


def digit_pairs_from_file(name: str, content: bytes, n_digits: int) -> PairList[int]:
    """The pairs of numbers of test digits, from 0 to `n_digits` - 1, in a file; of more than `MOST_PAIRS` the first ones.

    Raises ValueError, with a one-sentence message that names the line, if a line does not hold exactly two such numbers.
    """

    return _read(name, content, _is_header_of_numbers, partial(_digit_pair, n_digits))


def _read(
    name: str,
    content: bytes,
    is_header: Callable[[list[str]], bool],
    read_pair: Callable[[list[str], str, str], tuple[Item, Item]],
) -> PairList[Item]:
    text, quoted_name = decode(name, content)
    if len(text) > MOST_SIGNS:
        raise ValueError(f"{quoted_name} has {len(text):,} characters; at most {MOST_SIGNS:,} can be read.")
    if not text.strip():
        raise ValueError(f"{quoted_name} is empty.")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    separator = _separator(next(line for line in text.split("\n") if line.strip()))
    rows = csv.reader(io.StringIO(text), delimiter=separator, strict=True, skipinitialspace=True)
    pairs: list[Pair[Item]] = []
    n_pairs, is_first = 0, True
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            was_first, is_first = is_first, False
            if was_first and is_header(cells):
                continue
            n_pairs += 1
            if n_pairs <= MOST_PAIRS:
                where = f"Line {rows.line_num:,} of {quoted_name}"
                pairs.append(Pair(*read_pair(cells, separator, where), rows.line_num))
    except csv.Error as error:
        message = csv_error_message(error, rows.line_num)
        raise ValueError(f"{quoted_name} cannot be read as a table: {message}.") from None
    if not pairs:
        raise ValueError(f"{quoted_name} holds a header and no pair.")
    notes = (
        (f"There are {n_pairs:,} pairs, of which the first {MOST_PAIRS:,} are read.",)
        if n_pairs > MOST_PAIRS
        else ()
    )
    return PairList(quoted_name, tuple(pairs), notes)


def _separator(first_line: str) -> str:
    """The separator that splits the first line into two cells, else the first separator that splits it into more."""
    n_cells = {
        separator: len(next(csv.reader([first_line[:100_000]], delimiter=separator), []))
        for separator in SEPARATORS
    }
    return min(SEPARATORS, key=lambda separator: (n_cells[separator] != 2, n_cells[separator] < 2))


def _is_header_of_texts(cells: list[str]) -> bool:
    return len(cells) == 2 and {cell.lower() for cell in cells} <= HEADINGS


def _is_header_of_numbers(cells: list[str]) -> bool:
    return len(cells) == 2 and not any(map(str.isdigit, "".join(cells)))


def _digit_pair(n_digits: int, cells: list[str], _separator: str, where: str) -> tuple[int, int]:
    if len(cells) != 2:
        cells_text = "one cell" if len(cells) == 1 else f"{len(cells)} cells"
        raise ValueError(f"{where} has {cells_text}, not the numbers of two test digits.")
    for cell in cells:
        if not re.fullmatch("[0-9]{1,9}", cell) or int(cell) >= n_digits:
            shown = f"“{cell[:30]}”" if cell else "an empty cell"
            raise ValueError(
                f"{where} has {shown} in place of the number of a test digit, from 0 to {n_digits - 1:,}."
            )
    first, second = map(int, cells)
    return first, second


def _text_pair(cells: list[str], separator: str, where: str) -> tuple[str, str]:
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
    return first, second
