"""How costs grow with length and number of heads, and with examples and workers; and the cost of a training step."""

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from .encoder_folders import MINI_LM, Encoders, text, with_heads
from .readme_tables import ratio, section, slope, table, with_workers
from .side import ROOT, Side, both_sides, interleaved
from .training_step import Sizes

LENGTHS, HEADS = (32, 64, 128, 256, 512), (3, 6, 12, 24)
QUICK_LENGTHS, QUICK_HEADS = (16, 32), (3, 6)
AT = 64  # tokens, where heads grow
CALLS = {
    "forward": "**forward pass**",
    "patterns": "**patterns**",
    "everything": "**everything**",
    "rollout": "**rollout**",
    "relevance": "**gradient × attention**",
    "ablation": "**each head ablated**",
    "knock_out": "**each token knocked out**",
    "value_zeroing": "**value zeroing**",
}
THEIRS = {"fused": "`transformers`, fused", "lens_everything": "TransformerLens, everything"}
LONG = 128  # tokens beyond which what takes many forward passes is left out
MANY = ("ablation", "knock_out", "value_zeroing")
STEPS = (Sizes(6, 4, 128, 17, 128), Sizes(4, 8, 128, 256, 32))
QUICK_STEPS = (Sizes(2, 4, 64, 17, 16),)
WORKERS = (4, 16, 256)  # by arithmetic
GREW = """ms of one thread, medians of {rounds} interleaved rounds, of {name} over tokens and of encoders of its depth and width, with
random weights, over heads at {at} tokens. *Power*: the slope of the line through the logarithms; 1 is a cost in proportion."""
TRAINED = """A step of AdamW on random sentences, all cores, wall clock, {rounds} interleaved rounds: this project's encoder, whose
attention is written out, ÷ `torch.nn.TransformerEncoder` with its fused kernel, both in the same precision and, in the last column,
both in the better one of each side. Pre-LN, no dropout, d_ff = 4 × width."""
WORKED = """`python -m model.atlas mnist-pre-ln --limit {n}`, wall clock, {rounds} interleaved rounds; from 4 workers on by Amdahl's law
through one and two ({cores} cores here), whose fixed part is the start of Ray. In one process, the atlas takes {ratio:.2f} of the
plain forward passes over the same digits (one thread, processor time)."""


def measured(peers: str, encoders: Encoders, quick: bool) -> str:
    """The section of this group of measurements, in Markdown; `peers` is the Python of the peers."""
    with both_sides(peers) as (ours, theirs), tempfile.TemporaryDirectory() as folder:
        grown = _grown(ours, theirs, encoders[MINI_LM], Path(folder), quick)
        atlas = _atlas(ours, quick)
    return section("Growth", *grown, *_trained(peers, quick), *atlas)


def _grown(ours: Side, theirs: Side, mini_lm: str, folder: Path, quick: bool) -> list[str]:
    """The tables of costs over lengths and over numbers of heads."""
    lengths, heads = (QUICK_LENGTHS, QUICK_HEADS) if quick else (LENGTHS, HEADS)
    rounds = 1 if quick else 3
    by_length = {
        n: _costs(ours, theirs, {"folder": mini_lm, "text": text(n)}, n <= LONG, rounds) for n in lengths
    }
    by_heads = {
        n: _costs(ours, theirs, {"folder": with_heads(folder, n), "text": text(AT)}, True, rounds)
        for n in heads
    }
    return [
        GREW.format(rounds=rounds, name=MINI_LM, at=AT),
        _powers("tokens", by_length),
        _powers("heads", by_heads),
    ]


def _costs(
    ours: Side, theirs: Side, arguments: dict[str, str], with_many: bool, rounds: int
) -> dict[str, float]:
    """The median milliseconds of each call, by name; `with_many` includes the calls of `MANY`."""
    calls = [(name, ours) for name in CALLS if with_many or name not in MANY]
    calls += [(name, theirs) for name in THEIRS]
    times = interleaved(
        {name: lambda name=name, side=side: side.seconds(name, **arguments) for name, side in calls}, rounds
    )
    return {name: 1000 * median(seconds) for name, seconds in times.items()}


