"""For how many examples of a data set a map may be read as an explanation, where that was measured."""

from typing import NamedTuple

import pandas as pd

from app_pages.subject import stored_results
from app_pages.subject.cache import Checkpoint, cached
from model.atlas.results import FAITHFULNESS


class OverData(NamedTuple):
    """Number of examples on which a head's map can be judged, and the share on which it is readable as an explanation."""

    share: float | None  # of the `told` examples, from 0 to 1; None where there are none
    told: int  # on which maps can be judged
    n: int
    data: str  # as it stands on screen


def stored_over_data(name: Checkpoint, lens: str, head: tuple[int, int] | None) -> OverData | None:
    """Stored share of examples on which the map of this head, seen through `lens`, may be read as an explanation.

    A lens without heads has one map per layer. None if it was not measured for this encoder, lens and head.
    """
    stored = stored_results.table_of(name, FAITHFULNESS)
    if stored is None or head is None:
        return None
    rows = _shares_by_map(name, stored_results.file_state(name, FAITHFULNESS))
    row = rows.get((lens, head[0], head[1]), rows.get((lens, head[0], None)))
    return None if row is None else OverData(*row, stored.source.n, stored.source.data)


@cached
def _shares_by_map(
    name: Checkpoint, _of: stored_results.States
) -> dict[tuple[str, int, int | None], tuple[float | None, int]]:
    """Share of readable maps, and number of examples on which that can be decided, by lens, layer and head (or None)."""
    stored = stored_results.table_of(name, FAITHFULNESS)
    if stored is None:
        return {}
    table = stored.rows[stored.rows["layer"].notna()]
    return {
        (row.lens, int(row.layer), None if pd.isna(row.head) else int(row.head)): (
            float(row.share) if row.told else None,
            int(row.told),
        )
        for row in reversed(list(table.itertuples()))  # of two rows the first counts
    }
