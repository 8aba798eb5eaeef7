"""Stands in for a full disk: writing more than some bytes to a file raises OSError in whatever library writes."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

FULL = "File too large"  # what the system says instead of "No space left on device"


@contextmanager
def full_after(n_bytes: int) -> Iterator[None]:
    """Limits every file that is written inside the `with` to this many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
