"""What it costs to look: patterns alone and everything, against the forward pass that keeps nothing."""

from collections.abc import Callable
from statistics import median

from .encoders import BERT_BASE, MINI_LM, MODERN_BERT, text
from .side import CallError, Side, both_sides, interleaved
from .table import difference, ratio, section, table

CASES = (
    (MINI_LM, 20),
    (MINI_LM, 128),
    (MINI_LM, 512),
    (BERT_BASE, 128),
    (BERT_BASE, 512),
    (MODERN_BERT, 128),
    (MODERN_BERT, 512),
)
QUICK = ((MINI_LM, 20), (MINI_LM, 128), (BERT_BASE, 20), (MODERN_BERT, 20))
SECONDS = 40  # of all rounds of a case, about
OURS = {"forward": "forward pass", "patterns": "patterns", "everything": "everything"}
THEIRS = {
    "transformers_patterns": "`transformers`, attentions",
    "transformers_states": "`transformers`, attentions and states",
    "lens_patterns": "TransformerLens, patterns",
    "lens_everything": "TransformerLens, everything",
}
FUSED = "fused"
LIMITS = {  # which bytes are written, and to which memory
    "limit of patterns": (0, False),
    "limit of everything": (1, False),
    "the same, fresh memory": (1, True),
}
FRESH = "the same, fresh memory"
NOT_KNOWN = "–"
EXPLAINED = """Ratios to the forward pass of `transformers` with its fused kernel, which keeps nothing; all begin with the text.
One thread, processor time, medians of the ratios of interleaved rounds, batch of one; **bold** is this project. A *limit* is the
faster forward pass of both that keep nothing, and the writing of as many bytes at the speed of this machine's memory: memory
that was used before, or memory fresh from the system, whose pages come one by one when they are first written to. A record is
new memory, unless the last one is gone. – : TransformerLens opens no ModernBERT encoder."""
PEAKS = "MB that each process holds at most during the call, beyond what it held before, and MB that everything is."


def measured(peers: str, encoders: dict[str, str], quick: bool) -> str:
    ratios, peaks = [], []
    with both_sides(peers) as (ours, theirs):
        for name, n in QUICK if quick else CASES:
            case = f"{name}, {n}"
            arguments = {"folder": encoders[name], "text": text(n)}
            cells, memory = _case(ours, theirs, arguments, quick)
            ratios.append([case, *cells])
            peaks.append([case, *memory])
            print(case, *cells, flush=True)
    names = [*(f"**{name}**" for name in OURS.values()), *THEIRS.values()]
    first = "encoder, tokens"
    return section(
        "Capture",
        EXPLAINED,
        table(
            [first, *names, *LIMITS, "**everything** ÷ that", "fused, ms", "largest difference of a weight"],
            ratios,
        ),
        PEAKS,
        table([first, "everything is", "fused", *names], peaks),
    )


def _case(ours: Side, theirs: Side, arguments: dict[str, str], quick: bool) -> tuple[list[str], list[str]]:
    sizes = ours.numbers("sizes", **arguments)["sizes"]
    calls: dict[str, tuple[Side, dict]] = {FUSED: (theirs, arguments)}
    calls |= dict.fromkeys(OURS, (ours, arguments))
    calls |= {name: (theirs, arguments) for name in THEIRS if _opens(theirs, name, arguments)}
    seconds: dict[str, Callable[[], float]] = {
        name: lambda name=name, side=side, values=values: side.seconds(name, **values)
        for name, (side, values) in calls.items()
    }
    for name, (index, fresh) in LIMITS.items():
        writes = {"n_bytes": int(sizes[index]), "fresh": fresh}
        seconds[name] = lambda writes=writes: ours.seconds("write", **writes)
    once = sum(interleaved(seconds, 1)[name][0] for name in seconds)
    rounds = 3 if quick else max(5, min(40, int(SECONDS / once)))
    times = interleaved(seconds, rounds)
    fastest = min((FUSED, "forward"), key=lambda name: median(times[name]))
    for name in LIMITS:
        times[name] = [plain + write for plain, write in zip(times[fastest], times[name], strict=True)]
    shown = (*OURS, *THEIRS, *LIMITS)
    cells = [f"{ratio(times[name], times[FUSED]):.2f}" if name in times else NOT_KNOWN for name in shown]
    own, peer = (side.numbers("agreement", **arguments)["patterns"] for side in (ours, theirs))
    cells.append(f"**{ratio(times['everything'], times[FRESH]):.2f}**")
    cells += [f"{1000 * median(times[FUSED]):.1f}", difference(own, peer)]
    memory = [f"{sizes[1] / 1e6:.1f}"]
    for name in (FUSED, *OURS, *THEIRS):
        if name in calls:
            side, values = calls[name]
            memory.append(f"{median(side.peak(name, **values) for _ in range(3)):.1f}")
        else:
            memory.append(NOT_KNOWN)
    return cells, memory


def _opens(side: Side, call: str, arguments: dict[str, str]) -> bool:
    try:
        side.seconds(call, **arguments)
    except CallError as error:
        if "Could not determine supported architecture" in str(error):
            return False
        raise
    return True
