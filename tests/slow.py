"""Values for `parametrize` of which most are left to `make test-all`."""

from collections.abc import Sequence

import pytest


def one_of_each(cases: Sequence[tuple]) -> list:
    """The cases begin with a page or a family: those after the first of each are marked as slow."""
    firsts = [first for first, *_ in cases]
    return [
        pytest.param(*case, marks=pytest.mark.slow if case[0] in firsts[:index] else ())
        for index, case in enumerate(cases)
    ]
