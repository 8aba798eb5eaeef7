"""Measurements of both placements, by seed, as `checkpoints/claims.json` keeps them."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from jsonschema import Draft202012Validator

from ..checkpoint import CHECKPOINTS
from ..files import json_schema
from ..files.json_schema import COUNT, NUMBER, WORDS, list_of, object_of

CLAIMS = Path("claims.json")  # below the checkpoints
COMMAND = "python -m model.claims --data FOLDER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One figure of encoders that differ in the placement of the norm, for each of the `seeds`.

    `pre[i]` and `post[i]` are of the two encoders of `seeds[i]`. Where `across` is given, the figure says how far two
    encoders are from each other: then `across` is between encoders of both placements, `pre` and `post` are between
    two seeds of one. Raises ValueError where values and seeds differ in number, or a value is not finite.
    """

    figure: str  # by the names of `model.claims.catalogue`
    source: str  # "fresh": untrained encoders and short runs; "runs": the stored ones; "trained": checkpoints
    where: str  # which encoders, as it stands on the page
    n: int  # how many examples each value is of
    of: str  # what these are
    seeds: tuple[int, ...]
    pre: tuple[float, ...]
    post: tuple[float, ...]
    across: tuple[float, ...] | None = None
    optimizer: str | None = None  # of trained encoders

    def __post_init__(self) -> None:
        k = len(self.seeds)
        expected = (k, k) if self.across is None else (k * (k - 1) // 2,) * 2
        if not k or (len(self.pre), len(self.post)) != expected:
            raise ValueError(
                f"{self.figure}, {self.where}: {k} seeds, {len(self.pre)} and {len(self.post)} values"
            )
        if self.across is not None and len(self.across) != k * k:
            raise ValueError(f"{self.figure}, {self.where}: {k} seeds, {len(self.across)} values across")
        if not all(map(math.isfinite, (*self.pre, *self.post, *(self.across or ())))):
            raise ValueError(f"{self.figure}, {self.where}: a value is not finite")


_VALUES = list_of(NUMBER)
_SEEDS = list_of(COUNT) | {"minItems": 1}
_SOURCE = {"enum": ["fresh", "runs", "trained"]}
_TOLD = {"figure": WORDS, "source": _SOURCE, "where": WORDS, "n": COUNT, "of": WORDS}
_NEEDED = _TOLD | {"seeds": _SEEDS, "pre": _VALUES, "post": _VALUES}
_MAY = {"across": _VALUES | {"type": ["array", "null"]}, "optimizer": {"type": ["string", "null"]}}
_ROW = object_of(_NEEDED, **_NEEDED, **_MAY) | {"additionalProperties": False}
_SCHEMA = Draft202012Validator(object_of(("command", "measured"), command=WORDS, measured=list_of(_ROW)))


def read(path: Path = CHECKPOINTS / CLAIMS) -> list[Measurement]:
    """What was measured, nothing where there is no file. Raises ValueError, in one sentence, where it is damaged."""
    return (
        json_schema.read(path, _SCHEMA, lambda found: [_measurement(row) for row in found["measured"]]) or []
    )


def write(path: Path, measured: Iterable[Measurement]) -> None:
    rows = ",\n".join(json.dumps(asdict(each), ensure_ascii=False, allow_nan=False) for each in measured)
    json_schema.replace(path, f'{{"command": "{COMMAND}", "measured": [\n{rows}\n]}}\n')


def _measurement(row: dict) -> Measurement:
    """JSON writes whole numbers with or without their point."""
    values = {name: tuple(map(float, row[name])) for name in ("pre", "post")}
    across = row.get("across")
    values["across"] = None if across is None else tuple(map(float, across))
    return Measurement(**row | values | {"n": int(row["n"]), "seeds": tuple(map(int, row["seeds"]))})