def _powers(what: str, costs: Mapping[int, dict[str, float]]) -> str:
    """A table of the `costs` by size, with the exponent of the power law by which each grows; `what` names the size."""
    rows = []
    for name, shown in {**CALLS, **THEIRS}.items():
        measured_sizes = [size for size in costs if name in costs[size]]
        cells = [f"{costs[size][name]:.1f}" if name in costs[size] else "" for size in costs]
        power = slope(measured_sizes, [costs[size][name] for size in measured_sizes])
        rows.append([shown, *cells, f"{power:.2f}"])
        print(what, *rows[-1], flush=True)
    return table([what, *map(str, costs), "power"], rows)


def _trained(peers: str, quick: bool) -> list[str]:
    """The table of training steps."""
    rounds, rows = (2 if quick else 8), []
    with both_sides(peers, os.cpu_count() or 1) as sides:
        for sizes in QUICK_STEPS if quick else STEPS:
            times = interleaved(
                {
                    f"{name} {precision}": lambda side=side, precision=precision, sizes=sizes: side.seconds(
                        "training_step", clock="wall", sizes=list(sizes), precision=precision
                    )
                    for name, side in zip(("ours", "theirs"), sides, strict=True)
                    for precision in ("fp32", "bf16")
                },
                rounds,
            )
            best = {
                name: min((f"{name} fp32", f"{name} bf16"), key=lambda way: median(times[way]))
                for name in ("ours", "theirs")
            }
            rows.append(
                [
                    "{} × {} heads, width {}, {} tokens, batch {}".format(*sizes),
                    *(f"{1000 * median(seconds):.0f}" for seconds in times.values()),
                    *(f"{ratio(times[f'ours {p}'], times[f'theirs {p}']):.2f}" for p in ("fp32", "bf16")),
                    f"{ratio(times[best['ours']], times[best['theirs']]):.2f}",
                ]
            )
            print(*rows[-1], flush=True)
    columns = ["a training step", "**fp32**, ms", "**bf16**, ms", "torch fp32, ms", "torch bf16, ms"]
    columns += ["ratio fp32", "ratio bf16", "ratio of the better"]
    return [TRAINED.format(rounds=rounds), table(columns, rows)]


def _atlas(ours: Side, quick: bool) -> list[str]:
    """The table of the atlas over numbers of workers."""
    n, rounds = (1024, 1) if quick else (10_000, 2)
    times = interleaved({f"{w}": lambda w=w: _run(n, w) for w in (None, 1, 2)}, rounds, thrown_away=0)
    in_one_process, one, two = (median(seconds) for seconds in times.values())
    beyond = [with_workers(one, two, workers) for workers in WORKERS]
    cells = [f"{seconds:.1f}" for seconds in (in_one_process, one, two)]
    cells += ["–" if math.isnan(seconds) else f"{seconds:.1f}" for seconds in beyond]
    print("atlas", *cells, flush=True)
    alone = interleaved(
        {call: lambda call=call: ours.seconds(call, n=256) for call in ("atlas_digits", "forward_digits")},
        rounds,
    )
    columns = ["", "without Ray", "1 worker", "2 workers", *(f"{workers}, worked out" for workers in WORKERS)]
    return [
        WORKED.format(n=n, rounds=rounds, cores=os.cpu_count(), ratio=ratio(*alone.values())),
        table(columns, [["**atlas**, s", *cells]]),
    ]


def _run(n: int, workers: int | None) -> float:
    """The seconds that `python -m model.atlas` takes over `n` digits; `workers` None runs it without Ray."""
    engine: Sequence[str] = () if workers is None else ("--engine", "ray", "--workers", str(workers))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "model.atlas", "mnist-pre-ln", "--limit", str(n), "--out", folder]
        begun = time.perf_counter()
        subprocess.run(
            [*command, *engine],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=True,
            capture_output=True,
        )
        return time.perf_counter() - begun
