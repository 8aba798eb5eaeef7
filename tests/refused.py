"""What a command does with what it cannot read."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def refused(capsys: pytest.CaptureFixture, pattern: str) -> Iterator[None]:
    """The command inside the `with` ends with exit code 2, as all commands do, and with one sentence on stderr that `pattern` matches."""
    with pytest.raises(SystemExit) as ended:
        yield
    assert ended.value.code == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert re.search(pattern, sentence), sentence
