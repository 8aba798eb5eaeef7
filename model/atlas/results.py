"""Writes and reads the files beside a checkpoint that hold the results of measuring it on a data set.

| file | content | a row |
|---|---|---|
| `heads.parquet` | mean and standard deviation of statistics and effects of each head | a layer and head |
| `layers.parquet` | mean and standard deviation of curves over layers, stages or sublayers | a curve and index |
| `examples.parquet` | the largest attention weights of each head, in context | a layer, head and rank |
| `pruning.parquet` | accuracy as heads are removed, the least important first | a replacement and step |
| `faithfulness.parquet` | agreement of each lens with knocking out tokens | a lens, layer and head |
| `relations.parquet` | how often a word attends most to the word it is linked to | a layer, head, relation and direction |
| `parts.parquet` | what each head and feed-forward adds to the answer | a head or feed-forward |
| `against-OTHER.json` | comparison of two encoders | |

Each file holds its `DataSource`, with the hash of the weights.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from msgspec import Meta

from ..files.content import folder_and_name, read_as, replace_text
from ..files.errors import errors_in_one_sentence
from ..measures.head_matching import Pairing, pair_by_distance
from ..schema import Count, Number
from .parquet import COUNTED, FLAG, NUMBER, NUMBERS, SIGNED, WORD, DataSource, read_table, write_table
from .running_moments import Spread

HEADS, LAYERS, EXAMPLES = "heads.parquet", "layers.parquet", "examples.parquet"
PRUNING, FAITHFULNESS = "pruning.parquet", "faithfulness.parquet"
RELATIONS, PARTS = "relations.parquet", "parts.parquet"
# names in the samples of pruning: examples that choose the next head, and that measure the accuracy
CHOOSING, JUDGING = "choosing", "judging"
MEAN, SD, Z = "_mean", "_sd", "z"  # column names, or their ends
DIGITS = 5  # significant digits in JSON
MOST_HEADS = 2**14


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadResults:
    """Statistics of the heads of one encoder: mean and standard deviation over a data set, and the mean output `z` of each head."""

    source: DataSource
    # [layer, head], by the names of `model.measures.head_statistics`, and `importance`, `zero` and `mean` if they were
    # measured; `source.samples` holds the number of examples where it is smaller
    spreads: Mapping[str, Spread]
    # mean of the examples' means over their positions: can replace a head's output in an ablation
    z: Float[np.ndarray, "layer head d_v"]

    @property
    def rows(self) -> pd.DataFrame:
        """A row for each layer and head, with the columns of `heads.parquet`."""
        n_layers, n_heads, _ = self.z.shape
        layer, head = np.indices((n_layers, n_heads)).reshape(2, -1)
        spreads: dict[str, np.ndarray] = {}
        for name, spread in self.spreads.items():
            spreads |= {name + MEAN: spread.mean.ravel(), name + SD: spread.sd.ravel()}
        z = list(self.z.reshape(n_layers * n_heads, -1).astype(np.float32))
        return pd.DataFrame({"layer": layer, "head": head, **spreads, Z: z})


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResults:
    """Curves of one encoder over a data set, by name, each with mean and standard deviation.

    By stage of the residual stream: `norm`, its length; `uniformity`, 0 if all positions are equal, at most 1; `answer`, the
    probability of the predicted class. By sublayer: `share`, |output| / (|residual| + |output|), 0 to 1. By layer: `entropy` of
    the attention, normalised to 0 to 1.
    """

    source: DataSource
    curves: Mapping[str, Spread]

    @property
    def rows(self) -> pd.DataFrame:
        """A row for each curve and index, with the columns of `layers.parquet`."""
        curves = [
            pd.DataFrame(
                {"curve": name, "place": range(len(spread.mean)), "mean": spread.mean, "sd": spread.sd}
            )
            for name, spread in self.curves.items()
        ]
        return pd.concat(curves, ignore_index=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTable:
    """A table of results, and the data and weights from which it was computed."""

    source: DataSource
    rows: pd.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderComparison:
    """Comparison of two encoders over a data set. Raises ValueError if the shapes of the arrays do not fit each other.

    The axes `one` and `other` are the heads of the first and of the second encoder, layer by layer.
    """

    source: DataSource
    shapes: tuple[tuple[int, int], tuple[int, int]]  # layers and heads of the first and the second encoder
    distances: Spread  # [one, other] in nats: `model.measures.head_measures.head_distance`
    # number of examples on which a head, matched on that example alone, has the partner of `pairing`
    alike: Int[np.ndarray, " one"]
    halves: int  # number of pairs that are equal in the two halves of the examples
    n_states: int  # rows from which CKA was computed
    # CKA of equal stages, 0 to 1, NaN where all states are equal; its expectation if one side's rows are shuffled
    cka: Float[np.ndarray, "..."]
    cka_by_chance: Float[np.ndarray, "..."]

    def __post_init__(self) -> None:
        n_first, n_second = (layers * heads for layers, heads in self.shapes)
        if self.distances.mean.shape != (n_first, n_second) or self.alike.shape != (n_first,):
            shapes = f"{self.distances.mean.shape} distances and {self.alike.shape} counts"
            raise ValueError(f"{shapes} of {n_first} and {n_second} heads")
        if not np.isfinite([self.distances.mean, self.distances.sd]).all():
            raise ValueError("a distance is missing")
        if self.cka.shape != self.cka_by_chance.shape or self.cka.ndim != 1:
            raise ValueError(f"CKA of {self.cka.shape} stages, by chance of {self.cka_by_chance.shape}")

    @property
    def pairing(self) -> Pairing:
        """The heads of the two encoders, matched so that the sum of their mean distances is smallest."""
        return pair_by_distance(*self.shapes, self.distances.mean)

    @property
    def persisting_share(self) -> float:
        """Stability of `pairing`: share of the examples, 0 to 1, on each of which alone two heads would be paired in the same way.

        It is the mean over the pairs.
        """
        is_paired = self.pairing.partners >= 0
        return float(self.alike[is_paired].mean() / self.source.n) if is_paired.any() else 0.0

    @property
    def distance_by_layer(self) -> Float[np.ndarray, " layer"]:
        """Mean distance of the pairs, by layer of the first encoder, in nats; NaN for a layer in which no head has a partner."""
        distances = self.pairing.distances
        is_paired = ~np.isnan(distances)
        with np.errstate(invalid="ignore"):
            return np.where(is_paired, distances, 0).sum(axis=1) / is_paired.sum(axis=1)

    def exchanged(self) -> "EncoderComparison":
        """The same comparison with the encoders exchanged: the second one is the first."""
        partners = self.pairing.partners
        exchanged_counts = np.zeros(self.distances.mean.shape[1], int)
        exchanged_counts[partners[partners >= 0]] = self.alike[partners >= 0]
        return replace(
            self,
            source=replace(self.source, weights=self.source.weights[::-1]),
            shapes=self.shapes[::-1],
            distances=Spread(mean=self.distances.mean.T, sd=self.distances.sd.T),
            alike=exchanged_counts,
        )


Row = list[Number | None]  # JSON has no NaN: null stands for it
HeadCount = Annotated[int, Meta(ge=1, le=2**16)]
LayersAndHeads = Annotated[list[HeadCount], Meta(min_length=2, max_length=2)]


class StoredSpread(TypedDict):
    """JSON form of a `Spread` of values [one, other]."""

    mean: list[Row]
    sd: list[Row]


class StoredComparison(TypedDict):
    """JSON form of an `EncoderComparison`."""

    source: DataSource
    shapes: Annotated[list[LayersAndHeads], Meta(min_length=2, max_length=2)]
    distances: StoredSpread
    alike: list[Count]
    halves: Count
    n_states: Count
    cka: Row
    cka_by_chance: Row


_HEAD = {"layer": COUNTED, "head": COUNTED}
COLUMNS_BY_FILE = {
    HEADS: {**_HEAD, Z: NUMBERS},  # and two of each statistic, whose names end in `MEAN` and `SD`
    LAYERS: {"curve": WORD, "place": COUNTED, "mean": NUMBER, "sd": NUMBER},
    EXAMPLES: {
        **_HEAD,
        **dict.fromkeys(("rank", "number", "query", "key"), COUNTED),
        "weight": NUMBER,
        **dict.fromkeys(("query_token", "key_token", "before", "between", "after"), WORD),
    },
    PRUNING: {
        "how": WORD,
        "step": COUNTED,
        **_HEAD,
        "accuracy": NUMBER,
        "loss": NUMBER,
        **dict.fromkeys(("turned_wrong", "turned_right"), COUNTED),
    },
    FAITHFULNESS: {
        "lens": WORD,
        **_HEAD,
        **dict.fromkeys(("spearman_mean", "spearman_sd", "share"), NUMBER),
        **dict.fromkeys(("n", "told", "too_few", "unmoved", "no_sooner"), COUNTED),
    },
    RELATIONS: {
        **_HEAD,
        **dict.fromkeys(("relation", "direction"), WORD),
        **dict.fromkeys(("share", "baseline"), NUMBER),
        "offset": SIGNED,
        "n": COUNTED,
        **dict.fromkeys(("low", "high", "p"), NUMBER),
        "beyond": FLAG,
    },
    # of `model.decompositions.answer_parts` over the data; a feed-forward has no head
    PARTS: {"kind": WORD, **_HEAD, **dict.fromkeys(("mean", "sd", "mean_abs"), NUMBER), "n": COUNTED},
}
COMPLETE = ("step", "told", "turned_wrong", "turned_right")  # columns without empty cells


def write_results(path: Path, content: HeadResults | LayerResults | ResultTable) -> None:
    """Writes the results to a parquet file, whose name is one of those at the top of this module.

    Raises OSError if it cannot be written.
    """
    write_table(path, content.source, content.rows, COLUMNS_BY_FILE[path.name])


def read_heads(path: Path) -> HeadResults | None:
    """Reads `heads.parquet`; None if there is no file. Raises ValueError, with a one-sentence message, if it is damaged."""
    if (table := read_rows(path)) is None:
        return None
    columns = table.rows
    with errors_in_one_sentence(f"{folder_and_name(path)} cannot be read"):
        shape = _n_layers_and_heads(columns)
        if columns[Z].map(len).nunique() != 1:
            raise ValueError(f"its column {Z} holds lists of several lengths")
        names = [name.removesuffix(MEAN) for name in columns if name.endswith(MEAN)]
        if missing_columns := [name + SD for name in names if name + SD not in columns]:
            raise ValueError(f"it lacks the column {missing_columns[0]}")
        known_columns = {"layer", "head", Z, *(name + end for name in names for end in (MEAN, SD))}
        if unknown_columns := sorted(set(columns) - known_columns):
            raise ValueError(f"it holds a column {unknown_columns[0]}"[:100])
        mean, sd = (
            {name: columns[name + end].to_numpy(float).reshape(shape) for name in names} for end in (MEAN, SD)
        )
        spreads = {name: Spread(mean=mean[name], sd=sd[name]) for name in names}
        z = np.array(columns[Z].tolist(), np.float32).reshape(*shape, -1)
        return HeadResults(source=table.source, spreads=spreads, z=z)


def read_layers(path: Path) -> LayerResults | None:
    """Reads `layers.parquet`; None if there is no file. Raises ValueError, with a one-sentence message, if it is damaged."""
    if (table := read_rows(path)) is None:
        return None
    curves = {}
    with errors_in_one_sentence(f"{folder_and_name(path)} cannot be read"):
        for name, rows in table.rows.groupby("curve", sort=False):
            if rows["place"].tolist() != list(range(len(rows))):
                raise ValueError(f"the places of its curve {name[:50]} are not in order")
            curves[name] = Spread(mean=rows["mean"].to_numpy(float), sd=rows["sd"].to_numpy(float))
    return LayerResults(source=table.source, curves=curves)


def read_rows(path: Path) -> ResultTable | None:
    """Reads a parquet file whose name is a key of `COLUMNS_BY_FILE`; None if there is no file.

    Raises ValueError, with a one-sentence message, if it is damaged.
    """
    required = COLUMNS_BY_FILE[path.name]
    if (table := read_table(path, required)) is None:
        return None
    source, rows = table
    with errors_in_one_sentence(f"{folder_and_name(path)} cannot be read"):
        for name in COMPLETE:
            if name in rows and rows[name].hasnans:
                raise ValueError(f"its column {name} has empty cells")
        if path.name == PRUNING and not (source.samples.get(CHOOSING) and source.samples.get(JUDGING)):
            raise ValueError("it does not say how many examples chose the heads and how many judged them")
    others = [name for name in rows if name not in required] if path.name == HEADS else []
    return ResultTable(source=source, rows=rows[[*required, *others]])


def comparison_file_name(other: str) -> str:
    """Name of the file that compares an encoder with the encoder `other`; slashes, as in `hub:owner/name`, become hyphens."""
    return f"against-{other.replace('/', '-')}.json"


def read_comparison(path: Path) -> EncoderComparison | None:
    """Reads a stored comparison; None if there is no file. Raises ValueError, with a one-sentence message, if it is damaged."""
    if (stored := read_as(path, StoredComparison)) is None:
        return None
    with errors_in_one_sentence(f"{folder_and_name(path)} cannot be read"):
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


def write_comparison(path: Path, comparison: EncoderComparison) -> None:
    """Writes the comparison as JSON, one line for each field."""
    values = asdict(comparison)
    for name in ("samples", "unknown"):  # only tables have these
        del values["source"][name]
    lines = (
        f"{json.dumps(name)}: {json.dumps(_to_json_value(value), ensure_ascii=False, allow_nan=False)}"
        for name, value in values.items()
    )
    replace_text(path, "{" + ",\n ".join(lines) + "}\n")


def _n_layers_and_heads(rows: pd.DataFrame) -> tuple[int, int]:
    """Number of layers, and of heads in each layer. Raises ValueError unless the rows are all heads of all layers, in order."""
    layers, heads = rows["layer"], rows["head"]
    if not 0 < len(rows) <= MOST_HEADS or layers.hasnans or heads.hasnans:
        raise ValueError("its rows are no layers and heads")
    shape = int(layers.max()) + 1, int(heads.max()) + 1
    if shape[0] * shape[1] != len(rows) or list(np.ndindex(shape)) != list(zip(layers, heads, strict=True)):
        raise ValueError("its rows are not all layers and heads in order")
    return shape


def _to_json_value(value: object) -> object:
    """The value in a form that JSON can hold: lists for arrays, None for NaN, and numbers rounded to `DIGITS` digits."""
    if isinstance(value, Mapping):
        return {name: _to_json_value(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_to_json_value(item) for item in value]
    if isinstance(value, np.floating | float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value
