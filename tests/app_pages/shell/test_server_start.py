"""The server's start keeps neither the browser nor Python's lock waiting."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app_pages.shell import server_start

ROOT = Path(__file__).parents[3]


def test_connections_send_small_packets_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not server.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        server_start.send_at_once()
        with socket.create_connection(server.getsockname()), server.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_where_the_system_lists_no_open_files_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_start, "Path", lambda _: Path("nowhere"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        server_start.send_at_once()
        assert not server.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_threads_take_turns_until_the_end_of_the_context() -> None:
    before = sys.getswitchinterval()
    with server_start.taking_turns():
        assert sys.getswitchinterval() == pytest.approx(server_start.PATIENCE)
    assert sys.getswitchinterval() == before


@pytest.mark.parametrize("library", ["libtorch_cpu.so", "of another system"])
def test_torch_works_whether_or_not_its_library_was_linked_before(library: str) -> None:
    script = (
        f"import sys\nfrom app_pages.shell import server_start\nserver_start._TORCH = {library!r}\n"
        "server_start.link_torch()\nassert 'torch' not in sys.modules\nimport torch\nprint((torch.eye(3) @ torch.ones(3)).sum().item())"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["3.0"], done.stderr
