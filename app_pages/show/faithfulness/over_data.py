"""How often the rule holds over a data set, where that was measured."""

from typing import NamedTuple

from app_pages.subject import stored_results
from app_pages.subject.cache import Checkpoint


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
    found = stored_results.faithfulness_of(name)
    if found is None or head is None:
        return None
    rows = found.rows
    of_layer = rows[(rows["lens"] == lens) & (rows["layer"] == head[0])]
    of_head = of_layer[of_layer["head"].isna() | (of_layer["head"] == head[1])]
    of_head = of_head[of_head["told"].notna()]
    if of_head.empty:
        return None
    row = of_head.iloc[0]
    share = float(row["share"]) if row["told"] else None
    return OverData(share, int(row["told"]), found.source.n, found.source.data)
