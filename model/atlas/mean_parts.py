"""What each head and feed-forward adds to the answers over a data set."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ..config import ModelConfig
from ..decompositions.answer_parts import answer_parts
from ..loaded import Loaded
from .dataset_examples import Shard, naming_example
from .dataset_measure import MomentsMeasure, ProgressCallback
from .running_moments import Arrays, Moments, from_arrays, to_arrays


@dataclass(frozen=True, kw_only=True)
class MeanParts(MomentsMeasure):
    """The parts of each answer, that of the predicted class (`model.decompositions.answer_parts`), and their sizes."""

    name: ClassVar[str] = "parts"
    shard: int = 64

    def measure_shard(self, loaded: Loaded, shard: Shard, step: ProgressCallback) -> Arrays:
        rows = []
        for number, text_or_image in zip(shard.numbers, shard.inputs, strict=True):
            with naming_example(number):
                frame = answer_parts(loaded, text_or_image).frame
            rows.append(frame.dropna(subset="layer")["value"])
            step(1)
        values = np.array(rows)
        return to_arrays({"value": Moments.from_examples(values), "size": Moments.from_examples(abs(values))})


def mean_parts_rows(arrays: Arrays, config: ModelConfig) -> pd.DataFrame:
    """Table with the columns of `parts.parquet`: a row for each head and feed-forward, in the order of computation.

    Over the `n` examples, `mean` and `sd` are those of what it adds, and `mean_abs` is the mean of the size |value| of that.
    """
    moments = from_arrays(arrays)
    value, size = moments["value"], moments["size"]
    of_layer = [("head", head) for head in range(config.n_heads)] + [("feed-forward", None)]
    rows = [(kind, layer, head) for layer in range(config.n_layers) for kind, head in of_layer]
    numbers = {"mean": value.spread.mean, "sd": value.spread.sd, "mean_abs": size.spread.mean}
    return pd.DataFrame(rows, columns=["kind", "layer", "head"]).assign(**numbers, n=value.n.astype(int))
