"""What all faults share: the address of the app, its processes, its folders, until when they go on, and the ledger."""

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.message import DecodeError
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.addresses import broken
from benchmarks.broken_folders import SECRET
from benchmarks.faults.promises import NAMED_FOLDER, Ledger
from benchmarks.load.browser_window import Answer, Window
from benchmarks.load.servers import ROOT, Process

PATIENCE = 180  # seconds in which a page must go on, with all faults at the same time
REST = 2  # seconds, on average
AFTER_A_LOSS = 20  # seconds after the loss of a process in which requests may break off


@dataclass
class World:
    server: str
    processes: list[Process]
    ledger: Ledger
    home: Path  # below it lie all folders of the run
    seconds: float
    seed: int = 0
    began: float = field(default_factory=time.monotonic)
    lost_at: list[float] = field(default_factory=list)  # when processes were ended

    @property
    def models(self) -> Path:
        return self.home / "models"

    @property
    def outside(self) -> Path:
        """A folder beside the models, with the file `secret.txt`."""
        return self.home / "outside"

    @property
    def small(self) -> Path:
        """The disk for temporary files of the app."""
        return self.home / "small"

    def start(self) -> None:
        """The windows are open: from now on the faults go on for `seconds`."""
        self.began = self.ledger.began = time.monotonic()

    @property
    def until(self) -> float:
        return self.began + self.seconds

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.until

    @property
    def lost_a_process(self) -> bool:
        """Whether a process was ended a moment ago, so that a request may break off."""
        return any(time.monotonic() - each < AFTER_A_LOSS for each in self.lost_at)

    def draw(self, name: str) -> random.Random:
        return random.Random(f"{self.seed} {name}")

    def window(self, page: str = "", query: Mapping[str, str | list[str]] | None = None, server: str = "") -> Window:  # fmt: skip
        return Window(server or self.server, page, dict(query or {}), look=self.look, patience=PATIENCE)

    async def rest(self, draw: random.Random) -> None:
        """A moment between two attempts, so that the class gets its share of the processors."""
        await asyncio.sleep(2 * REST * draw.random())

    def look(self, content: bytes) -> None:
        """Searches what the app has sent for what it must not send to anybody.

        With the first message of each run Streamlit itself tells the browser where the app lies: SECURITY.md says so.
        """
        for secret in (SECRET, str(self.home), f"{ROOT}/"):
            if secret.encode() in content and not _is_new_session(content):
                place = content.index(secret.encode())
                self.ledger.note(NAMED_FOLDER, f"sent {content[max(0, place - 80) : place + 80]!r}")

    def judge(self, promise: str, answer: Answer, what: str) -> None:
        """Notes whether an answer keeps a promise: a page or a sentence, no exception, no markup of others."""
        failures = list(dict.fromkeys(broken(answer, self.home)))
        self.ledger.note(promise, f"{what}: {'; '.join(failures)}" if failures else "")


def _is_new_session(content: bytes) -> bool:
    try:
        return ForwardMsg.FromString(content).WhichOneof("type") == "new_session"
    except DecodeError:  # a file
        return False
