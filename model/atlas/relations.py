"""Which heads follow which relation between words (Clark et al. 2019, section 4.2), over a treebank or any data with links."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Int

from ..inputs.text import Encoded
from ..loaded import Loaded
from ..measures.significance import holm, paired_test, wilson_interval
from .dataset_examples import Shard
from .dataset_measure import Measure, ProgressCallback, batches
from .linked_inputs import DIRECTIONS, Link, LinkedPicture, LinkedText, linked_examples, with_spaces_if_needed
from .parquet import DataSource
from .running_moments import Arrays
from .strongest_words import REASONS, WordPositions, positions_of_words, strongest_by_layer

FEWEST = 20  # links of a relation that is tested
LEVEL = 0.05  # of the tests, after the correction
MOST_RELATIONS = 250  # so that the table of a large encoder can still be read
LINKS = "links"  # among the samples of a source: links that were counted

Pair = tuple[str, int]  # a relation, and how many words behind the dependent its head is


@dataclass(frozen=True, kw_only=True)
class Relations(Measure):
    """How often the other word to which a word gives most attention is the word to which it is linked ("hit"), for each head.

    The results are these arrays. `pairs`: pairs of a relation and an offset (position of the link's head minus that of its
    dependent, in words), as JSON in bytes; `n` [pair]: number of links; `hits` [direction, layer, head, pair]: number of hits, in
    the order of `DIRECTIONS`; `left_out` [reason]: links that are not counted, by `REASONS`, since a word has no positions of
    its own; `tokens` [2]: number of tokens read, and of unknown ones.
    """

    name: ClassVar[str] = "relations"
    shard: int = 256

    def measure_shard(self, loaded: Loaded, shard: Shard, report: ProgressCallback) -> Arrays:
        shard = replace(
            shard,
            inputs=tuple(
                with_spaces_if_needed(loaded, linked) if isinstance(linked, LinkedText) else linked
                for linked in shard.inputs
            ),
        )
        counts = _LinkCounts(loaded)
        for indices, inputs, encoded in batches(loaded, shard):
            numbers = [shard.numbers[index] for index in indices]
            positions = [
                positions_of_words(loaded, shard.inputs[index], example)
                for index, example in zip(indices, encoded, strict=True)
            ]
            strongest = strongest_by_layer(loaded, inputs, positions, numbers)
            for row, index in enumerate(indices):
                linked = shard.inputs[index]
                assert isinstance(linked, LinkedText | LinkedPicture)
                counts.add(linked.links, positions[row], strongest[:, row], numbers[row])
                if isinstance(example := encoded[row], Encoded):
                    counts.tokens += (example.n_read, example.n_unknown)
            report(len(indices))
        return counts.arrays()

    def merged(self, first: Arrays, second: Arrays) -> Arrays:
        pairs = sorted({*_read_pairs(first), *_read_pairs(second)})
        total = {name: first[name] + second[name] for name in ("left_out", "tokens")}
        for name in ("n", "hits"):
            total[name] = _counts_for_pairs(first, name, pairs) + _counts_for_pairs(second, name, pairs)
        return total | {"pairs": _pairs_to_bytes(pairs)}


class _LinkCounts:
    """Counts links and hits (`Relations`), to which `add` adds those of one example."""

    def __init__(self, loaded: Loaded) -> None:
        self.shape = len(DIRECTIONS), loaded.config.n_layers, loaded.config.n_heads
        self.n: dict[Pair, int] = {}
        self.hits: dict[Pair, np.ndarray] = {}
        self.left_out = np.zeros(len(REASONS), np.int64)
        self.tokens = np.zeros(2, np.int64)

    def add(
        self,
        links: Sequence[Link],
        positions: WordPositions,
        strongest: Int[np.ndarray, "layer head group"],
        number: int,
    ) -> None:
        """Adds the links of example `number`; `strongest` is the other group to which each group attends most."""
        for dependent, head, relation in links:
            if max(dependent, head) >= len(positions.words):
                raise ValueError(
                    f"example {number}: there is no patch {max(dependent, head) + 1}, only {len(positions.words)}"
                )
            reason = positions.reasons[dependent] or positions.reasons[head]
            if reason is not None:
                self.left_out[REASONS.index(reason)] += 1
                continue
            pair = relation, head - dependent
            first, second = positions.words[dependent], positions.words[head]
            hits = self.hits.setdefault(pair, np.zeros(self.shape, np.int64))
            hits[0] += strongest[:, :, first] == second
            hits[1] += strongest[:, :, second] == first
            self.n[pair] = self.n.get(pair, 0) + 1

    def arrays(self) -> Arrays:
        """The counts as the arrays that `Relations` describes."""
        pairs = sorted(self.n)
        hits = [self.hits[pair] for pair in pairs]
        return {
            "pairs": _pairs_to_bytes(pairs),
            "n": np.array([self.n[pair] for pair in pairs], np.int64),
            "hits": np.stack(hits, axis=-1) if hits else np.zeros((*self.shape, 0), np.int64),
            "left_out": self.left_out,
            "tokens": self.tokens,
        }


def relation_rows(arrays: Arrays) -> pd.DataFrame:
    """Table with the columns of `relations.parquet`: a row for each layer, head, relation and direction.

    `arrays` is the result of `Relations`. `share` is the share of the `n` links in which the query word attends most to the key
    word; `low` and `high` are the ends of its 95 % interval (Wilson). `baseline` is the share of the links that have the most
    frequent `offset`, in words from query to key. `p` is the p-value of the hypothesis that the head finds no more links than
    that offset (McNemar's exact test, one-sided, Holm's correction for all tests); NaN for a relation with fewer than `FEWEST`
    links. `beyond` says whether `p` is below `LEVEL`.
    """
    pairs, hits = _read_pairs(arrays), arrays["hits"]
    relations = sorted({relation for relation, _ in pairs})
    frames = []
    for relation in relations:
        columns = [index for index, pair in enumerate(pairs) if pair[0] == relation]
        n_by_offset = {pairs[index][1]: int(arrays["n"][index]) for index in columns}
        # of equally frequent offsets the nearest, then the one to the right
        best_offset = min(n_by_offset, key=lambda offset: (-n_by_offset[offset], abs(offset), -offset))
        n, n_at_offset = sum(n_by_offset.values()), n_by_offset[best_offset]
        n_hits = hits[..., columns].sum(axis=-1)
        hit_by_both = hits[..., pairs.index((relation, best_offset))]
        p_values = paired_test(n_hits - hit_by_both, n_at_offset - hit_by_both)
        low, high = wilson_interval(n_hits, np.full_like(n_hits, n))
        direction, layer, head = np.indices(n_hits.shape).reshape(3, -1)
        frames.append(
            pd.DataFrame(
                {
                    "layer": layer,
                    "head": head,
                    "relation": relation,
                    "direction": np.array(DIRECTIONS)[direction],
                    "share": (n_hits / n).ravel(),
                    "baseline": n_at_offset / n,
                    "offset": best_offset * np.array([1, -1])[direction],
                    "n": n,
                    "low": low.ravel(),
                    "high": high.ravel(),
                    "p": p_values.ravel() if n >= FEWEST else np.nan,
                }
            )
        )
    rows = pd.concat(frames, ignore_index=True)
    is_tested = rows["p"].notna().to_numpy()
    rows.loc[is_tested, "p"] = holm(rows.loc[is_tested, "p"].to_numpy())
    rows["beyond"] = is_tested & (rows["p"] < LEVEL).to_numpy()
    direction_order = rows["direction"].map(DIRECTIONS.index)
    order = np.lexsort((direction_order, rows["relation"], rows["head"], rows["layer"]))
    return rows.iloc[order].reset_index(drop=True)


def with_link_counts(source: DataSource, arrays: Arrays) -> DataSource:
    """Copy of `source` with the number of counted links, of links left out for each reason, and the share of unknown tokens.

    `arrays` is the result of `Relations`. Raises ValueError if no link could be counted.
    """
    n_read, n_unknown = arrays["tokens"].tolist()
    samples = link_counts(arrays, source.data)
    return replace(source, samples=samples, unknown=n_unknown / n_read if n_read else None)


def link_counts(arrays: Arrays, data: str) -> dict[str, int]:
    """Number of counted links, under the key `LINKS`, and of links left out, by reason; `data` is the title of the data.

    Raises ValueError if no link was counted.
    """
    samples = {LINKS: int(arrays["n"].sum())}
    samples |= dict(zip(REASONS, arrays["left_out"].tolist(), strict=True))
    if not samples[LINKS]:
        reason = left_out_clause(samples) or "what was read of it has none"
        raise ValueError(f"no link of {data} could be counted: {reason}")
    return samples


def left_out_clause(samples: Mapping[str, int]) -> str:
    """Clause on the links that were left out, from the result of `link_counts`; "" if there are none.

    Such as "3 of 120 links are left out: 3 with a word that shares a token with another".
    """
    words = {
        "joined": "with a word that shares a token with another",
        "cut": "with a word beyond the length that the encoder reads",
        "dropped": "with a word for which the tokenizer has no token",
    }
    counts = {reason: samples.get(reason, 0) for reason in REASONS}
    if not (n := sum(counts.values())):
        return ""
    clauses = [f"{count:,} {words[reason]}" for reason, count in counts.items() if count]
    verb = "is" if n == 1 else "are"
    return f"{n:,} of {n + samples.get(LINKS, 0):,} links {verb} left out: {', '.join(clauses)}"


def _pairs_to_bytes(pairs: Sequence[Pair]) -> np.ndarray:
    """Pairs of relation and offset as JSON, in a uint8 array [byte]. Raises ValueError if there are too many relations."""
    if len({relation for relation, _ in pairs}) > MOST_RELATIONS:
        raise ValueError(
            f"the links have more than {MOST_RELATIONS} relations: are these names of relations?"
        )
    return np.frombuffer(json.dumps(pairs).encode(), np.uint8)


def _read_pairs(arrays: Arrays) -> list[Pair]:
    return [(relation, offset) for relation, offset in json.loads(arrays["pairs"].tobytes())]


def _counts_for_pairs(arrays: Arrays, name: str, pairs: Sequence[Pair]) -> np.ndarray:
    """The counts in `arrays[name]`, rearranged along the last axis to the order of `pairs`; 0 for pairs that `arrays` lack."""
    values = arrays[name]
    index_of = {pair: index for index, pair in enumerate(pairs)}
    total = np.zeros((*values.shape[:-1], len(pairs)), values.dtype)
    total[..., [index_of[pair] for pair in _read_pairs(arrays)]] = values
    return total


def head_relations(loaded: Loaded, file: str | Path, limit: int | None = None) -> pd.DataFrame:
    """How well each head follows the links in a CoNLL-U or CSV `file`: a row for each layer, head, relation and direction.

    At most `limit` of its sentences are read. Columns as in `relation_rows`: share of the links in which the query word attends
    most to the key word, its 95 % interval, share at the most frequent offset (baseline), corrected p-value. Raises
    FileNotFoundError, and ValueError, with a one-sentence message, if the file cannot be read, does not suit the encoder, or
    holds no link that can be counted.

    >>> from loupe import head_relations, load
    >>> rows = head_relations(load("checkpoints/imdb-pre-ln"), "examples/relations/coreference.csv")
    >>> rows[["layer", "head", "direction", "n"]].head(1).values.tolist()
    [[0, 0, 'to head', 24]]
    """
    measure, examples = Relations(), linked_examples(loaded, Path(file), limit)
    shards = (
        measure.measure_shard(loaded, shard, lambda _: None) for shard in examples.shards(measure.shard)
    )
    arrays = reduce(measure.merged, shards)
    link_counts(arrays, Path(file).name)  # raises if there is none
    return relation_rows(arrays)


def valid_relation_rows(rows: pd.DataFrame, n_layers: int, n_heads: int) -> pd.DataFrame:
    """The valid rows of a stored `relations.parquet`: no number is missing, and the encoder has this layer and head."""
    rows = rows.dropna(subset=["layer", "head", "share", "low", "high", "baseline", "offset", "n"])
    is_known = (
        (rows["layer"] < n_layers)
        & (rows["head"] < n_heads)
        & rows["direction"].isin(DIRECTIONS)
        & (rows["n"] > 0)
    )
    whole_numbers = dict.fromkeys(("layer", "head", "offset", "n"), int)
    return rows[is_known].astype(whole_numbers)
