"""Means and spreads over a data set as files: `atlas.json` of one encoder, `against-OTHER.json` of two."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from jsonschema import Draft202012Validator

from .. import json_schema
from ..json_schema import COUNT, MAYBE, WORDS, list_of, object_of
from ..measures.matching import Pairing, by_distance

COMMAND = "python -m model.atlas CHECKPOINT --data FILE.csv --out FOLDER"
ATLAS = "atlas.json"
DIGITS = 5  # significant ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Which examples, through which weights."""

    command: str
    data: str  # as it stands on screen
    sha256: str  # of the file with the data
    n: int  # examples
    weights: tuple[str, ...]  # hash of the weights of each encoder (`model.checkpoint.weights_hash`)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Mean and standard deviation over examples, arrays of one shape."""

    mean: Float[np.ndarray, "..."]
    sd: Float[np.ndarray, "..."]

    def __post_init__(self) -> None:
        if self.mean.shape != self.sd.shape:
            raise ValueError(f"a mean of {self.mean.shape} and a deviation of {self.sd.shape}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Atlas:
    """One encoder over a data set."""

    source: Source
    heads: Mapping[str, Spread]  # [layer, head], by the names of `model.atlas.gather.of_heads`
    curves: Mapping[
        str, Spread
    ]  # [stage], [place] or [layer], by the names of `model.atlas.gather.of_layers`

    def __post_init__(self) -> None:
        if len({spread.mean.shape for spread in self.heads.values()}) > 1 or any(
            spread.mean.ndim != 2 for spread in self.heads.values()
        ):
            raise ValueError("measures of heads are not all of one number of layers and heads")
        if any(spread.mean.ndim != 1 for spread in self.curves.values()):
            raise ValueError("a curve is not a list of numbers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """Two encoders over a data set, heads numbered layer by layer. Raises ValueError where the shapes do not fit."""

    source: Source
    shapes: tuple[tuple[int, int], tuple[int, int]]  # layers and heads of the first, and of the second
    distances: Spread  # [one, other] in nats: `model.measures.heads.head_distance`
    alike: Int[
        np.ndarray, " one"
    ]  # [one]: examples on which, matched alone, a head has the partner of `pairing`
    halves: (
        int  # how many pairs of heads are the same whether every other example is matched over, or the rest
    )
    n_states: int  # of which CKA was taken
    # [stage]: of equal stages, from 0 to 1, NaN where all states are one; and with the examples of one side shuffled
    cka: Float[np.ndarray, "..."]
    cka_by_chance: Float[np.ndarray, "..."]

    def __post_init__(self) -> None:
        ones, others = (layers * heads for layers, heads in self.shapes)
        if self.distances.mean.shape != (ones, others) or self.alike.shape != (ones,):
            found = f"{self.distances.mean.shape} distances and {self.alike.shape} counts"
            raise ValueError(f"{found} of {ones} and {others} heads")
        if not np.isfinite([self.distances.mean, self.distances.sd]).all():
            raise ValueError("a distance is missing")
        if self.cka.shape != self.cka_by_chance.shape or self.cka.ndim != 1:
            raise ValueError(f"CKA of {self.cka.shape} stages, by chance of {self.cka_by_chance.shape}")

    @property
    def pairing(self) -> Pairing:
        """Heads matched by their mean distance."""
        return by_distance(*self.shapes, self.distances.mean)

    @property
    def persisting(self) -> float:
        """Of the pairs matched on one example, the mean share that are pairs over the data set too."""
        paired = self.pairing.partners >= 0
        return float(self.alike[paired].mean() / self.source.n) if paired.any() else 0.0

    @property
    def by_layer(self) -> Float[np.ndarray, " layer"]:
        """Mean distance of the pairs over their heads, by layer of the first; NaN where no head has a partner."""
        distances = self.pairing.distances
        paired = ~np.isnan(distances)
        with np.errstate(invalid="ignore"):
            return np.where(paired, distances, 0).sum(axis=1) / paired.sum(axis=1)

    def turned(self) -> "Against":
        """The same with the second encoder as the first."""
        partners = self.pairing.partners
        alike = np.zeros(self.distances.mean.shape[1], int)
        alike[partners[partners >= 0]] = self.alike[partners >= 0]
        return replace(
            self,
            source=replace(self.source, weights=self.source.weights[::-1]),
            shapes=self.shapes[::-1],
            distances=Spread(mean=self.distances.mean.T, sd=self.distances.sd.T),
            alike=alike,
        )


_ROW = list_of(MAYBE)
_GRID = list_of(_ROW)
_HASHES = list_of(WORDS) | {"minItems": 1, "maxItems": 2}
_SOURCE = {"command": WORDS, "data": WORDS, "sha256": WORDS, "n": COUNT | {"minimum": 2}, "weights": _HASHES}
_SOURCE_OF = object_of(_SOURCE, **_SOURCE)
_MANY = {"type": "object", "additionalProperties": object_of(("mean", "sd"), mean=_GRID, sd=_GRID)}
_CURVES = {"type": "object", "additionalProperties": object_of(("mean", "sd"), mean=_ROW, sd=_ROW)}
_OF_ATLAS = {"source": _SOURCE_OF, "heads": _MANY, "curves": _CURVES}
_SHAPE = list_of(COUNT | {"minimum": 1, "maximum": 2**16}) | {"minItems": 2, "maxItems": 2}
_OF_AGAINST = {
    "source": _SOURCE_OF,
    "shapes": list_of(_SHAPE) | {"minItems": 2, "maxItems": 2},
    "distances": object_of(("mean", "sd"), mean=_GRID, sd=_GRID),
    "alike": list_of(COUNT),
    "halves": COUNT,
    "n_states": COUNT,
    "cka": _ROW,
    "cka_by_chance": _ROW,
}
_ATLAS_SCHEMA = Draft202012Validator(object_of(_OF_ATLAS, **_OF_ATLAS))
_AGAINST_SCHEMA = Draft202012Validator(object_of(_OF_AGAINST, **_OF_AGAINST))


def against_file(other: str) -> str:
    """What the comparison with the checkpoint `other` is called."""
    return f"against-{other}.json"


def read_atlas(path: Path) -> Atlas | None:
    """None where there is no file. Raises ValueError, in one sentence, where it is damaged."""

    def made(found: dict) -> Atlas:
        kinds = ({name: _spread(each) for name, each in found[kind].items()} for kind in ("heads", "curves"))
        heads, curves = kinds
        return Atlas(source=_source(found["source"], 1), heads=heads, curves=curves)

    return json_schema.read(path, _ATLAS_SCHEMA, made)


def read_against(path: Path) -> Against | None:
    """None where there is no file. Raises ValueError, in one sentence, where it is damaged."""

    def made(found: dict) -> Against:
        first, second = (tuple(map(int, shape)) for shape in found["shapes"])
        return Against(
            source=_source(found["source"], 2),
            shapes=(first, second),
            distances=_spread(found["distances"]),
            alike=np.array(found["alike"], int),
            cka=_array(found["cka"]),
            cka_by_chance=_array(found["cka_by_chance"]),
            **{name: int(found[name]) for name in ("halves", "n_states")},
        )

    return json_schema.read(path, _AGAINST_SCHEMA, made)


def write(path: Path, made: Atlas | Against) -> None:
    parts = (f"{json.dumps(name)}: {_written(value)}" for name, value in asdict(made).items())
    json_schema.replace(path, "{" + ",\n ".join(parts) + "}\n")


def _source(found: dict, n_encoders: int) -> Source:
    if len(found["weights"]) != n_encoders:
        raise ValueError(f"weights of {len(found['weights'])} encoders, not of {n_encoders}")
    words = {name: found[name] for name in ("command", "data", "sha256")}
    return Source(n=int(found["n"]), weights=tuple(found["weights"]), **words)


def _spread(found: dict) -> Spread:
    return Spread(mean=_array(found["mean"]), sd=_array(found["sd"]))


def _array(values: list) -> np.ndarray:
    """JSON has no NaN: null stands for it."""
    return np.array(values, float)


def _written(value: object) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.floating | float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value
