"""The cost of capturing patterns alone and of capturing everything, as ratios to the forward pass that keeps nothing."""

from collections.abc import Callable
from statistics import median

from .encoder_folders import BERT_BASE, MINI_LM, MODERN_BERT, Encoders, text
from .readme_tables import difference, ratio, section, table
from .side import CallError, Side, both_sides, interleaved

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
SECONDS = 20  # of all rounds of a case, about
OURS = {"forward": "forward pass", "patterns": "patterns", "everything": "everything"}
THEIRS = {
    "transformers_patterns": "`transformers`, attentions",
    "transformers_states": "`transformers`, attentions and states",
    "lens_patterns": "TransformerLens, patterns",
    "lens_everything": "TransformerLens, everything",
}
FUSED, FRESH = "fused", "in fresh memory"
MB = 1e6
NOT_KNOWN = "–"
EXPLAINED = """Ratios to the forward pass of `transformers` with its fused kernel, which keeps nothing; all begin with the text.
One thread, processor time, medians of the ratios of interleaved rounds, batch of one; **bold** is this project. – : TransformerLens
opens no ModernBERT encoder."""
LIMITED = """The same beside what no capture can do without: the faster forward pass of both sides that keep nothing, and as many
bytes as are kept, written at the speed of this machine's memory. That is memory which was used before or, *fresh*, pages from the
system that come one by one when they are first written to. A record is fresh memory, unless the last one is gone.
Both are measured in one go. A virtual machine may lose to its host what lay free for some seconds, as during a turn of the peer, and
gets it back far more slowly: the largest records may then exceed their limit."""
PEAKS = "MB that each process holds at most during the call, beyond what it held before, and MB that everything is."


def measured(peers: str, encoders: Encoders, quick: bool) -> str:
    """The section of this group of measurements, in Markdown; `peers` is the Python of the peers."""
    ratios, limits, peaks = [], [], []
    with both_sides(peers) as (ours, theirs):
        for name, n in QUICK if quick else CASES:
            case = Case(ours, theirs, {"folder": encoders[name], "text": text(n)})
            times = case.times(quick)
            for rows, cells in (
                (ratios, case.ratios(times)),
                (limits, _limits(times)),
                (peaks, case.peaks()),
            ):
                rows.append([f"{name}, {n}", *cells])
                print(*rows[-1], flush=True)
    names = [*(f"**{name}**" for name in OURS.values()), *THEIRS.values()]
    first = "encoder, tokens"
    compared = ["patterns, limit", "**patterns**", "everything, limit", "in fresh memory", "**everything**"]
    return section(
        "Capture",
        EXPLAINED,
        table([first, "fused, ms", *names, "largest difference of a weight"], ratios),
        LIMITED,
        table([first, *compared, "**everything** ÷ its limit in fresh memory"], limits),
        PEAKS,
        table([first, "everything is", "fused", *names], peaks),
    )


class Case:
    """The measurements of one encoder on one text."""

    def __init__(self, ours: Side, theirs: Side, arguments: dict[str, str]) -> None:
        self._ours, self._theirs, self._arguments = ours, theirs, arguments
        self._patterns, self._everything, _ = map(int, ours.numbers("sizes", **arguments)["sizes"])
        known = [name for name in THEIRS if _opens(theirs, name, arguments)]
        self._sides = dict.fromkeys((FUSED, *known), theirs) | dict.fromkeys(OURS, ours)

    def times(self, quick: bool) -> dict[str, list[float]]:
        """The seconds of each call in each round, by name. The limits, which no capture can beat, are a forward pass
        plus the time to write as many bytes as a capture keeps.
        """
        writes = {
            "patterns, limit": (self._patterns, False),
            "everything, limit": (self._everything, False),
            FRESH: (self._everything, True),
        }
        seconds: dict[str, Callable[[], float]] = {
            name: lambda name=name, side=side: side.seconds(name, **self._arguments)
            for name, side in self._sides.items()
        } | {
            name: lambda n_bytes=n_bytes, fresh=fresh: self._ours.seconds(
                "write", n_bytes=n_bytes, fresh=fresh
            )
            for name, (n_bytes, fresh) in writes.items()
        }
        once = sum(rounds[0] for rounds in interleaved(seconds, 1).values())
        times = interleaved(seconds, 3 if quick else max(4, min(40, int(SECONDS / once))))
        fastest = min((FUSED, "forward"), key=lambda name: median(times[name]))
        for name in writes:
            times[name] = [plain + write for plain, write in zip(times[fastest], times[name], strict=True)]
        return times

    def ratios(self, times: dict[str, list[float]]) -> list[str]:
        """The cells of the table of ratios to the fused forward pass."""
        own, peer = (
            side.numbers("agreement", **self._arguments)["patterns"] for side in (self._ours, self._theirs)
        )
        cells = [_against_fused(times, name) for name in (*OURS, *THEIRS)]
        return [f"{1000 * median(times[FUSED]):.1f}", *cells, difference(own, peer)]

    def peaks(self) -> list[str]:
        """The cells of the table of peak memory, in MB."""
        cells = [f"{self._everything / MB:.1f}"]
        for name in (FUSED, *OURS, *THEIRS):
            side = self._sides.get(name)
            peaks = [side.peak(name, **self._arguments) for _ in range(3)] if side else []
            cells.append(f"{median(peaks):.1f}" if peaks else NOT_KNOWN)
        return cells


def _limits(times: dict[str, list[float]]) -> list[str]:
    """The cells of the table that compares captures with their limits."""
    cells = [
        _against_fused(times, name)
        for name in ("patterns, limit", "patterns", "everything, limit", FRESH, "everything")
    ]
    return [*cells, f"{ratio(times['everything'], times[FRESH]):.2f}"]


def _against_fused(times: dict[str, list[float]], name: str) -> str:
    """The median ratio of the call `name` to the fused forward pass, as text."""
    return f"{ratio(times[name], times[FUSED]):.2f}" if name in times else NOT_KNOWN


def _opens(side: Side, call: str, arguments: dict[str, str]) -> bool:
    """Whether the peer supports the encoder in this call."""
    try:
        side.seconds(call, **arguments)
    except CallError as error:
        if "Could not determine supported architecture" in str(error):
            return False
        raise
    return True
