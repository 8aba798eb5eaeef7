"""Where an encoder runs."""

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
    """Gives the system what torch keeps of a GPU's memory and does not use."""
    torch.cuda.empty_cache()
