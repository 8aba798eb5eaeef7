"""The real app in a process of its own, as `make run` starts it."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOST = "127.0.0.1"
START_UP = 60  # seconds until it must answer, generous for a machine that is busy


@contextmanager
def serve(
    home: Path, script: Path = ROOT / "app.py", *, options: Sequence[str] = (), given: Sequence[str] = ()
) -> Iterator[str]:
    """Yields the address once the server answers. `home` stands in for the user's home folder.

    `options` are Streamlit's, what is `given` stands behind `--`.

    Raises RuntimeError with what the server printed where it dies or does not answer.
    """
    port = _free_port()
    log = home / "server.log"
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    command += ["--server.headless=true", "--server.fileWatcherType=none", *options, "--", *given]
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | {"HOME": str(home)}, stdout=output, stderr=output
        )
    try:
        give_up = time.monotonic() + START_UP
        while not _answers(port):
            if server.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError(f"the app did not start; it printed:\n{log.read_text()}")
            with suppress(subprocess.TimeoutExpired):
                server.wait(0.1)
        yield f"http://{HOST}:{port}"
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return probe.getsockname()[1]


def _answers(port: int) -> bool:
    with closing(HTTPConnection(HOST, port, timeout=1)) as connection:
        try:
            connection.request("GET", "/_stcore/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
