"""What the rows of a record's patterns add up to: 1, unless somebody left weights out, or they are no softmax."""

from typing import NamedTuple

import numpy as np

from ..record import AttentionRecord
from .heads import sums

ROUNDING = 1e-2  # of half precision, added up over many keys


class Odd(NamedTuple):
    """The rows that do not sum to 1."""

    n: int
    of: int  # rows in all; those that may attend to nothing are none
    least: float  # of their sums
    most: float


def odd_rows(record: AttentionRecord) -> Odd | None:
    """None where all rows sum to 1, but for rounding."""
    found = sums(record.pattern)[record.mask.any(axis=-1)]
    odd = found[np.abs(found - 1) > ROUNDING]
    return Odd(len(odd), len(found), float(odd.min()), float(odd.max())) if len(odd) else None
