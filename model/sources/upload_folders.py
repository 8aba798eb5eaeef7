"""Temporary folders for uploads: all of one process lie in one folder, which is deleted when that process has ended.

A process that is killed deletes nothing. So it holds a lock on a file in its folder, which the system releases when it ends; the
next process to start deletes the folders whose lock nobody holds.
"""

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there, what a killed process left behind stays
    fcntl = None  # type: ignore[assignment]

PREFIX, LOCK = "loupe-uploads-", "lock"
_locks: dict[Path, int] = {}  # open as long as this process runs, by the folder


def new_upload_folder() -> Path:
    """An empty folder within this process's own. Raises OSError if it cannot be made."""
    if not _locks:
        _make_process_folder()
    return Path(tempfile.mkdtemp(dir=next(iter(_locks)))).resolve()


def delete_process_folder() -> None:
    """Deletes this process's folder with all that is in it; a later upload makes a new one."""
    while _locks:
        folder, lock = _locks.popitem()
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def delete_left_behind() -> None:
    """Deletes the folders of processes that have ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(
            OSError
        ):  # of another user, still in use, or deleted by another process at the same time
            if fcntl is None or folder.is_symlink():
                continue
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _make_process_folder() -> None:
    """Its name begins with `PREFIX` only once it is locked, or another process that starts now would delete it."""
    unlocked = Path(tempfile.mkdtemp(prefix=f".{PREFIX}"))
    lock = os.open(unlocked / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    atexit.register(delete_process_folder)
    _locks[unlocked.rename(unlocked.with_name(unlocked.name[1:]))] = lock
