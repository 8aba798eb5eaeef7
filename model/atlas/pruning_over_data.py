"""AblationKind many heads may go, over a data set: `model.experiments.pruning.greedy`, whose steps are stored as they come."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from ..experiments.ablation import AblationKind
from ..experiments.pruning import greedy
from ..inputs import InputLike
from ..loaded import Loaded
from .dataset_examples import Examples, labelled_examples
from .partial_result import PartialResult

COLUMNS = ("layer", "head", "accuracy", "loss", "turned_wrong", "turned_right")
JUDGES = 2000  # examples at most: the standard error of an accuracy of 90 % is then 0.7 points
NOBODY = -1.0  # in the place of a layer and a head at step 0


class LabelledInputs(NamedTuple):
    inputs: Sequence[InputLike]
    labels: Sequence[int]


def split_for_pruning(
    loaded: Loaded, examples: Examples, sample: int
) -> tuple[LabelledInputs, LabelledInputs]:
    """Those that choose which head goes, every second of a `sample` of the examples, and those that judge.

    Of the examples that choose nothing all judge, or `JUDGES` at equal distances. Raises ValueError, in one sentence,
    where a label is missing or no class of the encoder.
    """
    choosing = labelled_examples(loaded, examples.limited(sample))[::2]
    chose = {number for number, *_ in choosing}
    judging = labelled_examples(loaded, examples.limited(JUDGES + len(choosing)))
    judging = [example for example in judging if example[0] not in chose]
    n = min(len(judging), JUDGES)
    return _labelled(choosing), _labelled([judging[at * len(judging) // n] for at in range(n)])


def _labelled(examples: list[tuple[int, InputLike, int]]) -> LabelledInputs:
    return LabelledInputs([given for _, given, _ in examples], [label for *_, label in examples])


def pruning_rows(
    loaded: Loaded,
    choosing: LabelledInputs,
    judging: LabelledInputs,
    means: np.ndarray,
    progress: PartialResult,
) -> pd.DataFrame:
    """With the columns of `model.atlas.results.PRUNING_COLUMNS`: once with zeros in the place of heads, once with their means.

    Raises ValueError as `greedy` does.
    """
    ways: dict[str, AblationKind] = {"zero": "zero", "mean": means.astype(np.float32)}
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
                for step in greedy(loaded, *choosing, how, removed=gone, judged=judging):
                    at = (NOBODY, NOBODY) if step.layer is None else (step.layer, step.head)
                    rows.append([*at, step.accuracy, step.loss, step.turned_wrong, step.turned_right])
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
    layer, head, accuracy, loss, *turned = row
    at = [None if each == NOBODY else int(each) for each in (layer, head)]
    return [*at, accuracy, loss, *map(int, turned)]
