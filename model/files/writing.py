"""Writes files and folders completely or not at all: first under another name in the same folder, then moved.

If the process is killed or the disk is full, either the old file remains or the new one is complete. A full disk always
raises OSError, whichever library was writing.
"""

import errno
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors import SafetensorError

NEW = "new"
LEFT_BEHIND = 24 * 3600  # seconds after which nobody writes into a temporary folder any more
_ERROR_CODE = re.compile(r"\(os error (\d+)\)")  # how libraries in Rust end their messages
_RANDOM = "[a-z0-9_]{8}"  # as `tempfile` names folders


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Context manager with the path of a temporary file, which replaces `path` at the end; after an error `path` is unchanged."""
    if path.exists() and not path.is_file():  # a device such as /dev/stdout cannot be replaced
        yield path
        return
    resolved_path = path.resolve()  # where a link leads to
    temporary = resolved_path.with_name(f"{resolved_path.name}.{NEW}")
    try:
        with os_errors(path):
            yield temporary
            temporary.replace(resolved_path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Context manager with an empty folder, to be filled and then moved to `folder`; if it is not moved, it is deleted at
    the end.

    Folders that a killed process left behind are deleted by a call on a later day.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _delete_left_behind(folder)
    with (
        tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch,
        os_errors(folder),
    ):
        empty_folder = Path(scratch, NEW)
        empty_folder.mkdir()
        yield empty_folder


@contextmanager
def os_errors(path: Path) -> Iterator[None]:
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
    pattern = re.compile(rf"\.{re.escape(folder.name)}-{_RANDOM}")
    for old_folder in [
        path for path in folder.parent.iterdir() if pattern.fullmatch(path.name) and path.is_dir()
    ]:
        with suppress(FileNotFoundError):  # another process deletes it at the same time
            is_old = time.time() - old_folder.stat().st_mtime > LEFT_BEHIND
            if is_old and {path.name for path in old_folder.iterdir()} <= {NEW}:
                shutil.rmtree(old_folder, ignore_errors=True)
