"""Measurements of both norm placements by seed, as stored in `checkpoints/claims.json`."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from ..checkpoint import CHECKPOINTS
from ..files.content import read_as, replace_text
from ..schema import Count, Number

CLAIMS_FILE = Path("claims.json")  # below the checkpoints
COMMAND = "python -m model.train.claims --data FOLDER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Values of one figure, measured on encoders that differ only in norm placement, for each of the `seeds`.

    `pre[i]` and `post[i]` are the values of the two encoders of `seeds[i]`. For distances between encoders,
    `across` holds those between the placements, and `pre` and `post` those between two seeds of one placement.
    Raises ValueError if there are not as many values as the seeds require, or a value is not finite.
    """

    figure: str  # by the names of `model.claims.catalogue`
    source: Literal[
        "fresh", "runs", "trained"
    ]  # "fresh": untrained encoders and short runs; "runs": the stored ones; "trained": checkpoints
    where: str  # which encoders, as it stands on the page
    n: Count  # how many examples each value is of
    of: str  # what these are
    seeds: Annotated[tuple[Count, ...], Meta(min_length=1)]
    pre: tuple[Number, ...]
    post: tuple[Number, ...]
    across: tuple[Number, ...] | None = None
    optimizer: str | None = None  # of trained encoders

    def __post_init__(self) -> None:
        n_seeds = len(self.seeds)
        expected_lengths = (n_seeds, n_seeds) if self.across is None else (n_seeds * (n_seeds - 1) // 2,) * 2
        if not n_seeds or (len(self.pre), len(self.post)) != expected_lengths:
            raise ValueError(
                f"{self.figure}, {self.where}: {n_seeds} seeds, {len(self.pre)} and {len(self.post)} values"
            )
        if self.across is not None and len(self.across) != n_seeds * n_seeds:
            raise ValueError(
                f"{self.figure}, {self.where}: {n_seeds} seeds, {len(self.across)} values across"
            )
        if not all(map(math.isfinite, (*self.pre, *self.post, *(self.across or ())))):
            raise ValueError(f"{self.figure}, {self.where}: a value is not finite")


class StoredMeasurements(TypedDict):
    """Content of `checkpoints/claims.json`: the measurements, and the command that made them."""

    command: str
    measured: list[Measurement]


def read_measurements(path: Path = CHECKPOINTS / CLAIMS_FILE) -> list[Measurement]:
    """The stored measurements; an empty list if there is no file.

    Raises ValueError, with a one-sentence message, if the file is damaged.
    """
    stored = read_as(path, StoredMeasurements)
    return stored["measured"] if stored else []


def write_measurements(path: Path, measured: Iterable[Measurement]) -> None:
    """Writes the measurements as JSON, one per line."""
    rows = ",\n".join(
        json.dumps(asdict(measurement), ensure_ascii=False, allow_nan=False) for measurement in measured
    )
    replace_text(path, f'{{"command": "{COMMAND}", "measured": [\n{rows}\n]}}\n')
