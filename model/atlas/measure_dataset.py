"""One encoder over a data set: which passes are made, and the tables that come of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..checkpoint import weights_hash
from ..loaded import Loaded
from ..measures.head_statistics import STATISTICS
from ..version import VERSION
from . import batch_statistics, strongest_attention
from .data_source import DataSource, Spread
from .dataset_examples import Examples, examples_to_show
from .dataset_measure import TOKENS, Measure, Statistics, moments_with_prefix
from .head_effects import Ablation, Faithfulness, Importance, faithfulness_rows
from .partial_result import PartialResult
from .pruning_over_data import LabelledInputs, pruning_rows, split_for_pruning
from .results import (
    CHOOSING,
    EXAMPLES,
    FAITHFULNESS,
    HEADS,
    JUDGING,
    LAYERS,
    PRUNING,
    Content,
    HeadResults,
    LayerResults,
    ResultTable,
    write,
)
from .run import Engine, run_locally, run_measure
from .running_moments import Arrays, Moments, from_arrays
from .strongest_attention import StrongestPairs

# what can be chosen besides the statistics
EXTRA = ("importance", "ablation", "pruning", "faithfulness", "examples")
SAMPLE = 256  # examples of what takes many forwards for each


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """What is measured besides the statistics, and on how many examples."""

    extra: tuple[str, ...] = ()
    sample: int = SAMPLE
    show_data: bool = False  # whether the strongest examples are the data's, not those of the project


def measure_dataset(
    loaded: Loaded,
    examples: Examples,
    out: Path,
    command: str,
    wanted: MeasureOptions | None = None,
    engine: Engine = run_locally,
) -> list[Path]:
    """The files that were written into `out`. What was measured when it was ended is not measured again.

    Raises ValueError, in one sentence, where an example cannot be read or does not fit.
    """
    wanted = wanted or MeasureOptions()
    sample = examples.limited(wanted.sample)
    # what is refused is refused before the hours, not after them
    to_prune = _to_prune(loaded, examples, wanted.sample) if "pruning" in wanted.extra else None
    passes = _Passes(loaded, out, command, engine)
    heads, layers = _statistics(passes.source(examples), passes.measured(Statistics(), examples))
    files: dict[str, Content] = {LAYERS: layers}
    more: Arrays = {}
    if "importance" in wanted.extra:
        more |= passes.measured(Importance(), sample)
    if "ablation" in wanted.extra:
        more |= passes.measured(Ablation.by(heads.z), sample)
    if to_prune is not None:
        counts = {name: len(part.labels) for name, part in zip((CHOOSING, JUDGING), to_prune, strict=True)}
        progress = passes.progress("pruning", examples, means=heads.z.tolist(), **counts)
        rows = pruning_rows(loaded, *to_prune, heads.z, progress)
        files[PRUNING] = ResultTable(source=replace(passes.source(examples), samples=counts), rows=rows)
    if "faithfulness" in wanted.extra:
        rows = faithfulness_rows(passes.measured(Faithfulness(), sample))
        files[FAITHFULNESS] = ResultTable(source=passes.source(sample), rows=rows)
    if "examples" in wanted.extra:
        shown = examples if wanted.show_data else examples_to_show(loaded)
        rows = strongest_attention.strongest_rows(loaded, shown, passes.measured(StrongestPairs(), shown))
        files[EXAMPLES] = ResultTable(source=passes.source(shown), rows=rows)
    files = {HEADS: _with_more(heads, from_arrays(more), len(sample)), **files}
    # Every pass first, then every file: what is half done is never read.
    for name, content in files.items():
        write(out / name, content)
    passes.forget()
    return [out / name for name in files]


class _Passes:
    """Passes over data, each of which goes on where it was ended, until all are written."""

    def __init__(self, loaded: Loaded, out: Path, command: str, engine: Engine) -> None:
        self.loaded, self.out, self.command, self.engine = loaded, out, command, engine
        self.weights = weights_hash(loaded.folder or loaded.name)
        self.made: list[PartialResult] = []

    def measured(self, measure: Measure, examples: Examples) -> Arrays:
        progress = self.progress(measure.name, examples, measure=repr(measure))
        return run_measure(measure, self.loaded, examples, progress, self.engine)

    def progress(self, name: str, examples: Examples, **depends_on: object) -> PartialResult:
        depends_on |= {"version": VERSION, "weights": self.weights}
        depends_on |= {"data": examples.sha256, "limit": examples.limit}
        self.made.append(PartialResult(self.out / f".atlas-{name}.part", **depends_on))
        return self.made[-1]

    def source(self, examples: Examples) -> DataSource:
        return DataSource(
            command=self.command,
            data=examples.name,
            sha256=examples.sha256,
            n=len(examples),
            weights=(self.weights,),
        )

    def forget(self) -> None:
        for progress in self.made:
            progress.remove()


def _statistics(source: DataSource, found: Arrays) -> tuple[HeadResults, LayerResults]:
    source = replace(source, unknown=_unknown(found))
    by_name = moments_with_prefix(found, batch_statistics.HEADS)
    spreads, samples = _spreads({name: by_name[name] for name in STATISTICS if name in by_name}, source.n)
    z = moments_with_prefix(found, batch_statistics.Z)[""].mean.astype(np.float32)
    curves, _ = _spreads(moments_with_prefix(found, batch_statistics.CURVES), source.n)
    heads = HeadResults(source=replace(source, samples=samples), spreads=spreads, z=z)
    return heads, LayerResults(source=source, curves=curves)


def _unknown(found: Arrays) -> float | None:
    """The share of unknown tokens in all texts together; None for pictures."""
    if (counts := from_arrays(found).get(TOKENS)) is None:
        return None
    n_read, n_unknown = counts.mean.tolist()
    return n_unknown / n_read if n_read else 0.0


def _with_more(heads: HeadResults, more: Mapping[str, Moments], n: int) -> HeadResults:
    samples = {**heads.source.samples, **dict.fromkeys(more, n)}
    return HeadResults(
        source=replace(heads.source, samples=samples),
        spreads={**heads.spreads, **{name: each.spread_or_nan for name, each in more.items()}},
        z=heads.z,
    )


def _to_prune(loaded: Loaded, examples: Examples, sample: int) -> tuple[LabelledInputs, LabelledInputs]:
    if not loaded.config.chooses:
        raise ValueError(
            f"{loaded.name} does not choose one of several classes: nothing is right or wrong to prune by"
        )
    return split_for_pruning(loaded, examples, sample)


def _spreads(many: Mapping[str, Moments], n: int) -> tuple[dict[str, Spread], dict[str, int]]:
    """Of what at least two examples have, and how many have it where not all do: a separator may stand in some texts alone."""
    known = {name: each for name, each in many.items() if each.n.min() >= 2}
    samples = {name: int(each.n.min()) for name, each in known.items() if each.n.min() < n}
    return {name: each.spread for name, each in known.items()}, samples
