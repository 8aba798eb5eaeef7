"""A table of sentences against numbers: for each sentence that concludes, the inputs at which it turns, and what it then says.

Inputs at which a sentence turns are a tie, zero, one alone, another sign, a value that only rounds to its limit, and what cannot
be decided.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

_SPACES = str.maketrans("\u2009\u00a0\u202f", "   ")


@dataclass(frozen=True)
class Row:
    """A sentence for one input at which it turns; `says` must stand in it, `never` must not."""

    turn: str
    make: Callable[[], str]
    says: tuple[str, ...]
    never: tuple[str, ...] = ()

    def check(self) -> None:
        sentence = self.make().translate(_SPACES)
        assert [part for part in self.says if part not in sentence] == [], sentence
        assert [part for part in self.never if part in sentence] == [], sentence


def row(turn: str, make: Callable[[], str], *says: str, never: tuple[str, ...] = ()) -> Row:
    return Row(turn, make, says, never)


def table(sentences: Mapping[str, Sequence[Row]]) -> pytest.MarkDecorator:
    """Runs a test with each row, as its argument `turn`; `sentences` are the rows by what the sentence is about."""
    rows = [
        pytest.param(row, id=f"{about}, {row.turn}") for about, turns in sentences.items() for row in turns
    ]
    return pytest.mark.parametrize("turn", rows)
