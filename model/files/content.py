"""Reads files that somebody else may have put there: only regular files, and only up to a maximum size."""

import errno
import os
from pathlib import Path


def check_regular(path: Path) -> None:
    """Raises FileNotFoundError if there is no such file, and ValueError if it is a folder, a pipe or a socket.

    Opening a pipe would wait until somebody writes into it.
    """
    if path.is_file():
        return
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    raise ValueError("it is not a file")


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
