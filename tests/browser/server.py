"""Starts the real app in a separate process, as `make run` does."""

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
START_UP = 180  # seconds until it must answer, generous for a machine that is busy


@contextmanager
def serve(
    home: Path, script: Path = ROOT / "app.py", *, options: Sequence[str] = (), arguments: Sequence[str] = ()
) -> Iterator[str]:
    """Starts the app and yields its URL once the server answers; stops the server at the end.

    `home` replaces the user's home folder. `options` are passed to Streamlit, `arguments` behind `--` to the app.

    Raises RuntimeError with what the server printed where it dies or does not answer.
    """
    port = _free_port()
    log = home / "server.log"
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    command += ["--server.headless=true", "--server.fileWatcherType=none", *options, "--", *arguments]
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
