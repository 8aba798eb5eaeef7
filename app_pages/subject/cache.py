"""One cache for all sessions, limited in bytes: encoders and everything computed from them.

A value is stored under the function that makes it, the encoder's name and fingerprint (a hash of its files), and plain arguments.
All threads get the same object: its arrays are read-only, and nobody may change anything else in it. Encoders are in the same
cache, under the same limit.

Within one run of a page (`one_run`) a name always means the same encoder, even if its files are replaced meanwhile. The run keeps
the values it has used until its end, even if they exceed the limit: otherwise two large records of one page would evict each
other. If memory for a record is missing, the values that no run holds are dropped.

After a GPU ran out of memory with an encoder, that encoder runs on the CPU (`is_on_cpu_instead`).
"""

import logging
import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial, wraps
from inspect import signature
from threading import Lock
from time import monotonic
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar, overload
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st
from cachetools import LRUCache
from streamlit.runtime.scriptrunner import get_script_run_ctx

from model import checkpoint
from model.device import OutOfMemory, machine_memory, release_memory, use_one_thread
from model.loaded import Loaded

log = logging.getLogger(__name__)
use_one_thread()  # here, since every page imports this before its first forward

# A name; as the type of a parameter it tells `cached` which encoder's fingerprint belongs to the key.
Checkpoint = Annotated[str, "checkpoint"]
Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")

MB = 2**20
# a history may hold a million of these, so they are looked at first
PLAIN_TYPES = {str, int, float, bool, type(None)}
RELEASE_INTERVAL = 10  # seconds between two returns of freed memory to the system
MIN_CACHE_MB = 2048  # room for two encoders of BERT-base's size, and what each makes of 512 tokens
MEMORY_DIVISOR = (
    4  # the cache takes a quarter of the memory; a page about ModernBERT-base needs 2.2 GB at 512 tokens
)


class Key(NamedTuple):
    """Key of a value: the function that made it, the encoders (name, fingerprint), and its plain arguments."""

    function_name: str  # module and name of the function
    encoders: tuple[tuple[str, str], ...]  # name and fingerprint
    arguments: Hashable


@dataclass
class _Run:
    """What one run of a page has used: the fingerprints of encoders by name, and values by key."""

    fingerprints: dict[str, str] = field(default_factory=dict)
    values: dict[Hashable, Any] = field(default_factory=dict)


_current_run: ContextVar[_Run | None] = ContextVar("run", default=None)


@contextmanager
def one_run() -> Iterator[None]:
    """Context for one run of a page, or for one download, in which a name always means the same encoder and no value is computed
    twice.
    """
    run = _Run()
    token = _current_run.set(run)
    try:
        yield
    finally:
        _current_run.reset(token)
        run.values.clear()  # a copy of the context that something made meanwhile may live on


class Cache:
    """Values by key, up to `n_bytes` in total; the least recently used value is dropped first.

    If several threads miss the same key at once, one of them makes the value and the others wait; other keys are not blocked.
    """

    def __init__(self, n_bytes: int) -> None:
        self._lock = Lock()
        self._stored = _StoredValues(n_bytes, getsizeof=lambda sized: sized[1])
        self._locks: WeakValueDictionary[Hashable, Lock] = WeakValueDictionary()  # one lock a key
        self._last_release = monotonic()

    def get(self, key: Hashable, make: Callable[[], Value], spinner: str | None = None) -> Value:
        """The value stored under `key` or held by this run; else the result of `make`, which is then stored. An exception of
        `make` is not stored.
        """
        run_values = (_current_run.get() or _Run()).values
        with self._lock:
            if key in self._stored:
                run_values[key] = self._stored[key][0]
            if key in run_values:
                return run_values[key]
            key_lock = self._locks.setdefault(key, Lock())
        with _spinner(spinner), key_lock:
            with self._lock:
                stored = self._stored.get(key)
            if stored is not None:  # made while this thread waited
                value = stored[0]
            else:
                value = make()
                for part in _objects_inside(value):
                    if isinstance(part, np.ndarray):
                        part.setflags(write=False)
                self._keep(key, value)
        run_values[key] = value
        return value

    def clear(self) -> None:
        """Drops all values, those that this run holds too."""
        self.forget(lambda _: True)

    def forget(self, accepts: Callable[[Hashable], bool]) -> None:
        """Drops the values whose keys satisfy the predicate `accepts`, including those that this run holds."""
        self.drop_stored(accepts)
        run = _current_run.get() or _Run()
        for key in filter(accepts, list(run.values)):
            del run.values[key]

    def drop_stored(self, accepts: Callable[[Hashable], bool] = lambda _: True) -> None:
        """Drops the stored values whose keys satisfy the predicate `accepts`, by default all; values that a run holds
        stay in memory until its end.
        """
        with self._lock:
            for key in filter(accepts, list(self._stored)):
                del self._stored[key]

    def _keep(self, key: Hashable, value: Any) -> None:
        size = size_of((key, value))
        with self._lock:
            self._stored.keep(key, value, size)
            is_release_due = monotonic() - self._last_release > RELEASE_INTERVAL
            if is_release_due:
                self._last_release = monotonic()
        if is_release_due:
            release_memory()  # without it, freed memory between cached arrays grew a server by a quarter of a gigabyte


