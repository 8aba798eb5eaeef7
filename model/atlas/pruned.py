"""How many heads may go, over a data set: `model.pruning.greedy`, whose steps are stored as they come."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from tqdm import tqdm

from ..ablation import How
from ..checkpoint import Loaded
from ..inputs import InputLike
from ..pruning import greedy
from .progress import Progress

COLUMNS = ("layer", "head", "accuracy", "loss")
NOBODY = -1.0  # in the place of a layer and a head at step 0


def pruned(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    labels: Sequence[int],
    means: np.ndarray,
    progress: Progress,
) -> pd.DataFrame:
    """With the columns of `model.atlas.stored.OF_PRUNING`: once with zeros in the place of heads, once with their means.

    Every second input, from the first on, chooses which head goes; accuracy and loss are of the others.
    Raises ValueError as `greedy` does.
    """
    ways: dict[str, How] = {"zero": "zero", "mean": means.astype(np.float32)}
    n_heads = loaded.config.n_layers * loaded.config.n_heads
    done, found = progress.load()
    with tqdm(
        total=len(ways) * (n_heads + 1),
        initial=done,
        desc=f"{loaded.name}: pruning",
        unit=" steps",
        disable=None,
    ) as bar:
        for name, how in ways.items():
            rows = found.get(name, np.empty((0, len(COLUMNS)))).tolist()
            gone = [(int(layer), int(head)) for layer, head, *_ in rows[1:]]
            if not rows or len(gone) < n_heads:
                # with no step yet, or only step 0, it begins again
                rows = rows if gone else []
                judged = inputs[1::2], labels[1::2]
                for step in greedy(loaded, inputs[::2], labels[::2], how, removed=gone, judged=judged):
                    at = (NOBODY, NOBODY) if step.layer is None else (step.layer, step.head)
                    rows.append([*at, step.accuracy, step.loss])
                    found[name] = np.array(rows, np.float64)
                    progress.save(sum(map(len, found.values())), found)
                    bar.update(1)
    return pd.DataFrame(
        [
            {"how": name, "step": step, **dict(zip(COLUMNS, _row(row), strict=True))}
            for name in ways
            for step, row in enumerate(found[name].tolist())
        ]
    )


def _row(row: list[float]) -> list[float | int | None]:
    layer, head, *figures = row
    return [None if each == NOBODY else int(each) for each in (layer, head)] + figures
