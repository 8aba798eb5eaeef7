"""Reads files that somebody else may have put there: only regular files, and only up to a maximum size; JSON files are converted
to a type, and replaced as a whole.

What is written is complete or not there at all: it is written under another name in the same folder, then moved. A full disk always
raises OSError, whichever library was writing.
"""

import errno
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from ..schema import convert_closed
from .errors import errors_in_one_sentence

LARGEST_JSON = 40 * 2**20  # bytes; the tokenizer.json of SigLIP 2 has 34 million


def file_state(path: Path) -> tuple[int, int, int, int]:
    """Size, modification time, change time and inode of a file; one of them changes whenever the content does.

    The change time is needed, since a copy can have the modification time of its original and the inode of a deleted file.
    Raises OSError if there is no such file.
    """
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def read_bounded(path: Path, largest: int) -> bytes:
    """The bytes of a regular file.

    Raises ValueError if it has more than `largest` bytes or is not a regular file, and OSError if it cannot be read.
    """
    if path.exists() and not path.is_file():  # to open a pipe would be to wait until somebody writes into it
        raise ValueError("it is not a file")
    with path.open("rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it is larger than {largest >> 20} MB")
    return content


def parse_json(content: bytes) -> Any:
    """The value that JSON in UTF-8 encodes. Raises ValueError for anything else, and for text with a lone surrogate."""
    try:
        values = json.loads(content.decode())
        # an escaped lone surrogate is decoded, but cannot be written
        json.dumps(values, ensure_ascii=False).encode()
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
    with replacement_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


NEW = "new"
LEFT_BEHIND = 24 * 3600  # seconds after which nobody writes into a temporary folder any more
_ERROR_CODE = re.compile(r"\(os error (\d+)\)")  # how libraries in Rust end their messages


@contextmanager
def replacement_file(path: Path) -> Iterator[Path]:
    """Context manager that yields the path of a temporary file, which replaces the file at `path` at the end.

    After an error the file at `path` is unchanged.
    """
    if path.exists() and not path.is_file():  # a device such as /dev/stdout cannot be replaced
        yield path
        return
    resolved_path = path.resolve()  # where a link leads to
    temporary = resolved_path.with_name(f"{resolved_path.name}.{NEW}")
    try:
        with disk_errors(path):
            yield temporary
            temporary.replace(resolved_path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Context manager that yields an empty temporary folder beside `folder`, to which the caller moves it when it is filled.

    If the caller has not moved it, it is deleted at the end.
    Folders that a killed process left behind are deleted by a call on a later day.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _delete_left_behind(folder)
    with (
        tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch,
        disk_errors(folder),
    ):
        empty_folder = Path(scratch, NEW)
        empty_folder.mkdir()
        yield empty_folder


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Context manager that turns disk errors, also those of safetensors and tokenizers, into an OSError that names `path`."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)
        raise
    except Exception as error:  # tokenizers raise no narrower one
        if match := _ERROR_CODE.search(str(error)):
            raise OSError(int(match[1]), os.strerror(int(match[1])), str(path)) from error
        if isinstance(error, SafetensorError):
            raise OSError(errno.EIO, str(error), str(path)) from error
        raise


def _delete_left_behind(folder: Path) -> None:
    """Deletes folders that calls of `new_folder` for this `folder` left behind when they were killed on an earlier day."""
    pattern = re.compile(rf"\.{re.escape(folder.name)}-[a-z0-9_]{{8}}")  # as `tempfile` names folders
    for old_folder in filter(Path.is_dir, list(folder.parent.iterdir())):
        if not pattern.fullmatch(old_folder.name):
            continue
        with suppress(FileNotFoundError):  # another process deletes it at the same time
            is_old = time.time() - old_folder.stat().st_mtime > LEFT_BEHIND
            if is_old and {path.name for path in old_folder.iterdir()} <= {NEW}:
                shutil.rmtree(old_folder, ignore_errors=True)
