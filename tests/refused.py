"""How a command must end when it cannot read its input."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def refused(capsys: pytest.CaptureFixture, pattern: str) -> Iterator[None]:
    """Asserts that the command inside the `with` exits with code 2 and writes one line to stderr, which `pattern` matches."""
    with pytest.raises(SystemExit) as ended:
        yield
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(pattern, line), line
