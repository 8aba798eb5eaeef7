"""A disk that is full after some bytes of a file: writing more ends in an OSError, whatever library writes."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

FULL = "File too large"  # what the system says instead of "No space left on device"


@contextmanager
def full_after(n_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
