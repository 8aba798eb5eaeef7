"""Shared by all commands: loads an encoder by its name, and prints an error as one sentence instead of a traceback."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..device import OutOfMemory
from ..loaded import Loaded
from ..sources import locations
from .load_or_download import load_or_download

REFUSED = 2  # the exit code, as argparse has it for an option that it cannot read
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
    """Context manager for the body of a command: an error ends the program with one sentence on stderr and exit code 2.

    The sentence begins with the name of the `program`. The errors are ValueError, OSError and a lack of GPU memory; others pass through.
    """
    try:
        yield
    except OutOfMemory:
        sentence = GPU_TOO_SMALL
    except OSError as error:  # unlike `error_text`: who typed the command may see the path
        sentence = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    except ValueError as error:
        sentence = str(error)
    else:
        return
    print(f"{program.removeprefix('python -m ')}: {' '.join(sentence.split())}", file=sys.stderr)
    sys.exit(REFUSED)
