"""Files and folders that stand there whole or not at all: written beside their place first, and then moved there.

A kill leaves the old one or the new. So does a full disk: it is an OSError, whatever the library that was writing raises.
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
    """Where to write what takes the place of the file `path` at the end of the `with`; after an error nothing does."""
    if path.exists() and not path.is_file():  # a device, as /dev/stdout, is written to
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
    """An empty folder, to be filled and moved to `folder`. What is not moved is deleted, after a kill by the next call."""
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
    """Deletes what killed processes left beside `folder`, and nothing that another one is writing into."""
    named = re.compile(rf"\.{re.escape(folder.name)}-{_RANDOM}")
    for left in [each for each in folder.parent.iterdir() if named.fullmatch(each.name) and each.is_dir()]:
        with suppress(OSError), _held(left, wait=False):
            if {each.name for each in left.iterdir()} <= {NEW}:
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _held(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """The folder is this process's until the end, also if that is a kill. Raises OSError where it is another's."""
    if fcntl is None:
        if not wait:
            raise OSError(errno.ENOLCK, "it cannot be told whose it is")
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