class _StoredValues(LRUCache):
    """The stored values with their sizes in bytes; logs what is stored and what is dropped."""

    def keep(self, key: Hashable, value: Any, size: int) -> None:
        if size > self.maxsize:
            self._log("too large to keep", key, size)
            return
        self[key] = (value, size)
        self._log("kept", key, size)

    def popitem(self) -> tuple[Hashable, tuple[Any, int]]:
        key, (value, size) = super().popitem()
        self._log("dropped", key, size)
        return key, (value, size)

    def _log(self, event: str, key: Hashable, size: int) -> None:
        label = (
            " of ".join([key.function_name, *(name for name, _ in key.encoders)])
            if isinstance(key, Key)
            else key
        )
        cache_size = f"{len(self)} entries, {self.currsize / MB:,.1f} of {self.maxsize / MB:,.0f} MB"
        level = logging.INFO if size >= MB / 10 else logging.DEBUG
        log.log(level, "%s: %s, %.1f MB; cache: %s", event, label, size / MB, cache_size)


def size_of(value: object) -> int:
    """Bytes of `value` and of everything inside it; memory that several arrays or tensors share is counted once.

    Memory that a library holds outside of Python, such as a tokenizer's vocabulary, is not counted.
    """
    return sum(dict(map(_address_and_size, _objects_inside(value))).values())


def _objects_inside(value: object) -> Iterator[object]:
    """Yields `value` and all objects inside it, each once."""
    by_id, stack = {}, [value]
    while stack:
        part = stack.pop()
        if id(part) not in by_id:
            by_id[id(part)] = part  # held until the end, or another could come to have its id
            stack.extend(_direct_contents(part))
            yield part


def _direct_contents(part: object) -> Iterable[object]:
    if type(part) in PLAIN_TYPES:
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


def _address_and_size(part: object) -> tuple[int, int]:
    """Address and size in bytes of an object's memory; for a view those of the array that it refers to."""
    if type(part) in PLAIN_TYPES:
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
    if hasattr(part, "memory_usage"):  # a frame of pandas
        return id(part), int(np.sum(part.memory_usage(deep=True)))
    return id(part), sys.getsizeof(part)


def _spinner(text: str | None) -> Any:
    has_page = get_script_run_ctx(suppress_warning=True) is not None  # the server's start has none
    return st.spinner(text) if text and has_page else nullcontext()


def _size_limit() -> int:
    """Largest size of the cache in bytes: LOUPE_CACHE_MB, or else a quarter of the memory, and at least `MIN_CACHE_MB`.

    Raises ValueError unless LOUPE_CACHE_MB is a whole number.
    """
    text = os.environ.get("LOUPE_CACHE_MB")
    if text is None:
        return max(MIN_CACHE_MB * MB, (machine_memory() or 0) // MEMORY_DIVISOR)
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"LOUPE_CACHE_MB is a number of megabytes, got {text!r}")
    return int(text) * MB


_cache = Cache(_size_limit())
clear = _cache.clear


def of(
    make: Callable[..., Value], name: Checkpoint, *values: Any, spinner: str | None = None, **options: Any
) -> Value:
    """Result of `make(encoder, *values, **options)` for the encoder `name`, cached; the text `spinner` is shown while it is
    computed.

    Raises the errors of `loaded` and `make`.
    """
    arguments = (values, tuple(sorted(options.items())))
    return keep(make, [name], arguments, lambda: make(loaded(name), *values, **options), spinner)


