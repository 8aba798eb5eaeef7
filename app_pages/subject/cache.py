"""One cache for all sessions, bounded in bytes: encoders, and what they make of inputs.

A value is known by the function that makes it, by its checkpoint, name and hash of the files, and by plain values. Every
thread is handed the same object: arrays in it are read-only, and whoever reads it changes nothing else in it either.
Encoders lie in the same cache, under the same bound. Every run of a page asks for its encoder, which so is among the
last used: it is read again only where the bound holds less than the encoder and what one run makes with it.

After a GPU ran out of memory with an encoder, that encoder runs on the CPU (`is_on_cpu_instead`).
"""

import logging
import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from inspect import signature
from threading import Lock
from time import monotonic
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np
import pandas as pd
import streamlit as st
from cachetools import LRUCache

from model import checkpoint
from model.device import OutOfMemory, hand_back, one_thread
from model.loaded import Loaded

log = logging.getLogger(__name__)
one_thread()  # here, since every page imports this before its first forward

# A name; as the type of a parameter it tells `cached` whose files to watch.
Checkpoint = Annotated[str, "checkpoint"]
Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")

MB = 2**20
PLAIN = {str, int, float, bool, type(None)}  # a history may hold a million, so these are looked at first
BREAK = 10  # seconds from giving freed memory back to the system to the next time
DEFAULT_MB = 2048  # two encoders of BERT-base's size, and what each makes of 512 tokens


class Key(NamedTuple):
    """The key of a value: what made it, from which files, and from which plain values."""

    maker: str  # module and name of the function
    checkpoints: tuple[tuple[str, str], ...]  # name and hash of the files
    values: Hashable


class Cache:
    """Values by key, as many as fit into `n_bytes`; what was used longest ago goes first.

    Threads that miss one key at once make its value once; nobody waits for another key.
    """

    def __init__(self, n_bytes: int) -> None:
        self._lock = Lock()
        self._kept = _Kept(n_bytes, getsizeof=lambda sized: sized[1])
        self._under_way: dict[Hashable, Future] = {}
        self._handed_back = monotonic()

    def get(self, key: Hashable, make: Callable[[], Value], spinner: str | None = None) -> Value:
        """The value kept under `key`, or else what `make` returns, which is kept. An error of `make` is not kept."""
        while True:
            with self._lock:
                if key in self._kept:
                    return self._kept[key][0]
                if mine := key not in self._under_way:
                    self._under_way[key] = Future()
                under_way = self._under_way[key]
            if mine:
                return self._made(key, make, under_way, spinner)
            try:
                with _spinning(spinner):
                    return under_way.result()
            except CancelledError:
                continue

    def clear(self) -> None:
        self.forget(lambda _: True)

    def forget(self, which: Callable[[Hashable], bool]) -> None:
        """Drops the values whose keys `which` accepts."""
        with self._lock:
            for key in filter(which, list(self._kept)):
                del self._kept[key]

    def _made(
        self, key: Hashable, make: Callable[[], Value], under_way: Future, spinner: str | None
    ) -> Value:
        try:
            with _spinning(spinner):
                value = make()
            _freeze(value)
            size = size_of((key, value))
        except BaseException as error:
            with self._lock:
                del self._under_way[key]
            if isinstance(error, Exception):
                under_way.set_exception(error)
            else:
                under_way.cancel()  # Streamlit ended this session's run: who waited in another one begins anew
            raise
        with self._lock:
            del self._under_way[key]
            self._kept.keep(key, value, size)
            is_time = monotonic() - self._handed_back > BREAK
            if is_time:
                self._handed_back = monotonic()
        under_way.set_result(value)
        if is_time:
            hand_back()  # without it, freed memory between cached arrays grew a server by a quarter of a gigabyte
        return value


