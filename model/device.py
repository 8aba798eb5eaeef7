"""Where an encoder runs."""

import ctypes
from contextlib import suppress

import torch

# Raised when the memory of a GPU is full; when that of the machine is, torch raises RuntimeError.
OutOfMemory = torch.OutOfMemoryError


def find_device(name: str = "auto") -> torch.device:
    """The device of that name; "auto" is the GPU where there is one. Raises ValueError where it cannot be used."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:  # torch raises either for a device that is not there
        raise ValueError(f"the device {name!r} cannot be used: {str(error).splitlines()[0]}") from error


def one_thread() -> None:
    """For servers: one forward of one example is too small to share out, and many of them run side by side.

    Before the first session's thread starts; commands take all cores, and a notebook's own setting is left alone.
    """
    torch.set_num_threads(1)


def hand_back() -> None:
    """Returns freed memory that torch (on a GPU) and glibc (on the CPU) keep for reuse to the system.

    glibc keeps the gaps that arrays of changing sizes leave, so the process grows. A call takes 2 ms, and the next capture
    some 15 ms more, for new memory. Telling glibc to keep nothing (M_MMAP_THRESHOLD) would double the time of every capture.
    """
    torch.cuda.empty_cache()
    with suppress(OSError, AttributeError):  # other systems have no such call
        ctypes.CDLL(None).malloc_trim(0)
