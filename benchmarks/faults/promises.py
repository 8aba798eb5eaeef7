"""What SECURITY.md and docs/serving.md promise, and how often a run of the faults tried and broke each promise."""

import time
from dataclasses import dataclass, field

# SECURITY.md
NOTHING_RUNS = "files run nothing"
ONE_SENTENCE = "damaged and hostile files end in one sentence"
TOKENIZERS = "tokenizers compute for a bounded time"
WORDS_ARE_TEXT = "words of others are text"
NAMED_FOLDER = "nothing outside the named folder is read, no path is shown"
UPLOADS = "uploads are bounded, seen by their session alone, and deleted"
OFF = "models, uploads and the Hub are off unless allowed"
ADDRESSES = "addresses and texts cannot end the server"
REQUESTS = "odd requests cannot end the server"
ISOLATED = "sessions do not see each other"
NOTHING_SENT = "nothing is sent anywhere"
# docs/serving.md
ANSWERED = "every change is answered"
STICKY = "a visitor stays with his process"
RELOAD = "a lost process costs a reload, and the same is shown"
RESTARTED = "a process that is started again is used again"
MEMORY = "LOUPE_CACHE_MB bounds encoders and results"
DOWNLOADS = "downloads are whole, of their type, and their window's own"
FULL_DISK = "a full disk is one sentence, and the page goes on"
REPLACED = "a replaced checkpoint is read anew, never half of each"
NO_TRACEBACK = "no traceback in the log"

PROMISES = (
    NOTHING_RUNS, ONE_SENTENCE, TOKENIZERS, WORDS_ARE_TEXT, NAMED_FOLDER, UPLOADS, OFF, ADDRESSES, REQUESTS, ISOLATED,
    NOTHING_SENT, ANSWERED, STICKY, RELOAD, RESTARTED, MEMORY, DOWNLOADS, FULL_DISK, REPLACED, NO_TRACEBACK,
)  # fmt: skip
LONGEST = 400  # characters of a failure that are printed
SHOWN = 5  # failures of each promise


@dataclass
class Count:
    """How often one promise was tested and broken, with the first failures."""

    tried: int = 0
    broken: int = 0
    failures: list[str] = field(default_factory=list)  # the first ones


class Ledger:
    """Counts by promise of how often a run tested and broke it."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.counts = {promise: Count() for promise in PROMISES}

    def record(self, promise: str, failure: str = "", n: int = 1) -> None:
        """Counts `n` tests of a promise, which was broken once if there is a `failure`."""
        count = self.counts[promise]
        count.tried += n
        if failure:
            count.broken += 1
            if len(count.failures) < SHOWN:
                seconds = time.monotonic() - self.began
                count.failures.append(f"{' '.join(failure.split())[:LONGEST]} (after {seconds:.0f} s)")

    @property
    def is_broken(self) -> bool:
        """Whether any promise was broken."""
        return any(count.broken for count in self.counts.values())

    @property
    def untried(self) -> list[str]:
        """The promises that were never tested."""
        return [promise for promise, count in self.counts.items() if not count.tried]

    def __str__(self) -> str:
        lines = [f"{'promise':64}{'tried':>8}{'broken':>8}"]
        for promise, count in self.counts.items():
            lines.append(f"{promise:64}{count.tried:8,}{count.broken:8,}")
            lines += [f"    {failure}" for failure in count.failures]
        return "\n".join(lines)
