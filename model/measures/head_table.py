"""All heads of a record as a table: a row for each head, with its statistics and roles."""

import numpy as np
import pandas as pd

from ..record import AttentionRecord
from .head_roles import roles_from_numbers
from .head_statistics import statistics, statistics_of_even_weights


def head_table(record: AttentionRecord) -> pd.DataFrame:
    """A row for each head, layer by layer: `layer`, `head`, `role` (several are joined by commas; often none) and the
    `statistics` of that head, those that the record has.

    They are shares from 0 to 1, but for the distance, whose column says in which unit it is: `distance (tokens)`.

    >>> from loupe import from_arrays, head_table
    >>> table = head_table(from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"]))
    >>> table[["layer", "head", "entropy", "distance (tokens)"]]
       layer  head  entropy  distance (tokens)
    0      0     0      0.5               0.25
    """
    numbers, chance = statistics(record), statistics_of_even_weights(record)
    heads = list(np.ndindex(record.pattern.shape[:2]))
    roles = [roles_from_numbers(record, numbers, layer, head, chance) for layer, head in heads]
    return pd.DataFrame(
        {
            "layer": [layer for layer, _ in heads],
            "head": [head for _, head in heads],
            "role": [", ".join(role.name for role in held) for held in roles],
            **{
                f"{name} ({record.units})" if name == "distance" else name: values.ravel().astype(float)
                for name, values in numbers.items()
            },
        }
    )
