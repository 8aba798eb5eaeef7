"""A small disk for the temporary files of the app, which can be filled and freed again.

As root it is a tmpfs, mounted where `folder` is. Otherwise it is simulated, as in `tests/full_disk.py`: while it is full, the
processes may write no file beyond some bytes.
"""

import os
import resource
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.load.servers import Process

SIZE = 24  # MB
FILLER = "filler"
FREE = 2**16  # bytes that stay free on a full disk
# Bytes that a file may have on a simulated full disk: more than the logs of the processes reach.
SIMULATED = 2**20


class SmallDisk:
    """The small disk in `folder`: a mounted tmpfs, or a simulated one."""

    def __init__(self, folder: Path, is_mounted: bool) -> None:
        self.folder, self.is_mounted = folder, is_mounted

    def fill(self, processes: Sequence[Process]) -> None:
        """Fills the disk."""
        if not self.is_mounted:
            _limit(processes, SIMULATED)
            return
        status = os.statvfs(self.folder)
        with (self.folder / FILLER).open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, status.f_bavail * status.f_frsize - FREE))

    def empty(self, processes: Sequence[Process]) -> None:
        """Frees the disk again."""
        if not self.is_mounted:
            _limit(processes, resource.RLIM_INFINITY)
        (self.folder / FILLER).unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """The small disk in `folder`, which is unmounted at the end."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}m", "tmpfs", str(folder)]
    is_mounted = os.geteuid() == 0 and not subprocess.run(mount, capture_output=True).returncode
    try:
        yield SmallDisk(folder, is_mounted)
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _limit(processes: Sequence[Process], n_bytes: int) -> None:
    """Limits the size of the files that the processes write to `n_bytes`."""
    for process in processes:
        with suppress(ProcessLookupError):
            _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (n_bytes, hard))
