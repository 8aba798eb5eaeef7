"""What is stored beside a checkpoint about a data set, written and read.

| file | what | a row |
|---|---|---|
| `heads.parquet` | mean and standard deviation of what each head does, and of its effect | a layer and head |
| `layers.parquet` | the same of curves over layers, stages or sublayers | a curve and place |
| `examples.parquet` | where each head looks most, in context | a layer, head and rank |
| `pruning.parquet` | what is left of the accuracy as heads go, the least important first | an order and step |
| `faithfulness.parquet` | how well each lens agrees with knocking tokens out | a lens, layer and head |
| `against-OTHER.json` | two encoders side by side | |

Each holds where it comes from (`Source`), the hash of the weights among it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np
import pandas as pd
import pyarrow as pa
from jaxtyping import Float, Int
from msgspec import Meta

from ..files.errors import one_sentence
from ..files.json_file import folder_and_name, read_as, replace_text
from ..measures.head_matching import Pairing, by_distance
from ..schema import Count, Number
from .data_source import DataSource, Spread
from .parquet import COUNTED, NUMBER, NUMBERS, WORD, ColumnValues, read_table, write_table

HEADS, LAYERS, EXAMPLES = "heads.parquet", "layers.parquet", "examples.parquet"
PRUNING, FAITHFULNESS = "pruning.parquet", "faithfulness.parquet"
CHOOSING, JUDGING = (
    "choosing",
    "judging",
)  # in the samples of pruning: how many examples choose a head, and judge
MEAN, SD, MEANS_OF_Z = "_mean", "_sd", "z"
DIGITS = 5  # significant ones, in JSON
MOST_HEADS = 2**14


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadResults:
    """What the heads of one encoder do over a data set."""

    source: DataSource
    # [layer, head], by the names of `model.measures.head_statistics`; with `importance`, `zero` and `mean` where those were
    # measured, each on as many examples as `source.samples` says
    spreads: Mapping[str, Spread]
    z: Float[
        np.ndarray, "layer head d_v"
    ]  # mean of what a head hands on, by which it is replaced when it is ablated


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResults:
    """Curves of one encoder over a data set: `norm`, `uniformity`, `answer` [stage], `share` [place], `entropy` [layer]."""

    source: DataSource
    curves: Mapping[str, Spread]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTable:
    """Rows that are shown as they are."""

    source: DataSource
    rows: pd.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderComparison:
    """Two encoders over a data set, heads numbered layer by layer. Raises ValueError where the shapes do not fit."""

    source: DataSource
    shapes: tuple[tuple[int, int], tuple[int, int]]  # layers and heads of the first, and of the second
    distances: Spread  # [one, other] in nats: `model.measures.head_measures.head_distance`
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

    def turned(self) -> "EncoderComparison":
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


Row = list[Number | None]  # JSON has no NaN: null stands for it
HeadCount = Annotated[int, Meta(ge=1, le=2**16)]
LayersAndHeads = Annotated[list[HeadCount], Meta(min_length=2, max_length=2)]


class StoredSpread(TypedDict):
    """A `Spread` of [one, other] as JSON."""

    mean: list[Row]
    sd: list[Row]


class StoredComparison(TypedDict):
    """An `Against` as JSON."""

    source: DataSource
    shapes: Annotated[list[LayersAndHeads], Meta(min_length=2, max_length=2)]
    distances: StoredSpread
    alike: list[Count]
    halves: Count
    n_states: Count
    cka: Row
    cka_by_chance: Row


_AT = {"layer": COUNTED, "head": COUNTED}
_OF_HEADS = _AT | {MEANS_OF_Z: NUMBERS}
_OF_LAYERS = {"curve": WORD, "place": COUNTED, "mean": NUMBER, "sd": NUMBER}
EXAMPLE_COLUMNS = _AT | {
    **dict.fromkeys(("rank", "number", "query", "key"), COUNTED),
    "weight": NUMBER,
    **dict.fromkeys(("query_token", "key_token", "before", "between", "after"), WORD),
}
PRUNING_COLUMNS = {"how": WORD, "step": COUNTED, **_AT, "accuracy": NUMBER, "loss": NUMBER}
FAITHFULNESS_COLUMNS = {
    "lens": WORD,
    **_AT,
    **dict.fromkeys(("spearman_mean", "spearman_sd", "share"), NUMBER),
    "n": COUNTED,
}
# Since maps are held against the perfect one: tables without these columns have shares by another rule.
_TOLD = dict.fromkeys(("told", "too_few", "unmoved", "no_sooner"), COUNTED)

COLUMNS_BY_FILE = {EXAMPLES: EXAMPLE_COLUMNS, PRUNING: PRUNING_COLUMNS, FAITHFULNESS: FAITHFULNESS_COLUMNS}
# Since accuracy is judged by all that do not choose: older tables were judged by as many as choose.
_TURNED = dict.fromkeys(("turned_wrong", "turned_right"), COUNTED)
OPTIONAL_COLUMNS = {FAITHFULNESS: _TOLD, PRUNING: _TURNED}  # columns that older tables lack
Content = HeadResults | LayerResults | ResultTable


def write_heads(path: Path, heads: HeadResults) -> None:
    """A row a head, layer by layer."""
    n_layers, n_heads, _ = heads.z.shape
    layer, head = np.indices((n_layers, n_heads)).reshape(2, -1)
    columns: dict[str, tuple[pa.DataType, ColumnValues]] = {
        "layer": (COUNTED, layer),
        "head": (COUNTED, head),
    }
    for name, spread in heads.spreads.items():
        columns[name + MEAN] = NUMBER, _or_none(spread.mean.ravel())
        columns[name + SD] = NUMBER, _or_none(spread.sd.ravel())
    columns[MEANS_OF_Z] = NUMBERS, heads.z.reshape(n_layers * n_heads, -1).astype(np.float32)
    write_table(path, heads.source, columns)


def read_heads(path: Path) -> HeadResults | None:
    """None where there is no file. Raises ValueError, in one sentence, where it is damaged."""
    if (found := read_table(path, _OF_HEADS)) is None:
        return None
    source, columns = found
    with one_sentence(f"{folder_and_name(path)} cannot be read"):
        shape = _grid(columns)
        z = columns.pop(MEANS_OF_Z)
        if len({len(each) for each in z}) != 1:
            raise ValueError(f"its column {MEANS_OF_Z} holds lists of several lengths")
        names = [name.removesuffix(MEAN) for name in columns if name.endswith(MEAN)]
        if missing := [name + SD for name in names if name + SD not in columns]:
            raise ValueError(f"it lacks the column {missing[0]}")
        if extra := sorted(
            set(columns) - {"layer", "head", *(name + end for name in names for end in (MEAN, SD))}
        ):
            raise ValueError(f"it holds a column {extra[0]}"[:100])
        spreads = {
            name: Spread(mean=_floats(columns[name + MEAN], shape), sd=_floats(columns[name + SD], shape))
            for name in names
        }
        return HeadResults(source=source, spreads=spreads, z=np.array(z, np.float32).reshape(*shape, -1))


def write_layers(path: Path, layers: LayerResults) -> None:
    """A row a place of a curve."""
    columns: dict[str, list] = {name: [] for name in _OF_LAYERS}
    for name, spread in layers.curves.items():
        columns["curve"] += [name] * len(spread.mean)
        columns["place"] += range(len(spread.mean))
        columns["mean"] += _or_none(spread.mean)
        columns["sd"] += _or_none(spread.sd)
    write_table(path, layers.source, {name: (_OF_LAYERS[name], values) for name, values in columns.items()})


def read_layers(path: Path) -> LayerResults | None:
    """None where there is no file. Raises ValueError, in one sentence, where it is damaged."""
    if (found := read_table(path, _OF_LAYERS)) is None:
        return None
    source, columns = found
    with one_sentence(f"{folder_and_name(path)} cannot be read"):
        by_curve: dict[str, list[int]] = {}
        for row, (curve, place) in enumerate(zip(columns["curve"], columns["place"], strict=True)):
            rows = by_curve.setdefault(curve, [])
            if place != len(rows):
                raise ValueError(f"the places of its curve {curve[:50]} are not in order")
            rows.append(row)
        mean, sd = (np.array(columns[name], float) for name in ("mean", "sd"))
        curves = {name: Spread(mean=mean[rows], sd=sd[rows]) for name, rows in by_curve.items()}
        return LayerResults(source=source, curves=curves)


def write_rows(path: Path, table: ResultTable) -> None:
    """Rows with the columns that a file of this name has."""
    columns = {}
    for name, kind in (COLUMNS_BY_FILE[path.name] | OPTIONAL_COLUMNS.get(path.name, {})).items():
        values = table.rows[name].tolist()
        columns[name] = kind, values if kind == WORD else _or_none(values)
    write_table(path, table.source, columns)


def write(path: Path, content: Content) -> None:
    """Under one of the names above."""
    if isinstance(content, HeadResults):
        write_heads(path, content)
    elif isinstance(content, LayerResults):
        write_layers(path, content)
    else:
        write_rows(path, content)


def read_rows(path: Path) -> ResultTable | None:
    """A file of one of the names in `ROWS`; columns of `LATER` that it lacks are empty. None where there is none; raises ValueError, in one sentence, where it is damaged."""
    kinds, later_kinds = COLUMNS_BY_FILE[path.name], OPTIONAL_COLUMNS.get(path.name, {})
    if (found := read_table(path, kinds, later_kinds)) is None:
        return None
    source, columns = found
    missing = [None] * len(next(iter(columns.values())))
    known = {name: columns[name] for name in kinds}
    later = {name: columns.get(name, missing) for name in later_kinds}
    return ResultTable(source=source, rows=pd.DataFrame(known | later))


def comparison_file(other: str) -> str:
    """What the comparison with the checkpoint `other` is called; of a name such as `hub:owner/name` it is one file, in no folder."""
    return f"against-{other.replace('/', '-')}.json"


def read_comparison(path: Path) -> EncoderComparison | None:
    """None where there is no file. Raises ValueError, in one sentence, where it is damaged."""

    if (stored := read_as(path, StoredComparison)) is None:
        return None
    with one_sentence(f"{folder_and_name(path)} cannot be read"):
        source = stored["source"]
        if len(source.weights) != 2 or source.n < 2:
            raise ValueError(
                f"it is of {len(source.weights)} encoders and {source.n} examples, of which it needs two"
            )
        (layers, heads), (other_layers, other_heads) = stored["shapes"]
        mean, sd = (np.array(stored["distances"][name], float) for name in ("mean", "sd"))
        return EncoderComparison(
            source=source,
            shapes=((layers, heads), (other_layers, other_heads)),
            distances=Spread(mean=mean, sd=sd),
            alike=np.array(stored["alike"], int),
            halves=stored["halves"],
            n_states=stored["n_states"],
            cka=np.array(stored["cka"], float),
            cka_by_chance=np.array(stored["cka_by_chance"], float),
        )


def write_comparison(path: Path, made: EncoderComparison) -> None:
    values = asdict(made)
    for name in ("samples", "unknown"):  # which are of tables
        del values["source"][name]
    parts = (f"{json.dumps(name)}: {_written(value)}" for name, value in values.items())
    replace_text(path, "{" + ",\n ".join(parts) + "}\n")


def _grid(columns: Mapping[str, list]) -> tuple[int, int]:
    """How many layers, and heads in each; the rows must be all of them in order."""
    layers, heads = columns["layer"], columns["head"]
    if not layers or None in layers or None in heads or len(layers) > MOST_HEADS:
        raise ValueError("its rows are no layers and heads")
    shape = max(layers) + 1, max(heads) + 1
    if shape[0] * shape[1] != len(layers) or list(np.ndindex(shape)) != list(zip(layers, heads, strict=True)):
        raise ValueError("its rows are not all layers and heads in order")
    return shape


def _floats(values: list, shape: tuple[int, int]) -> Float[np.ndarray, "layer head"]:
    return np.array(values, float).reshape(shape)


def _or_none(values: Iterable[float | int | None]) -> list:
    """What is no number is missing in a table."""
    return [None if each is None or not np.isfinite(each) else each for each in values]


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
