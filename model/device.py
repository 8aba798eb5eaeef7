"""Where an encoder runs."""

import torch


def find_device(name: str = "auto") -> torch.device:
    """The device of that name; "auto" is the GPU where there is one. Raises ValueError where it cannot be used."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:  # torch raises either for a device that is not there
        raise ValueError(f"the device {name!r} cannot be used: {str(error).splitlines()[0]}") from error
