"""How the heads of an encoder follow the links of one file, in memory: for notebooks, where no file of results is wanted."""

from functools import reduce
from pathlib import Path

import pandas as pd

from ..loaded import Loaded
from .linked_inputs import linked_examples
from .relations import Relations, link_counts, relation_rows


def head_relations(loaded: Loaded, file: str | Path, limit: int | None = None) -> pd.DataFrame:
    """Table with a row for each layer, head, relation and direction of the links in a CoNLL-U or CSV `file`, of `limit` of its
    sentences at most.

    The columns are those of `relation_rows`: share of links, 95 % interval, best fixed offset, corrected p-value. Raises
    FileNotFoundError, and ValueError, with a one-sentence message, if the file cannot be read, does not suit the encoder, or
    holds no link that can be counted.

    >>> from loupe import head_relations, load
    >>> rows = head_relations(load("checkpoints/imdb-pre-ln"), "examples/relations/coreference.csv")
    >>> rows[["layer", "head", "direction", "n"]].head(1).values.tolist()
    [[0, 0, 'to head', 24]]
    """
    measure, examples = Relations(), linked_examples(loaded, Path(file), limit)
    shards = (measure.measure_shard(loaded, shard, _ignore) for shard in examples.shards(measure.shard))
    arrays = reduce(measure.merged, shards)
    link_counts(arrays, Path(file).name)  # raises if there is none
    return relation_rows(arrays)


def _ignore(_n: int) -> None:
    """Where the progress of a measure would be shown."""
