"""The device on which an encoder runs, the memory of the machine and of its GPU, and torch's number of threads and
random seed.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import torch

# What Linux says of the machine's memory, in kB.
MEMORY_REPORT = Path("/proc/meminfo")
# The limit that Linux sets for the processes of a container, in bytes, or "max"; beside it stands what they take.
CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
# Raised when the memory of a GPU is full; when that of the machine is, torch raises RuntimeError.
OutOfMemory = torch.OutOfMemoryError
# torch draws the weights of every new layer from one generator for all threads, so layers are made inside `torch_seed`:
# elsewhere they would take numbers from another session's sequence.
_random_numbers_lock = Lock()


def find_device(name: str = "auto") -> torch.device:
    """The torch device called `name`; "auto" is the GPU, or the CPU if there is none.

    Raises ValueError if the device cannot be used.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:  # torch raises either for a device that is not there
        raise ValueError(f"the device {name!r} cannot be used: {str(error).splitlines()[0]}") from error


def use_one_thread() -> None:
    """Makes torch compute with one thread, which suits servers, where many small forward passes run at the same time.

    The app calls it before the first session starts. Commands use all cores, and notebooks keep their own setting.
    """
    torch.set_num_threads(1)


def release_memory() -> None:
    """Returns unused memory, which torch (GPU) and glibc (CPU) would keep for reuse, to the operating system.

    Without it the process grows, since glibc keeps the gaps that arrays of changing sizes leave. A call takes 2 ms, and the
    next capture some 15 ms more.
    """
    torch.cuda.empty_cache()
    with suppress(OSError, AttributeError):  # other systems have no such call
        ctypes.CDLL(None).malloc_trim(0)


def machine_memory() -> int | None:
    """Memory of the machine, or of the container if that has less, in bytes; None if the system reports neither."""
    sizes = []
    with suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # "max" is no number: there is no limit
        sizes.append(int(CONTAINER_LIMIT.read_text()))
    return min(sizes, default=None)


def available_memory() -> int | None:
    """Free memory of the machine, or of the container if that has less, in bytes; None if the system reports neither, as outside of
    Linux.

    The system's cache of files counts as free.
    """
    sizes = []
    with suppress(OSError, ValueError, KeyError):
        sizes.append(1024 * _read_numbers(MEMORY_REPORT)["MemAvailable:"])
    with suppress(OSError, ValueError, KeyError):  # "max" is no number: there is no limit
        used_bytes = int(CONTAINER_LIMIT.with_name("memory.current").read_text())
        file_cache_bytes = _read_numbers(CONTAINER_LIMIT.with_name("memory.stat"))["inactive_file"]
        sizes.append(int(CONTAINER_LIMIT.read_text()) - used_bytes + file_cache_bytes)
    return min(sizes, default=None)


def available_on_gpu(device: torch.device) -> int:
    """Memory that torch can still allocate on a GPU, in bytes: what is free, and what torch keeps for reuse."""
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def _read_numbers(path: Path) -> dict[str, int]:
    """Numbers by name, from a file whose lines are a name and a number, such as "MemAvailable: 2048 kB"."""
    return {name: int(number) for name, number, *_ in map(str.split, path.read_text().splitlines())}


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Context manager: seeds torch's random numbers on the CPU inside the `with`; afterwards the former sequence continues."""
    with _random_numbers_lock, torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        yield
