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
