"""The weights of many maps as one table, for the files of figures that show each map as a picture."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd


def weight_table(
    weights: np.ndarray, rows: Mapping[str, Sequence | None], columns: Sequence[str]
) -> pd.DataFrame:
    """Weights [..., key] with a row for each index of the leading axes, and a column for each key, named by `columns`.

    `rows` has an entry for each leading axis: what it is called, and a name for each index, or None where the index says it.
    Raises ValueError if that does not fit the weights.
    """
    *leading, n_keys = weights.shape
    if len(rows) != len(leading) or len(columns) != n_keys:
        raise ValueError(f"{len(rows)} kinds of rows and {len(columns)} columns for weights {weights.shape}")
    indices = np.indices(leading).reshape(len(leading), -1)
    names = {
        name: index if labels is None else np.asarray(labels, object)[index]
        for (name, labels), index in zip(rows.items(), indices, strict=True)
    }
    numbers = pd.DataFrame(weights.reshape(-1, n_keys), columns=list(columns), copy=False)
    return pd.concat([pd.DataFrame(names), numbers], axis=1)