@overload
def cached(
    make: Callable[Parameters, Value], *, spinner: str | None = None
) -> Callable[Parameters, Value]: ...
@overload
def cached(
    make: None = None, *, spinner: str | None = None
) -> Callable[[Callable[Parameters, Value]], Callable[Parameters, Value]]: ...
def cached(make: Callable[..., Any] | None = None, *, spinner: str | None = None) -> Callable[..., Any]:
    """Decorator that caches what a function returns, by its arguments.

    The hash of a checkpoint's files is part of the key for parameters annotated `Checkpoint`, and for those annotated with
    a dataclass that has a field `checkpoint`.
    """
    if make is None:
        return partial(cached, spinner=spinner)
    _function_name(make)  # refuses a function without a name of its own
    expected = signature(make)
    annotations = {name: parameter.annotation for name, parameter in expected.parameters.items()}
    checkpoints = [name for name, annotation in annotations.items() if annotation is Checkpoint]
    subjects = [
        name
        for name, annotation in annotations.items()
        if "checkpoint" in getattr(annotation, "__dataclass_fields__", ())
    ]

    @wraps(make)
    def cached_function(*args: Any, **kwargs: Any) -> Any:
        bound = expected.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        names = [arguments[name] for name in checkpoints]
        names += [arguments[name].checkpoint for name in subjects]
        return keep(make, names, tuple(arguments.values()), lambda: make(*args, **kwargs), spinner)

    return cached_function


def keep(
    function: Callable,
    names: Iterable[str],
    values: Hashable,
    make: Callable[[], Value],
    spinner: str | None = None,
) -> Value:
    """Result of `make`, cached under `function`, the encoders `names` and the arguments `values`.

    If memory is missing, tries again without the stored values that no run holds. If the GPU runs out of memory, moves the
    encoders to the CPU and reruns the page.
    """
    key = Key(_function_name(function), tuple((name, _fingerprint(name)) for name in names), values)
    try:
        return _cache.get(key, make, spinner)
    except MemoryError:
        is_gpu_full = False
    except OutOfMemory:
        if not key.encoders:
            raise
        is_gpu_full = True
    # Not inside the `except`: there the error's traceback still refers to the tensors.
    if is_gpu_full:
        _move_to_cpu({name for name, _ in key.encoders})
    else:
        _cache.drop_stored()
    release_memory()
    return _cache.get(key, make, spinner)


def _move_to_cpu(names: set[str]) -> None:
    """Makes these encoders run on the CPU from now on, and reruns the page, which then says so at its top."""
    is_new = not names <= _on_cpu
    _on_cpu.update(names)
    _cache.forget(
        lambda key: isinstance(key, Key) and key.function_name == LOADED_NAME and key.encoders[0][0] in names
    )
    release_memory()
    if is_new:
        st.rerun()  # outside of a session this does nothing


def _function_name(make: Callable) -> str:
    name = f"{make.__module__}.{make.__qualname__}"
    if "<" in name:
        raise ValueError(f"the functions called {name} could not be told apart: take one of a module")
    return name


def _fingerprint(name: str) -> str:
    """The hash of an encoder's files, computed once per run because a page needs it hundreds of times."""
    fingerprints = (_current_run.get() or _Run()).fingerprints
    if name not in fingerprints:
        fingerprints[name] = checkpoint.fingerprint(name)
    return fingerprints[name]


_on_cpu: set[str] = set()  # the encoders that were too large for the GPU


def is_on_cpu_instead(name: str) -> bool:
    """Whether an encoder runs on the CPU because the GPU ran out of memory with it."""
    return name in _on_cpu


@cached(spinner="Reading the encoder …")
def loaded(name: Checkpoint) -> Loaded:
    """The encoder of this name, in memory.

    Raises the errors of `model.checkpoint.load`, and ValueError if its files were replaced since this run began.
    """
    fingerprint = _fingerprint(name)
    encoder = _read(name)
    if checkpoint.fingerprint(name) != fingerprint:
        raise ValueError(f"the files of {encoder.name} were replaced while they were read: reload this page")
    return encoder


def _read(name: str) -> Loaded:
    if name not in _on_cpu:
        try:
            return checkpoint.load(name)
        except OutOfMemory:
            _on_cpu.add(name)
        release_memory()
    return checkpoint.load(name, "cpu")


LOADED_NAME = _function_name(loaded)
