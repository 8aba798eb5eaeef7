"""Where an encoder runs."""

import ctypes
from contextlib import suppress

import torch

OutOfMemory = (
    torch.OutOfMemoryError
)  # of a GPU; where the machine's own memory ends, torch raises RuntimeError


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
    """Gives the system what torch and glibc keep of freed memory, on a GPU and here.

    Batches of ever new lengths leave holes, which glibc keeps and so grows. It takes 2 ms, and whoever computes next waits
    some 15 ms for new memory: told to keep nothing at all (M_MMAP_THRESHOLD), glibc would double the time of each capture.
    """
    torch.cuda.empty_cache()
    with suppress(OSError, AttributeError):  # other systems have no such call
        ctypes.CDLL(None).malloc_trim(0)
