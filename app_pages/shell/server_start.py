"""Settings at the server's start with which it answers the browser quickly while it imports torch in another thread."""

import ctypes
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from types import ModuleType

PATIENCE = 0.0005  # seconds; Python's own is ten times as long
_TORCH = "libtorch_cpu.so"  # nine tenths of what is linked with torch
_META = "torch._meta_registrations"  # how operators act on tensors that have a shape and no values
_LOCK = RLock()


def send_at_once() -> None:
    """Sets TCP_NODELAY on the sockets of this process, and so on all connections that they will accept.

    Streamlit's server answers in two packets, head and content. Without the option the second one waits until the browser
    has acknowledged the first, which takes 40 ms for each of a hundred files. asyncio sets it only on sockets that were made
    with the number of the protocol, which Streamlit's is not. Where the system lists no open files nothing changes.
    """
    with suppress(OSError):
        for descriptor in [*Path("/dev/fd").iterdir()]:
            # A copy of the descriptor is of the same socket; most descriptors are of none.
            with suppress(OSError), socket.socket(fileno=os.dup(int(descriptor.name))) as opened:
                if opened.family in (socket.AF_INET, socket.AF_INET6) and opened.type == socket.SOCK_STREAM:
                    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@contextmanager
def taking_turns() -> Iterator[None]:
    """Context manager: Python's lock (the GIL) changes between threads ten times as often, so that the thread that answers the
    browser waits less for the one that imports modules.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(PATIENCE)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class _Deferred(ModuleType):
    """Stands in for a module of torch until a name in it is asked for."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # the import system looks for these
            raise AttributeError(name)
        import_rest_of_torch()
        return getattr(import_module(_META), name)


def defer_rest_of_torch() -> None:
    """Lets the next `import torch` leave out a quarter of its work: what `torch.compile` needs to know about operators.

    `import_rest_of_torch` makes up for it. Where torch has been imported, or has no such module, nothing changes.
    """
    torch = find_spec("torch")
    if "torch" in sys.modules or torch is None or torch.origin is None:
        return
    if Path(torch.origin).with_name(f"{_META.rpartition('.')[2]}.py").is_file():
        sys.modules[_META] = _Deferred(_META)


def import_rest_of_torch() -> None:
    """Imports what `defer_rest_of_torch` left out; where nothing was, or it is there by now, nothing changes."""
    with _LOCK:
        if isinstance(sys.modules.get(_META), _Deferred):
            del sys.modules[_META]
            import_module(_META)


def link_torch() -> None:
    """Links torch's largest library, of 400 MB, which `import torch` then finds in memory.

    `import` would hold Python's lock meanwhile, and the browser wait a sixth of a second for its first file. A call by way
    of ctypes holds no lock. Where torch has no such file, nothing happens.
    """
    torch = find_spec("torch")
    if torch is None or torch.origin is None or os.name != "posix":
        return
    library = Path(torch.origin).parent / "lib" / _TORCH
    if library.is_file():
        link = ctypes.CDLL(None).dlopen
        link.argtypes, link.restype = (ctypes.c_char_p, ctypes.c_int), ctypes.c_void_p
        link(os.fsencode(library), os.RTLD_NOW)
