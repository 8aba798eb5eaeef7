"""Greedy pruning of heads over a data set (`model.experiments.pruning`), resumed after the last stored step."""

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
from .run import PartialResult

COLUMNS = ("layer", "head", "accuracy", "loss", "turned_wrong", "turned_right")
JUDGES = 2000  # examples to measure the accuracy, at most: the standard error of an accuracy of 90 % is then 0.7 points
NO_HEAD = -1.0  # stands for layer and head at step 0


class LabelledInputs(NamedTuple):
    """Inputs with their class indices."""

    inputs: Sequence[InputLike]
    labels: Sequence[int]


def split_for_pruning(
    loaded: Loaded, examples: Examples, sample: int
) -> tuple[LabelledInputs, LabelledInputs]:
    """Two sets of examples: those that choose the next head to remove, and those on which the accuracy is measured.

    The first are every second one of `sample` examples; the second are all others, or `JUDGES` of them, evenly spaced.
    Raises ValueError, with a one-sentence message, if a label is missing or is not one of the encoder's classes.
    """
    choosing = labelled_examples(loaded, examples.limited(sample))[::2]
    choosing_numbers = {number for number, *_ in choosing}
    judging = labelled_examples(loaded, examples.limited(JUDGES + len(choosing)))
    judging = [example for example in judging if example[0] not in choosing_numbers]
    n = min(len(judging), JUDGES)
    return _to_labelled_inputs(choosing), _to_labelled_inputs(
        [judging[index * len(judging) // n] for index in range(n)]
    )


def _to_labelled_inputs(examples: Sequence[tuple[int, InputLike, int]]) -> LabelledInputs:
    return LabelledInputs(
        [text_or_image for _, text_or_image, _ in examples], [label for *_, label in examples]
    )


def pruning_rows(
    loaded: Loaded,
    choosing: LabelledInputs,
    judging: LabelledInputs,
    means: np.ndarray,
    progress: PartialResult,
) -> pd.DataFrame:
    """Table with the columns of `pruning.parquet`: each step of pruning with heads replaced by zeros, then by their `means`.

    `choosing` and `judging` are the sets of `split_for_pruning`; finished steps are stored in `progress`. Raises ValueError
    as `greedy` does.
    """
    replacements: dict[str, AblationKind] = {"zero": "zero", "mean": means.astype(np.float32)}
    n_heads = loaded.config.n_layers * loaded.config.n_heads
    n_finished, results = progress.load()
    with tqdm(
        total=len(replacements) * (n_heads + 1),
        initial=n_finished,
        desc=f"{loaded.name}: pruning",
        unit=" steps",
        disable=None,
    ) as progress_bar:
        for name, replacement in replacements.items():
            rows = results.get(name, np.empty((0, len(COLUMNS)))).tolist()
            removed = [(int(layer), int(head)) for layer, head, *_ in rows[1:]]
            if not rows or len(removed) < n_heads:
                rows = rows if removed else []  # a step 0 alone is repeated
                for step in greedy(loaded, *choosing, replacement, removed=removed, judged=judging):
                    layer_and_head = (NO_HEAD, NO_HEAD) if step.layer is None else (step.layer, step.head)
                    rows.append(
                        [*layer_and_head, step.accuracy, step.loss, step.turned_wrong, step.turned_right]
                    )
                    results[name] = np.array(rows, np.float64)
                    progress.save(sum(map(len, results.values())), results)
                    progress_bar.update(1)
    return pd.DataFrame(
        [
            {"how": name, "step": step, **dict(zip(COLUMNS, _table_row(row), strict=True))}
            for name in replacements
            for step, row in enumerate(results[name].tolist())
        ]
    )


def _table_row(row: list[float]) -> list[float | int | None]:
    layer, head, accuracy, loss, *turned_counts = row
    layer_and_head = [None if number == NO_HEAD else int(number) for number in (layer, head)]
    return [*layer_and_head, accuracy, loss, *map(int, turned_counts)]
