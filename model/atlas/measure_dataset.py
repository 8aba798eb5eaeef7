"""Runs all measures of an encoder over a data set and writes the result files, or compares two encoders over a data set."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from ..capture import capture
from ..checkpoint import weights_hash
from ..inputs import Input, Text
from ..loaded import Loaded
from ..measures.head_matching import distance_matrix, match_heads
from ..measures.head_statistics import STATISTICS
from ..record import ForwardRecord
from ..version import VERSION
from . import dataset_measure, strongest_attention
from .dataset_examples import Examples, Shard, examples_to_show, naming_example
from .dataset_measure import TOKENS, Measure, ProgressCallback, Statistics, moments_with_prefix
from .head_effects import (
    Ablation,
    Faithfulness,
    Importance,
    MeanParts,
    faithfulness_rows,
    mean_parts_rows,
    pruning_rows,
    split_for_pruning,
)
from .parquet import DataSource
from .relations import Relations, relation_rows, with_link_counts
from .results import (
    CHOOSING,
    EXAMPLES,
    FAITHFULNESS,
    HEADS,
    JUDGING,
    LAYERS,
    PARTS,
    PRUNING,
    RELATIONS,
    EncoderComparison,
    HeadResults,
    LayerResults,
    ResultTable,
    write_results,
)
from .run import Engine, PartialResult, run_locally, run_measure
from .running_moments import Arrays, CrossMoments, Moments, Spread, from_arrays
from .strongest_attention import StrongestPairs

# what --with can add to the statistics
EXTRA = ("importance", "ablation", "pruning", "faithfulness", "examples", "parts")
SAMPLE = 256  # examples for measures with many forward passes for each


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """What is measured in addition to the statistics, and on how many examples."""

    extra: tuple[str, ...] = ()
    sample: int = SAMPLE
    show_data: bool = False  # whether the strongest examples are taken from the data, not from the project


def measure_dataset(
    loaded: Loaded,
    examples: Examples,
    out: Path,
    command: str,
    options: MeasureOptions | None = None,
    engine: Engine = run_locally,
) -> list[Path]:
    """Measures the encoder and writes the result files into the folder `out`; returns their paths.

    `command` is the command line that repeats the measurement. Measures that a stopped run has finished are not repeated.
    Raises ValueError, with a one-sentence message, if an example cannot be read or does not suit the encoder.
    """
    options = options or MeasureOptions()
    sample = examples.limited(options.sample)
    # checked before the passes, which may take hours
    to_prune = split_for_pruning(loaded, examples, options.sample) if "pruning" in options.extra else None
    passes = _Passes(loaded, out, command, engine)
    heads, layers = statistics_results(passes.source(examples), passes.measure(Statistics(), examples))
    files: dict[str, HeadResults | LayerResults | ResultTable] = {LAYERS: layers}
    effects: Arrays = {}
    if "importance" in options.extra:
        effects |= passes.measure(Importance(), sample)
    if "ablation" in options.extra:
        effects |= passes.measure(Ablation.from_means(heads.z), sample)
    if to_prune is not None:
        counts = {
            name: len(labelled.labels) for name, labelled in zip((CHOOSING, JUDGING), to_prune, strict=True)
        }
        progress = passes.partial_result("pruning", examples, means=heads.z.tolist(), **counts)
        rows = pruning_rows(loaded, *to_prune, heads.z, progress)
        files[PRUNING] = ResultTable(source=replace(passes.source(examples), samples=counts), rows=rows)
    if "faithfulness" in options.extra:
        rows = faithfulness_rows(passes.measure(Faithfulness(), sample))
        files[FAITHFULNESS] = ResultTable(source=passes.source(sample), rows=rows)
    if "examples" in options.extra:
        quoted_examples = examples if options.show_data else examples_to_show(loaded)
        rows = strongest_attention.strongest_rows(
            loaded, quoted_examples, passes.measure(StrongestPairs(), quoted_examples)
        )
        files[EXAMPLES] = ResultTable(source=passes.source(quoted_examples), rows=rows)
    if "parts" in options.extra:
        rows = mean_parts_rows(passes.measure(MeanParts(), sample), loaded.config)
        files[PARTS] = ResultTable(source=passes.source(sample), rows=rows)
    moments = from_arrays(effects)
    samples = {**heads.source.samples, **dict.fromkeys(moments, len(sample))}
    spreads = {**heads.spreads, **{name: values.spread for name, values in moments.items()}}
    heads = replace(heads, source=replace(heads.source, samples=samples), spreads=spreads)
    files = {HEADS: heads, **files}
    # All passes come before the first file, so that no file is from an unfinished run.
    for name, content in files.items():
        write_results(out / name, content)
    passes.remove_partial_results()
    return [out / name for name in files]


def measure_relations(
    loaded: Loaded, examples: Examples, out: Path, command: str, engine: Engine = run_locally
) -> Path:
    """Measures which links between words each head follows, and writes `relations.parquet` into the folder `out`.

    `examples` come from `linked_inputs.linked_examples`. Returns the path of the file.
    Raises ValueError, with a one-sentence message, if an example cannot be read or no link could be counted.
    """
    passes = _Passes(loaded, out, command, engine)
    arrays = passes.measure(Relations(), examples)
    source = with_link_counts(passes.source(examples), arrays)
    write_results(out / RELATIONS, ResultTable(source=source, rows=relation_rows(arrays)))
    passes.remove_partial_results()
    return out / RELATIONS


class _Passes:
    """Runs measures of one encoder, and keeps their partial results in the folder `out` so that a stopped run can resume."""

    def __init__(self, loaded: Loaded, out: Path, command: str, engine: Engine) -> None:
        self.loaded, self.out, self.command, self.engine = loaded, out, command, engine
        self.weights = weights_hash(loaded.folder or loaded.name)
        self.made: list[PartialResult] = []

    def measure(self, measure: Measure, examples: Examples) -> Arrays:
        """Result of the measure over all examples, arrays by name; resumes from a partial result if there is one."""
        progress = self.partial_result(measure.name, examples, measure=repr(measure))
        return run_measure(measure, self.loaded, examples, progress, self.engine)

    def partial_result(self, name: str, examples: Examples, **depends_on: object) -> PartialResult:
        """The partial result of the measure called `name`; it is used again only if examples, weights and `depends_on` are equal."""
        depends_on |= {"version": VERSION, "weights": self.weights}
        depends_on |= {"data": examples.sha256, "limit": examples.limit}
        self.made.append(PartialResult(self.out / f".atlas-{name}.part", **depends_on))
        return self.made[-1]

    def source(self, examples: Examples) -> DataSource:
        """What is stored with the results: command, examples and weights."""
        return DataSource(
            command=self.command,
            data=examples.name,
            sha256=examples.sha256,
            n=len(examples),
            weights=(self.weights,),
        )

    def remove_partial_results(self) -> None:
        for progress in self.made:
            progress.remove()


def statistics_results(source: DataSource, arrays: Arrays) -> tuple[HeadResults, LayerResults]:
    """Means and standard deviations of heads and layers, from what `Statistics` measured over the data of `source`."""
    moments = from_arrays(arrays)
    if TOKENS in moments:  # of texts: the share of unknown tokens in all of them together
        n_read, n_unknown = moments[TOKENS].mean.tolist()
        source = replace(source, unknown=n_unknown / n_read if n_read else 0.0)
    by_name = moments_with_prefix(arrays, dataset_measure.HEADS)
    spreads, samples = _spread_by_statistic(
        {name: by_name[name] for name in STATISTICS if name in by_name}, source.n
    )
    z = moments_with_prefix(arrays, dataset_measure.Z)[""].mean.astype(np.float32)
    curves, _ = _spread_by_statistic(moments_with_prefix(arrays, dataset_measure.CURVES), source.n)
    heads = HeadResults(source=replace(source, samples=samples), spreads=spreads, z=z)
    return heads, LayerResults(source=source, curves=curves)


def _spread_by_statistic(
    moments_by_name: Mapping[str, Moments], n: int
) -> tuple[dict[str, Spread], dict[str, int]]:
    """Mean and standard deviation of each statistic that is defined on at least two examples, by name.

    The second dict holds, for each statistic that is defined on fewer than all `n` examples, the number of these.
    """
    measured = {name: moments for name, moments in moments_by_name.items() if moments.n.min() >= 2}
    samples = {name: int(moments.n.min()) for name, moments in measured.items() if moments.n.min() < n}
    return {name: moments.spread for name, moments in measured.items()}, samples


def measure_listed_inputs(
    loaded: Loaded, inputs: Sequence[Input], name: str, command: str, report: ProgressCallback
) -> HeadResults:
    """The statistics of all heads over `inputs`, as `heads.parquet` holds them; `name` is the title of the inputs on screen.

    `command` is the code that repeats the measurement. Calls `report` with the number of inputs just measured. Raises ValueError,
    with a one-sentence message, if there are fewer than two inputs or one cannot be read.
    """
    if len(inputs) < 2:
        raise ValueError(f"a spread needs two inputs at least, got {len(inputs)}")
    shard = Shard(number=0, numbers=tuple(range(1, len(inputs) + 1)), inputs=tuple(inputs))
    source = DataSource(
        command=command,
        data=name,
        sha256=_sha256(inputs),
        n=len(inputs),
        weights=(weights_hash(loaded.folder or loaded.name),),
    )
    return statistics_results(source, Statistics().measure_shard(loaded, shard, report))[0]


def _sha256(inputs: Sequence[Input]) -> str:
    """SHA-256 hash of all inputs together, in hexadecimal."""
    digest = hashlib.sha256()
    for value in inputs:
        digest.update(
            repr((value.text, value.second)).encode() if isinstance(value, Text) else value.array.tobytes()
        )
    return digest.hexdigest()


def compare_encoders(
    first_encoder: Loaded, second_encoder: Loaded, examples: Examples, command: str
) -> EncoderComparison:
    """Compares heads and states of two encoders over the examples, one at a time, so that memory does not grow with their number.

    Raises ValueError if the encoders divide an example into different tokens or patches, or if there are fewer than two
    examples.
    """
    distances, half_distances, cross_moments = Moments(), (Moments(), Moments()), CrossMoments()
    shapes = (
        (first_encoder.config.n_layers, first_encoder.config.n_heads),
        (second_encoder.config.n_layers, second_encoder.config.n_heads),
    )
    pair_counts = np.zeros([layers * heads for layers, heads in shapes], int)
    for n, (number, text_or_image) in enumerate(examples):
        with naming_example(number):
            first, second = (capture(loaded, text_or_image) for loaded in (first_encoder, second_encoder))
        if first.tokens != second.tokens:
            raise ValueError(
                f"{first_encoder.name} and {second_encoder.name} cut example {number} into different {first.units}: their heads "
                "look at different keys, and no distance compares them"
            )
        matrix = distance_matrix(first.pattern, second.pattern)
        distances.add(matrix)
        half_distances[n % 2].add(matrix)
        partners = match_heads(matrix)
        heads = np.flatnonzero(partners >= 0)
        pair_counts[heads, partners[heads]] += 1
        n_stages = min(len(first.residual), len(second.residual))
        cross_moments.add(states_for_cka(first)[:n_stages], states_for_cka(second)[:n_stages])
    n_examples = int(distances.n.max())
    if n_examples < 2:
        raise ValueError(f"a spread needs two examples at least, {examples.name} holds {n_examples}")
    partners = match_heads(distances.mean)
    first_half, second_half = (match_heads(half.mean) for half in half_distances)
    weight_hashes = tuple(
        weights_hash(encoder.folder or encoder.name) for encoder in (first_encoder, second_encoder)
    )
    return EncoderComparison(
        source=DataSource(
            command=command, data=examples.name, sha256=examples.sha256, n=n_examples, weights=weight_hashes
        ),
        shapes=shapes,
        distances=distances.spread,
        alike=np.where(partners < 0, 0, pair_counts[np.arange(len(partners)), partners]),
        halves=int(((first_half == second_half) & (first_half >= 0)).sum()),
        n_states=cross_moments.n,
        cka=cross_moments.cka(),
        cka_by_chance=cross_moments.by_chance(),
    )


def states_for_cka(record: ForwardRecord) -> Float[np.ndarray, "stage row d_model"]:
    """The states of one example from which CKA is computed, at every stage.

    The rows are all tokens of a text. For a picture there is one row: the class token, or the mean over the patches if these
    are pooled.
    """
    if record.unit == "token":
        return record.residual
    if record.has_class_token:
        return record.residual[:, :1]
    return record.residual[:, record.first_patch :].mean(axis=1, keepdims=True)
