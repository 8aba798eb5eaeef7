"""Reads a list of pictures from files (PNG, JPEG and the like), and optionally their labels from a table."""

import io
from collections.abc import Callable, Sequence

from PIL import Image

from app_pages.inputs.drawing.code import to_code
from app_pages.inputs.drawing.picture import from_file, in_colour
from app_pages.inputs.input_list import InputList, Item
from app_pages.inputs.parse_texts import decode
from app_pages.toolkit.markdown import counted
from model.files.table_file import read_table
from model.inputs import Picture

MOST_PICTURES = 200  # pictures
LONGER_SIDE = 512  # pixels that are kept of one: more of so many would only cost memory
LONGEST_NAME = 60
_MOST_EXPLAINED_FILES = 3  # files for which the reason is given

# Names, and what reads them, so that one is in memory at a time.
Files = Sequence[tuple[str, Callable[[], bytes]]]


def from_files(files: Files) -> InputList:
    """List of the pictures in these files; a `.csv` among them has the columns `file` and `label`.

    Raises ValueError, with a one-sentence message, if there is no picture among them.
    """
    tables = [file for file in files if file[0].lower().endswith(".csv")]
    pictures = [file for file in files if file not in tables]
    labels, notes = _read_labels(tables), []
    if len(pictures) > MOST_PICTURES:
        notes.append(f"There are {len(pictures):,} pictures, of which the first {MOST_PICTURES:,} are read.")
    items, failures = [], []
    for name, read_content in pictures[:MOST_PICTURES]:
        try:
            items.append(_make_item(name, read_content(), labels.pop(name, "")))
        except ValueError as error:
            failures.append((name, str(error)))
    if failures:
        reasons = " ".join(
            f"“{name[-LONGEST_NAME:]}”: {reason}" for name, reason in failures[:_MOST_EXPLAINED_FILES]
        )
        rest = (
            f" And {len(failures) - _MOST_EXPLAINED_FILES:,} more."
            if len(failures) > _MOST_EXPLAINED_FILES
            else ""
        )
        notes.append(f"{counted(len(failures), 'file')} left out. {reasons}{rest}")
    if not items:
        raise ValueError(notes[-1] if failures else "There is no picture among these files.")
    if labels and len(pictures) <= MOST_PICTURES:
        notes.append(f"{len(labels):,} of the labels name files that are not there.")
    return InputList(items=tuple(items), notes=tuple(notes))


def _make_item(name: str, content: bytes, label: str) -> Item:
    colours = Image.fromarray(in_colour(content))
    colours.thumbnail((LONGER_SIDE, LONGER_SIDE), Image.Resampling.LANCZOS)
    try:
        drawing = to_code(from_file(content))
    except ValueError:  # a picture in which there is no ink is none of a digit, and may be one for others
        drawing = ""
    picture = Picture(colours.tobytes(), (colours.height, colours.width, 3))
    return Item(name=name[-LONGEST_NAME:], label=label, drawing=drawing, colours=picture)


def _read_labels(tables: Files) -> dict[str, str]:
    labels: dict[str, str] = {}
    for name, read_content in tables:
        text, quoted_name = decode(name, read_content())
        try:
            table = read_table(io.StringIO(text, newline=""), "file", "label")
            file, label = map(table.names.index, ("file", "label"))
            labels |= {
                cells[file].strip(): cells[label].strip()[:200]
                for _, cells in table.rows
                if len(cells) > max(file, label)
            }
        except ValueError as error:
            raise ValueError(f"{quoted_name} cannot be read as a table: {error}.") from None
    return labels
