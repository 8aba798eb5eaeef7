"""Reads files that somebody else may have put there: regular files only, and up to a size."""

import errno
import os
from pathlib import Path


def check_regular(path: Path) -> None:
    """Raises FileNotFoundError where there is nothing, ValueError where there is a folder, a pipe or a socket.

    To open a pipe would wait until somebody writes into it.
    """
    if path.is_file():
        return
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    raise ValueError("it is not a file")


def content_of(path: Path, largest: int) -> bytes:
    """The bytes of a file. Raises as `check_regular` does, ValueError above `largest` bytes, and OSError."""
    check_regular(path)
    with path.open("rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it is larger than {largest >> 20} MB")
    return content