class _Kept(LRUCache):
    """Values with their sizes in bytes; writes into the log what is stored and what is dropped."""

    def keep(self, key: Hashable, value: Any, size: int) -> None:
        if size > self.maxsize:
            self._say("too large to keep", key, size)
            return
        self[key] = (value, size)
        self._say("kept", key, size)

    def popitem(self) -> tuple[Hashable, tuple[Any, int]]:
        key, (value, size) = super().popitem()
        self._say("dropped", key, size)
        return key, (value, size)

    def _say(self, what: str, key: Hashable, size: int) -> None:
        made = (
            " of ".join([key.maker, *(name for name, _ in key.checkpoints)]) if isinstance(key, Key) else key
        )
        filled = f"{len(self)} entries, {self.currsize / MB:,.1f} of {self.maxsize / MB:,.0f} MB"
        level = logging.INFO if size >= MB / 10 else logging.DEBUG
        log.log(level, "%s: %s, %.1f MB; cache: %s", what, made, size / MB, filled)


def size_of(value: object) -> int:
    """Bytes of `value` and of everything inside it; memory that several arrays or tensors share is counted once.

    What a library keeps where Python cannot see it, as a tokenizer its vocabulary, is not counted.
    """
    return sum(dict(map(_memory, _parts(value))).values())


def _freeze(value: object) -> None:
    for part in _parts(value):
        if isinstance(part, np.ndarray):
            part.setflags(write=False)


def _parts(value: object) -> Iterator[object]:
    """`value` and what it holds, each once."""
    seen, left = {}, [value]
    while left:
        part = left.pop()
        if id(part) not in seen:
            seen[id(part)] = part  # held until the end, or another could come to have its id
            left.extend(_held_by(part))
            yield part


def _held_by(part: object) -> Iterable[object]:
    if type(part) in PLAIN:
        return ()
    if isinstance(part, dict):
        return (*part, *part.values())
    if isinstance(part, list | tuple | set | frozenset):
        return part
    if is_dataclass(part) and not isinstance(part, type):
        return [getattr(part, field.name) for field in fields(part)]
    if hasattr(part, "named_parameters"):  # a module of torch
        return (*part.parameters(), *part.buffers())  # type: ignore[attr-defined]  # torch is not imported here
    return ()


def _memory(part: object) -> tuple[int, int]:
    """Address and size in bytes of the memory behind one part; for a view, of the array that it looks into."""
    if type(part) in PLAIN:
        return id(part), sys.getsizeof(part)
    if isinstance(part, np.ndarray):
        while isinstance(part.base, np.ndarray):
            part = part.base
        if not hasattr(part.base, "untyped_storage"):
            return part.ctypes.data, part.nbytes
        part = part.base
    if hasattr(part, "untyped_storage"):  # a tensor
        storage = part.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    if isinstance(part, pd.DataFrame | pd.Series):
        return id(part), int(np.sum(part.memory_usage(deep=True)))
    return id(part), sys.getsizeof(part)


def _spinning(text: str | None) -> Any:
    return st.spinner(text) if text else nullcontext()


def _bound() -> int:
    """The bound of the cache in bytes, as LOUPE_CACHE_MB sets it."""
    said = os.environ.get("LOUPE_CACHE_MB", str(DEFAULT_MB))
    if not said.isascii() or not said.isdigit():
        raise ValueError(f"LOUPE_CACHE_MB is a number of megabytes, got {said!r}")
    return int(said) * MB


_cache = Cache(_bound())
clear = _cache.clear


def of(
    make: Callable[..., Value], name: Checkpoint, *values: Any, spinner: str | None = None, **plain: Any
) -> Value:
    """`make(loaded(name), *values, **plain)`, made once for these values; `spinner` is shown while one waits.

    Raises as `loaded` and `make` do.
    """
    kept_for = (values, tuple(sorted(plain.items())))
    return keep(make, name, kept_for, lambda: make(loaded(name), *values, **plain), spinner)


