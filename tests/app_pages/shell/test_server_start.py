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


# a Fourier transform of a tensor without values is one of the operators that torch explains in the deferred module
_FOURIER = "torch.fft.rfft(torch.empty(4, 6, device='meta')).shape"


@pytest.mark.parametrize(
    "then",
    [
        "server_start.import_rest_of_torch()",
        "from torch._meta_registrations import register_meta",
        "import torch._meta_registrations as left_out\nleft_out.register_meta",
    ],
)
def test_what_the_import_of_torch_left_out_is_there_once_it_is_wanted(then: str) -> None:
    script = (
        "import sys\nfrom app_pages.shell import server_start\nserver_start.defer_rest_of_torch()\nimport torch\n"
        "print((torch.eye(3) @ torch.ones(3)).sum().item())\n"
        f"try:\n    {_FOURIER}\nexcept NotImplementedError:\n    print('deferred')\n"
        f"{then}\nprint(*{_FOURIER})\nserver_start.import_rest_of_torch()\nserver_start.defer_rest_of_torch()\n"
        "print(*torch._meta_registrations.register_meta.__module__.split('.'))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["3.0", "deferred", "4 4", "torch _meta_registrations"], done.stderr


def test_a_torch_without_that_module_is_imported_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_start, "_META", "torch._of_another_version")
    monkeypatch.delitem(sys.modules, "torch")
    server_start.defer_rest_of_torch()
    assert "torch._of_another_version" not in sys.modules
    server_start.import_rest_of_torch()
