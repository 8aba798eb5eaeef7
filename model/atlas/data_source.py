"""`DataSource`, from which data and weights stored figures were computed, and `Spread`, their mean and standard deviation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from jaxtyping import Float
from msgspec import Meta

from ..schema import Count, PositiveCount


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """The examples and weights from which stored figures were computed."""

    command: str
    data: str  # name of the data on screen
    sha256: str  # of the file with the data
    n: PositiveCount  # examples
    weights: tuple[str, ...]  # hash of the weights of each encoder (`model.checkpoint.weights_hash`)
    samples: Mapping[str, Count] = field(default_factory=dict)  # examples of each measure that used fewer
    # share of the tokens that the vocabulary lacks; None where they were not counted
    unknown: Annotated[float, Meta(ge=0, le=1)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Mean and standard deviation over examples, arrays of one shape. Raises ValueError if the shapes differ."""

    mean: Float[np.ndarray, "..."]
    sd: Float[np.ndarray, "..."]

    def __post_init__(self) -> None:
        if self.mean.shape != self.sd.shape:
            raise ValueError(f"a mean of {self.mean.shape} and a deviation of {self.sd.shape}")
