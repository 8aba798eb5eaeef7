"""Texts and labels from pasted text or a file: one text per line, or a table with a column `text`."""

import io
from collections.abc import Iterable

from app_pages.controls.address import LONGEST
from app_pages.inputs.input_list import InputList, Item
from app_pages.toolkit.markdown import counted
from model.files import table_file
from model.files.table_file import find_separator, read_table
from model.inputs import Text

MOST_TEXTS = 500  # texts
MOST_SIGNS = 5_000_000  # of all that was pasted or stands in a file
COLUMNS = ("text", "second", "label")


def decode(name: str, content: bytes) -> tuple[str, str]:
    """The text of a file that a user uploads, and the file's name in quotation marks for sentences about it.

    UTF-8, or UTF-16 with a byte order mark. Raises ValueError, with a one-sentence message, for anything else.
    """
    quoted_name = f"“{name[-60:]}”"
    try:
        return table_file.decode(content), quoted_name
    except ValueError as error:
        raise ValueError(f"{quoted_name} cannot be read: {error}.") from None


def from_file(name: str, content: bytes) -> InputList:
    """List of the texts in a file; a `.csv` needs a column `text`.

    Raises ValueError, with a one-sentence message, if the file holds no texts.
    """
    text, quoted_name = decode(name, content)
    return from_text(text, table=name.lower().endswith((".csv", ".tsv")), shown=quoted_name)


def from_text(content: str, *, table: bool = False, shown: str = "What was pasted") -> InputList:
    """List of the texts in `content`: lines or, with `table` or a header that names a column `text`, a table.

    Raises ValueError, with a one-sentence message, if there are none.
    """
    if len(content) > MOST_SIGNS:
        raise ValueError(f"{shown} has {len(content):,} characters; at most {MOST_SIGNS:,} can be read.")
    content = content.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    if not content.strip():
        raise ValueError(f"{shown} is empty.")
    lines = content.split("\n")
    first_line = next(line for line in lines if line.strip())
    if table or find_separator(first_line, "text") is not None:
        return _list_from_table(content, shown)
    pairs = (line.rsplit("\t", 1) if "\t" in line.strip() else (line, "") for line in lines)
    # what ends with a line break has no empty text behind it
    n_empty = sum(not line.strip() for line in content.rstrip("\n").split("\n"))
    return _make_list(((text, "", label) for text, label in pairs), n_empty=n_empty)


def _list_from_table(content: str, shown: str) -> InputList:
    texts, n_empty, too_wide = [], 0, 0
    try:
        table = read_table(io.StringIO(content), "text")
        columns = [table.names.index(name) if name in table.names else None for name in COLUMNS]
        for _, cells in table.rows:
            if len(cells) > len(table.names):
                too_wide += 1
                continue
            text, second, label = (
                cells[index] if index is not None and index < len(cells) else "" for index in columns
            )
            n_empty += not text.strip()
            texts.append((text, second, label))
    except ValueError as error:
        raise ValueError(f"{shown} cannot be read as a table: {error}.") from None
    notes = []
    if too_wide:
        notes.append(
            f"{counted(too_wide, 'line')} of the table left out, with more cells than columns: put a text that "
            f"contains “{table.separator}” in quotation marks."
        )
    return _make_list(texts, n_empty=n_empty, notes=notes)


def _make_list(rows: Iterable[tuple[str, str, str]], *, n_empty: int, notes: Iterable[str] = ()) -> InputList:
    texts = [tuple(cell.strip() for cell in row) for row in rows if row[0].strip()]
    if not texts:
        raise ValueError("There is no text in it.")
    notes = list(notes)
    if len(texts) > MOST_TEXTS:
        notes.append(f"There are {len(texts):,} texts, of which the first {MOST_TEXTS:,} are read.")
    if n_empty:
        notes.append(f"{counted(n_empty, 'empty line')} left out.")
    first_texts = texts[:MOST_TEXTS]
    if cut_lengths := [
        max(len(text), len(second))
        for text, second, _ in first_texts
        if max(len(text), len(second)) > LONGEST
    ]:
        longest = (
            f", the longest of {max(cut_lengths):,}" if len(cut_lengths) > 1 else f", of {cut_lengths[0]:,}"
        )
        notes.append(
            f"{counted(len(cut_lengths), 'text')} of more than {LONGEST:,} characters{longest}: the end is cut off, since the text "
            "box takes no more."
        )
    items = (
        Item(text=Text(text[:LONGEST].strip(), second[:LONGEST].strip() or None), label=label[:200])
        for text, second, label in first_texts
    )
    return InputList(items=tuple(items), notes=tuple(notes))
