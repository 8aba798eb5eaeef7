"""How often the rule holds over a data set, where that was measured."""

from typing import NamedTuple

import pandas as pd

from app_pages.subject import stored_results
from app_pages.subject.cache import Checkpoint, cached
from model.atlas.results import FAITHFULNESS


class OverData(NamedTuple):
    share: float | None  # of the `told` examples, from 0 to 1; None where there are none
    told: int  # on which maps can be judged
    n: int
    data: str  # as it stands on screen


def held_over_data(name: Checkpoint, lens: str, head: tuple[int, int] | None) -> OverData | None:
    """For how many examples the map of a layer and head may be read as an explanation by the rule, through this lens.

    A lens without heads has one map a layer. None where it was not measured for this encoder, lens and head, or by the
    rule of an earlier version, which held no map against the perfect one.
    """
    stored = stored_results.faithfulness_of(name)
    if stored is None or head is None:
        return None
    rows = _rows(name, stored_results.file_state(name, FAITHFULNESS))
    row = rows.get((lens, head[0], head[1]), rows.get((lens, head[0], None)))
    return None if row is None else OverData(*row, stored.source.n, stored.source.data)


@cached
def _rows(
    name: Checkpoint, _of: stored_results.States
) -> dict[tuple[str, int, int | None], tuple[float | None, int]]:
    """By lens, layer and head (None where the lens has no heads) the share and the number of examples that it is of."""
    stored = stored_results.faithfulness_of(name)
    if stored is None:
        return {}
    table = stored.rows[stored.rows["told"].notna() & stored.rows["layer"].notna()]
    return {
        (row.lens, int(row.layer), None if pd.isna(row.head) else int(row.head)): (
            float(row.share) if row.told else None,
            int(row.told),
        )
        for row in reversed(list(table.itertuples()))  # of two rows the first counts
    }
