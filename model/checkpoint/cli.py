"""What all commands share: loading an encoder by its name, and printing errors as one sentence instead of a traceback."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..device import OutOfMemory
from ..loaded import Loaded
from ..sources import locations
from . import load

REFUSED = 2  # the exit code, as argparse has it for an option that it cannot read
GPU_TOO_SMALL = "the memory of the GPU is too small for this; --device cpu takes the CPU"
CHECKPOINT = (
    "the name of an encoder that comes with the project, or one as in the app: below the folder LOUPE_MODELS, or hub:owner/name; "
    "or the path of its folder"
)


def load_checkpoint(name_or_path: str, device: str) -> Loaded:
    """Loads a checkpoint by name or path; names of encoders below the folder `LOUPE_MODELS` are known, too.

    Raises FileNotFoundError if there is no such checkpoint, ValueError if it or `LOUPE_MODELS` cannot be read.
    """
    locations.use_variable(os.environ)
    return load(name_or_path, device)


@contextmanager
def exit_with_one_sentence(program: str) -> Iterator[None]:
    """Context for the body of a command: it prints a ValueError, an OSError or a lack of GPU memory as one sentence
    to stderr and exits with code 2."""
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
    print(f"{program}: {' '.join(sentence.split())}", file=sys.stderr)
    sys.exit(REFUSED)
