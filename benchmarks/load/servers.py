"""The app in one process, or in several behind the proxy of `docs/serving/haproxy.cfg`, on free ports of this machine."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOST = "127.0.0.1"
CONFIGURATION = ROOT / "docs" / "serving" / "haproxy.cfg"
VARIABLES = ("LOUPE_ONE", "LOUPE_TWO")  # of that file: where it finds the processes
START_UP = 120  # seconds
FRAME = re.compile(r'File "([^"]+)", line (\d+)')
NO_PROXY = "several processes need the proxy HAProxy, and there is none: apt-get install haproxy"


class Process:
    """One process of the app in the folder `root`. Its output goes to a file in the folder `home`, which is also its
    HOME unless `variables`, which are added to the environment, set another one.
    """

    def __init__(
        self, home: Path, name: str, options: Sequence[str] = (), root: Path = ROOT, variables: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.log, self.port = name, home / f"{name}.log", free_port()
        self._command = [sys.executable, "-m", "streamlit", "run", str(root / "app.py")]
        self._command += [
            f"--server.port={self.port}",
            "--server.headless=true",
            "--server.fileWatcherType=none",
            "--logger.enableRich=false",
            *options,  # last, since what follows a "--" goes to the app
        ]
        self._root, self._variables = root, {"HOME": str(home)} | dict(variables or {})
        self.start()

    def start(self) -> None:
        with self.log.open("a") as output:
            self._running = subprocess.Popen(
                self._command, cwd=self._root, env=os.environ | self._variables, stdout=output, stderr=output
            )
        try:
            wait_until(lambda: answers(self.port), self._running, self.log)
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """Ends it with SIGKILL, as the system does with a process that takes too much memory."""
        self._running.kill()
        self._running.wait()

    def stop(self) -> None:
        self._running.terminate()
        try:
            self._running.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()

    @property
    def pid(self) -> int:
        return self._running.pid

    @property
    def is_up(self) -> bool:
        return self._running.poll() is None

    @property
    def processor_seconds(self) -> float:
        """Processor time so far, in seconds."""
        if not self.is_up:
            return 0.0
        fields = Path(f"/proc/{self._running.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> dict[str, float]:
        """Memory in MB: resident now, the same with shared pages divided among processes (PSS), and the peak so far."""
        if not self.is_up:
            return {}
        names = {"smaps_rollup": {"Rss": "resident", "Pss": "share"}, "status": {"VmHWM": "peak"}}
        megabytes = {}
        for file, fields in names.items():
            for line in Path(f"/proc/{self._running.pid}/{file}").read_text().splitlines():
                field, _, rest = line.partition(":")
                if field in fields:
                    megabytes[fields[field]] = int(rest.split()[0]) / 2**10
        return megabytes

    def tracebacks(self) -> list[str]:
        """The last line of each traceback in the log, with the file and line where it was raised."""
        messages, is_inside, raised_in = [], False, ""
        for line in self.log.read_text(errors="replace").splitlines():
            if "Traceback (most recent call last)" in line:
                is_inside = True
            elif is_inside and (match := FRAME.search(line)):
                raised_in = f"{'/'.join(Path(match[1]).parts[-3:])}:{match[2]}"
            elif is_inside and line and not line[0].isspace():
                messages.append(f"{line} ({raised_in})")
                is_inside = False
        return messages


@contextmanager
def serving(
    n: int, home: Path, options: Sequence[str] = (), variables: Mapping[str, str] | None = None
) -> Iterator[tuple[str, list[Process]]]:
    """Starts `n` processes and yields their common address and the processes; a single one is reached without a
    proxy.
    """
    with ExitStack() as stack:
        processes = []
        for number in range(n):
            processes.append(Process(home, f"process-{number + 1}", options, variables=variables))
            stack.callback(processes[-1].stop)
        if n == 1:
            yield f"http://{HOST}:{processes[0].port}", processes
        else:
            yield stack.enter_context(_proxy(home, [process.port for process in processes])), processes


@contextmanager
def _proxy(home: Path, ports: Sequence[int]) -> Iterator[str]:
    """Starts HAProxy in front of the processes at these ports, and yields its address."""
    if (program := shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")) is None:
        sys.exit(NO_PROXY)
    if len(ports) != len(VARIABLES):
        sys.exit(f"{CONFIGURATION.name} names {len(VARIABLES)} processes, and {len(ports)} were asked for")
    port, log = free_port(), home / "haproxy.log"
    addresses = {name: f"{HOST}:{port}" for name, port in zip(VARIABLES, ports, strict=True)}
    with log.open("w") as output:
        running = subprocess.Popen(
            [program, "-db", "-f", CONFIGURATION],
            env=os.environ | addresses | {"LOUPE_PROXY": f"{HOST}:{port}"},
            stdout=output,
            stderr=output,
        )
    try:
        wait_until(lambda: answers(port), running, log)
        yield f"http://{HOST}:{port}"
    finally:
        running.kill()
        running.wait()


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return probe.getsockname()[1]


def answers(port: int) -> bool:
    with closing(HTTPConnection(HOST, port, timeout=2)) as connection:
        try:
            connection.request("GET", "/_stcore/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False


def wait_until(ready: Callable[[], bool], running: subprocess.Popen, log: Path) -> None:
    """Waits until `ready()` is true; raises an error with the end of the log if the process ends first or takes too
    long.
    """
    give_up = time.monotonic() + START_UP
    while not ready():
        if running.poll() is not None or time.monotonic() > give_up:
            sys.exit(f"it did not start; it printed:\n{log.read_text()}")
        time.sleep(0.1)
