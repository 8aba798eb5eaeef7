"""What all faults share: the address of the app, its processes and folders, when the faults end, and the counts of promises."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.message import DecodeError
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.addresses import broken
from benchmarks.broken_folders import SECRET
from benchmarks.faults.promises import NAMED_FOLDER, Ledger
from benchmarks.load.browser_window import LOST, Answer, NoAnswerError, Window
from benchmarks.load.servers import ROOT, Process

PATIENCE = 180  # seconds in which a page must go on, with all faults at the same time
REST = 2  # seconds, on average
AFTER_A_LOSS = 20  # seconds after the loss of a process in which requests may break off


@dataclass
class World:
    """What all faults of a run share: the app's address, processes and folders, the time, and the counts of promises."""

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
        """Starts the `seconds` for which the faults go on; the windows of the class are open."""
        self.began = self.ledger.began = time.monotonic()

    @property
    def until(self) -> float:
        """The time at which the faults end, by `time.monotonic`."""
        return self.began + self.seconds

    @property
    def goes_on(self) -> bool:
        """Whether the faults still go on."""
        return time.monotonic() < self.until

    @property
    def lost_a_process(self) -> bool:
        """Whether a process was killed in the last seconds, so that requests may break off."""
        return any(time.monotonic() - lost < AFTER_A_LOSS for lost in self.lost_at)

    def draw(self, name: str) -> random.Random:
        """A random generator for the fault `name`."""
        return random.Random(f"{self.seed} {name}")

    def window(self, page: str = "", query: Mapping[str, str | list[str]] | None = None, server: str = "") -> Window:  # fmt: skip
        """A new window of the app, not opened yet, whose messages are searched for secrets."""
        return Window(
            server or self.server,
            page,
            dict(query or {}),
            on_message=self.search_for_secrets,
            patience=PATIENCE,
        )

    @asynccontextmanager
    async def visit(
        self, promise: str, action: str, page: str = "", query: Mapping[str, str | list[str]] | None = None, server: str = "",
    ) -> AsyncIterator[Window]:  # fmt: skip
        """Context manager: a new window, not opened yet, which is closed at the end.

        Records as a broken `promise` that the server does not answer, refuses a file, or closes the connection. The last two are
        expected for some seconds after a process was killed, except at a `server` of its own. `action` says in the failure what
        was tried.
        """
        window = self.window(page, query, server)

        def may_break_off() -> bool:
            return self.lost_a_process and not server

        try:
            yield window
        except NoAnswerError as error:
            self.ledger.record(promise, f"{action}: {error}")
        except ValueError as error:  # another process than the killed one does not know the session
            if not may_break_off():
                self.ledger.record(promise, f"{action}: the server refused: {error}")
        except LOST as error:
            if not may_break_off():
                self.ledger.record(
                    promise, f"{action}: the connection was lost: {type(error).__name__}: {error}"
                )
        finally:
            await window.close()

    async def rest(self, draw: random.Random) -> None:
        """Waits a moment between two attempts, so that the class gets its share of the processors."""
        await asyncio.sleep(2 * REST * draw.random())

    def search_for_secrets(self, content: bytes) -> None:
        """Records a secret or a path of this machine in bytes that the app sent.

        The first message of each run is not searched: Streamlit itself names the app's folder there, as SECURITY.md
        says.
        """
        for secret in (SECRET, str(self.home), f"{ROOT}/"):
            if secret.encode() in content and not _is_new_session(content):
                position = content.index(secret.encode())
                self.ledger.record(NAMED_FOLDER, f"sent {content[max(0, position - 80) : position + 80]!r}")

    def check(self, promise: str, answer: Answer, action: str) -> None:
        """Records the answer as one test of the promise, which an exception, a path of this machine or foreign markup
        breaks.
        """
        failures = list(dict.fromkeys(broken(answer, self.home)))
        self.ledger.record(promise, f"{action}: {'; '.join(failures)}" if failures else "")


def _is_new_session(content: bytes) -> bool:
    try:
        return ForwardMsg.FromString(content).WhichOneof("type") == "new_session"
    except DecodeError:  # a file
        return False
