"""One encoder over a data set: which passes are made, and the tables that come of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..checkpoint import Loaded, weights_hash
from ..measures.statistics import STATISTICS
from ..version import VERSION
from . import strongest, watching
from .examples import Examples, examples_to_show
from .measured import Measure, Statistics, spreads_of
from .moments import Arrays, Moments
from .progress import Progress
from .run import Engine, local, run
from .source import Source, Spread
from .stored import EXAMPLES, HEADS, LAYERS, Content, Heads, Layers, Table, write
from .strongest import Strongest

EXTRA = ("examples",)  # what can be chosen besides the statistics


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is measured besides the statistics, and on how many examples."""

    extra: tuple[str, ...] = ()
    sample: int = 256
    show_data: bool = (
        False  # whether the strongest examples are those of the data, not of what comes with the project
    )


def gather(
    loaded: Loaded,
    examples: Examples,
    out: Path,
    command: str,
    wanted: Wanted | None = None,
    engine: Engine = local,
) -> list[Path]:
    """The files that were written into `out`. What was measured when it was ended is not measured again.

    Raises ValueError, in one sentence, where an example cannot be read or does not fit.
    """
    wanted = wanted or Wanted()
    passes = _Passes(loaded, out, command, engine)
    statistics = passes.measured(Statistics(), examples)
    files = _statistics(passes.source(examples), statistics)
    if "examples" in wanted.extra:
        shown = examples if wanted.show_data else examples_to_show(loaded)
        rows = strongest.rows(loaded, shown, passes.measured(Strongest(), shown))
        files[EXAMPLES] = Table(source=passes.source(shown), rows=rows)
    # Every pass first, then every file: what is there is whole, and of one run.
    for name, content in files.items():
        write(out / name, content)
    passes.forget()
    return [out / name for name in files]


class _Passes:
    """Passes over data, each of which goes on where it was ended, until all are written."""

    def __init__(self, loaded: Loaded, out: Path, command: str, engine: Engine) -> None:
        self.loaded, self.out, self.command, self.engine = loaded, out, command, engine
        self.weights = weights_hash(loaded.folder or loaded.name)
        self.made: list[Progress] = []

    def measured(self, measure: Measure, examples: Examples) -> Arrays:
        depends_on = {"version": VERSION, "weights": self.weights, "data": examples.sha256}
        depends_on |= {"limit": examples.limit, "measure": repr(measure)}
        self.made.append(Progress(self.out / f".atlas-{measure.name}.part", **depends_on))
        return run(measure, self.loaded, examples, self.made[-1], self.engine)

    def source(self, examples: Examples) -> Source:
        return Source(
            command=self.command,
            data=examples.name,
            sha256=examples.sha256,
            n=len(examples),
            weights=(self.weights,),
        )

    def forget(self) -> None:
        for progress in self.made:
            progress.remove()


def _statistics(source: Source, found: Arrays) -> dict[str, Content]:
    by_name = spreads_of(found, watching.HEADS)
    spreads, samples = _spreads({name: by_name[name] for name in STATISTICS if name in by_name}, source.n)
    z = spreads_of(found, watching.Z)[""].mean
    curves, _ = _spreads(spreads_of(found, watching.CURVES), source.n)
    return {
        HEADS: Heads(source=replace(source, samples=samples), spreads=spreads, z=z),
        LAYERS: Layers(source=source, curves=curves),
    }


def _spreads(many: Mapping[str, Moments], n: int) -> tuple[dict[str, Spread], dict[str, int]]:
    """Of what at least two examples have, and how many have it where not all do: a separator may stand in some texts alone."""
    known = {name: each for name, each in many.items() if each.n.min() >= 2}
    samples = {name: int(each.n.min()) for name, each in known.items() if each.n.min() < n}
    return {name: each.spread for name, each in known.items()}, samples
