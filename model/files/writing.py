"""Writes files and folders so that they are complete or not there: first beside their place, then moved into it.

After a kill or on a full disk the old one is still there, or already the new one. A full disk is always an OSError here,
whatever the library that was writing raises.
"""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors import SafetensorError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

NEW = "new"
_CODE = re.compile(r"\(os error (\d+)\)")  # how libraries in Rust end their messages
_RANDOM = "[a-z0-9_]{8}"  # as `tempfile` names folders


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a file to write into, which replaces `path` at the end of the `with`; after an error `path` is as it was."""
    if path.exists() and not path.is_file():  # a device such as /dev/stdout cannot be replaced
        yield path
        return
    there = path.resolve()  # where a link leads to
    beside = there.with_name(f"{there.name}.{NEW}")
    try:
        with os_errors(path):
            yield beside
            beside.replace(there)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """An empty folder, to be filled and moved to `folder`. What a caller did not move is deleted; after a kill, by the next call."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    with (
        tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch,
        _held(Path(scratch)),
        os_errors(folder),
    ):
        new = Path(scratch, NEW)
        new.mkdir()
        yield new


@contextmanager
def os_errors(path: Path) -> Iterator[None]:
    """Errors of the disk name `path`; those of safetensors and tokenizers become the OSError that Python has for them."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)
        raise
    except Exception as error:  # tokenizers raise no narrower one
        if found := _CODE.search(str(error)):
            raise OSError(int(found[1]), os.strerror(int(found[1])), str(path)) from error
        if isinstance(error, SafetensorError):
            raise OSError(errno.EIO, str(error), str(path)) from error
        raise


def _sweep(folder: Path) -> None:
    """Deletes the folders that killed processes left beside `folder`, but none that a running one writes into."""
    named = re.compile(rf"\.{re.escape(folder.name)}-{_RANDOM}")
    for left in [each for each in folder.parent.iterdir() if named.fullmatch(each.name) and each.is_dir()]:
        with suppress(OSError), _held(left, wait=False):
            if {each.name for each in left.iterdir()} <= {NEW}:
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _held(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Locks the folder for this process, until its end at the latest. Without `wait`: raises OSError where another has it."""
    if fcntl is None:
        if not wait:
            raise OSError(errno.ENOLCK, "this system has no locks")
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:  # taken, or a disk in the network that knows no locks
            if not wait:
                raise
        yield
    finally:
        os.close(opened)
