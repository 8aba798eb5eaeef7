"""Shared by all commands: loads an encoder by its name, and prints an error as one sentence instead of a traceback."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..device import OutOfMemory
from ..files.errors import exit_on_refusal
from ..loaded import Loaded
from ..sources import locations
from .load_or_download import load_or_download

GPU_TOO_SMALL = "the memory of the GPU is too small for this; --device cpu takes the CPU"
CHECKPOINT = (
    "the name of an encoder that comes with the project, the path of a folder, or a name below the folder LOUPE_MODELS; or owner/name "
    "of a model on the Hugging Face Hub, which is downloaded unless it is in the cache"
)


def load_checkpoint(name_or_path: str, device: str) -> Loaded:
    """Loads a checkpoint by its name or path; a model of the Hugging Face Hub that is not in the cache is downloaded.

    Encoders in the folder given by the environment variable `LOUPE_MODELS` can be named, too. Raises FileNotFoundError if
    there is no such checkpoint, and ValueError if the checkpoint or that folder cannot be read.
    """
    locations.use_variable(os.environ)
    return load_or_download(name_or_path, device)


@contextmanager
def exit_with_one_sentence(program: str) -> Iterator[None]:
    """As `model.files.errors.exit_on_refusal`, also where the memory of the GPU is too small."""
    with exit_on_refusal(program):
        try:
            yield
        except OutOfMemory as error:
            raise ValueError(GPU_TOO_SMALL) from error
