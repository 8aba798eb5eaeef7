"""What all commands share: an error ends them with one sentence on stderr, never with a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .device import OutOfMemory

GPU_TOO_SMALL = "the memory of the GPU is too small for this; --device cpu takes the CPU"


@contextmanager
def in_one_sentence(program: str, code: int = 1) -> Iterator[None]:
    """Around the body of a command: a ValueError, an OSError or a GPU without memory becomes one sentence and exit `code`."""
    try:
        yield
    except OutOfMemory:
        said = GPU_TOO_SMALL
    except OSError as error:
        said = (
            f"{error.strerror}: {error.filename}"
            if error.strerror and error.filename
            else error.strerror or str(error)
        )
    except ValueError as error:
        said = str(error)
    else:
        return
    sentence = f"{program}: {' '.join(said.split())}"
    if code == 1:
        sys.exit(sentence)
    print(sentence, file=sys.stderr)
    sys.exit(code)
