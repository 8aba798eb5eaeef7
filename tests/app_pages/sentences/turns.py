"""A table of sentences against numbers: for each sentence that concludes, the inputs at which it turns, and what it then says.

Inputs at which a sentence turns are a tie, zero, one alone, another sign, a value that only rounds to its limit, and what cannot
be decided.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
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


def answer(
    *probabilities: float, pooled: tuple[float, ...] = (), names: tuple[str, ...] = ("bad", "good")
) -> Any:
    """A record of an encoder with these probabilities, in single precision, or with this pooled state and no classes."""
    values = np.array(probabilities, np.float32)
    predicted = int(values.argmax()) if len(values) else None
    return SimpleNamespace(
        has_classes=bool(len(values)),
        class_names=names if len(values) else (),
        probabilities=values,
        logits=values,
        predicted_class=predicted,
        pooled=np.array(pooled, np.float32),
        unit="token",
    )
