"""Reads files that somebody else may have put there: only regular files, and only up to a maximum size; JSON files are converted
to a type, and replaced as a whole.
"""

import errno
import json
import os
from pathlib import Path
from typing import Any

from ..schema import convert_closed
from .errors import errors_in_one_sentence
from .writing import replacing

LARGEST_JSON = 40 * 2**20  # bytes; the tokenizer.json of SigLIP 2 has 34 million


def check_regular(path: Path) -> None:
    """Raises FileNotFoundError if there is no such file, and ValueError if it is a folder, a pipe or a socket.

    Opening a pipe would wait until somebody writes into it.
    """
    if path.is_file():
        return
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    raise ValueError("it is not a file")


def file_state(path: Path) -> tuple[int, int, int, int]:
    """Size, times of modification and of change, and inode of a file: what changes with its content.

    A copy can have the modification time of its original and the inode of a file that is gone; its time of change is new.
    Raises OSError if there is no such file.
    """
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def read_bounded(path: Path, largest: int) -> bytes:
    """The bytes of a regular file.

    Raises ValueError if it has more than `largest` bytes or is not a regular file, and OSError if it cannot be read.
    """
    check_regular(path)
    with path.open("rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it is larger than {largest >> 20} MB")
    return content


def parse_json(content: bytes) -> Any:
    """The value that JSON in UTF-8 encodes. Raises ValueError for anything else, and for text with a lone surrogate."""
    try:
        values = json.loads(content.decode())
        json.dumps(
            values, ensure_ascii=False
        ).encode()  # an escaped lone surrogate is decoded, but cannot be written
    except RecursionError as error:
        raise ValueError("a value in it is nested too deeply") from error
    return values


def read_json(path: Path, name: str) -> Any:
    """The value in a JSON file.

    Raises ValueError, with a one-sentence message that begins with `name`, if the file cannot be read.
    """
    with errors_in_one_sentence(f"{name} cannot be read"):
        return parse_json(read_bounded(path, LARGEST_JSON))


def read_object(path: Path, name: str) -> dict[str, Any]:
    """The object in a JSON file.

    Raises ValueError, with a message that begins with `name`, if the file cannot be read or holds no object.
    """
    values = read_json(path, name)
    if not isinstance(values, dict):
        raise ValueError(f"{name} must hold a JSON object")
    return values


def read_as(path: Path, kind: Any) -> Any:
    """The content of a JSON file as an instance of the annotated type `kind`; None if there is no file.

    Raises ValueError, with a one-sentence message, if the file is damaged or its content does not fit the type.
    """
    if not path.exists():
        return None
    with errors_in_one_sentence(f"{folder_and_name(path)} cannot be read"):
        return convert_closed(parse_json(read_bounded(path, LARGEST_JSON)), kind)


def folder_and_name(path: Path) -> str:
    """Name of the file and of its folder, for messages, which must not show the rest of the path."""
    return f"{path.parent.name}/{path.name}"


def replace_text(path: Path, text: str) -> None:
    """Replaces the content of a text file. Raises OSError if it cannot be written; the old content is then kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