def keep(
    function: Callable,
    name: Checkpoint,
    values: Hashable,
    make: Callable[[], Value],
    spinner: str | None = None,
) -> Value:
    """What `make` returns, made once for this function, checkpoint and these values."""
    return _get(Key(_maker(function), _with_hashes([name]), values), make, spinner)


@overload
def cached(
    make: Callable[Parameters, Value], *, spinner: str | None = None
) -> Callable[Parameters, Value]: ...
@overload
def cached(
    make: None = None, *, spinner: str | None = None
) -> Callable[[Callable[Parameters, Value]], Callable[Parameters, Value]]: ...
def cached(make: Callable[..., Any] | None = None, *, spinner: str | None = None) -> Callable[..., Any]:
    """Keeps what a function returns.

    The hash of the files is part of the key for parameters annotated `Checkpoint`, and for those annotated with a dataclass
    that has a field `checkpoint`.
    """
    if make is None:
        return partial(cached, spinner=spinner)
    maker, expected = _maker(make), signature(make)
    annotations = {name: parameter.annotation for name, parameter in expected.parameters.items()}
    checkpoints = [name for name, annotation in annotations.items() if annotation is Checkpoint]
    subjects = [
        name
        for name, annotation in annotations.items()
        if "checkpoint" in getattr(annotation, "__dataclass_fields__", ())
    ]

    @wraps(make)
    def kept(*args: Any, **kwargs: Any) -> Any:
        bound = expected.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        names = [arguments[name] for name in checkpoints]
        names += [arguments[name].checkpoint for name in subjects]
        key = Key(maker, _with_hashes(names), tuple(arguments.values()))
        return _get(key, lambda: make(*args, **kwargs), spinner)

    return kept


def _get(key: Key, make: Callable[[], Value], spinner: str | None) -> Value:
    """The value of `key`. If the GPU runs out of memory, its encoders move to the CPU, and the page is run again."""
    try:
        return _cache.get(key, make, spinner)
    except OutOfMemory:
        names = {name for name, _ in key.checkpoints}
        if not names:
            raise
    # Not inside the `except`: there the error's traceback still refers to tensors on the GPU.
    is_new = not names <= _on_cpu
    _on_cpu.update(names)
    _cache.forget(
        lambda kept: isinstance(kept, Key) and kept.maker == LOADED and kept.checkpoints[0][0] in names
    )
    hand_back()
    if is_new:
        st.rerun()  # so that the page says it at its top; outside of a session this does nothing
    return _cache.get(key, make, spinner)


def _maker(make: Callable) -> str:
    name = f"{make.__module__}.{make.__qualname__}"
    if "<" in name:
        raise ValueError(f"the functions called {name} could not be told apart: take one of a module")
    return name


def _with_hashes(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _fingerprint(name)) for name in names)


def _fingerprint(name: str) -> str:
    known = _fingerprints.get()
    if known is None:
        return checkpoint.fingerprint(name)
    if name not in known:
        known[name] = checkpoint.fingerprint(name)
    return known[name]


_fingerprints: ContextVar[dict[str, str] | None] = ContextVar("fingerprints", default=None)


@contextmanager
def one_run() -> Iterator[None]:
    """Around the drawing of a page, which asks hundreds of times: the files of each encoder are looked at once."""
    token = _fingerprints.set({})
    try:
        yield
    finally:
        _fingerprints.reset(token)


_on_cpu: set[str] = set()  # the encoders that were too large for the GPU


def is_on_cpu_instead(name: str) -> bool:
    """Whether an encoder runs on the CPU because the GPU ran out of memory with it."""
    return name in _on_cpu


@cached(spinner="Reading the encoder …")
def loaded(name: Checkpoint) -> Loaded:
    """Raises as `model.checkpoint.load` does."""
    if name not in _on_cpu:
        try:
            return checkpoint.load(name)
        except OutOfMemory:
            _on_cpu.add(name)
        hand_back()
    return checkpoint.load(name, "cpu")


LOADED = _maker(loaded)
