import logging
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass
from threading import Event

import numpy as np
import pandas as pd
import pytest
import torch

from app_pages.subject import cache
from app_pages.subject.cache import MB, Cache, Checkpoint, cached, size_of
from model import checkpoint
from model.capture import capture
from model.loaded import Loaded
from tests.model import tiny

PATIENCE = 60  # seconds after which a test that waits for ever is given up


class Counted:
    """Makes a value, and counts how often."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make, self.times = make, 0

    def __call__(self) -> object:
        self.times += 1
        return self.make()


class Full:
    """Finds the memory full the first few times."""

    def __init__(self, n_times: int) -> None:
        self.__qualname__ = "Full"
        self.n_times, self.attempts = n_times, 0

    def __call__(self, encoder: Loaded) -> str:  # noqa: ARG002
        self.attempts += 1
        if self.attempts <= self.n_times:
            raise MemoryError(f"full at attempt {self.attempts}")
        return f"attempt {self.attempts}"


def megabytes(n: float) -> Counted:
    return Counted(lambda: np.zeros(int(n * MB), np.uint8))


# What is kept


def test_a_value_is_made_once_and_is_the_same_object_ever_after():
    kept, make = Cache(MB), Counted(lambda: [1, 2])
    assert kept.get("a", make) is kept.get("a", make)
    assert make.times == 1


def test_what_was_used_longest_ago_goes_first():
    kept = Cache(int(3.5 * MB))
    makes = {key: megabytes(1) for key in "abcd"}
    for key in "abcad":  # d has no room beside the others, and b was used longest ago
        kept.get(key, makes[key])
    for key in "acd":
        kept.get(key, makes[key])
    assert {key: make.times for key, make in makes.items()} == {"a": 1, "b": 1, "c": 1, "d": 1}
    kept.get("b", makes["b"])
    assert makes["b"].times == 2


def test_what_is_larger_than_the_bound_is_handed_on_and_drives_nothing_out(caplog):
    kept, small, large = Cache(2 * MB), megabytes(1), megabytes(2)
    kept.get("small", small)
    with caplog.at_level(logging.INFO, logger="app_pages.subject.cache"):
        assert kept.get("large", large).nbytes == 2 * MB
        kept.get("large", large)
    assert large.times == 2
    assert "too large to keep: large, 2.0 MB; cache: 1 entries, 1.0 of 2 MB" in caplog.messages[0]
    kept.get("small", small)
    assert small.times == 1


def test_what_comes_and_goes_is_in_the_log(caplog):
    kept = Cache(4 * MB)
    with caplog.at_level(logging.INFO, logger="app_pages.subject.cache"):
        for key in ("a", "b", "b"):
            kept.get(key, megabytes(2.5))
    assert caplog.messages == [
        "kept: a, 2.5 MB; cache: 1 entries, 2.5 of 4 MB",
        "dropped: a, 2.5 MB; cache: 0 entries, 0.0 of 4 MB",
        "kept: b, 2.5 MB; cache: 1 entries, 2.5 of 4 MB",
    ]


def test_within_a_run_values_that_drop_one_another_are_made_once():
    kept, makes = Cache(3 * MB), {"before": megabytes(2), "after": megabytes(2), "too large": megabytes(4)}
    for n_runs in (1, 2):
        with cache.one_run():
            got = {key: [kept.get(key, make) for _ in range(2)] for key, make in makes.items()}
            again = {key: kept.get(key, make) for key, make in makes.items()}
        assert all(one is other is again[key] for key, (one, other) in got.items())
        assert [make.times for make in makes.values()] == [n_runs] * 3


def test_what_a_run_alone_held_is_gone_after_it():
    kept, make = Cache(MB), megabytes(2)
    with cache.one_run():
        value = weakref.ref(kept.get("a", make))
        assert value() is not None
        context = copy_context()  # as timers and tasks of the server make one
    assert value() is None
    assert context.run(kept.get, "a", make) is not None


def test_another_run_at_the_same_time_does_not_see_what_this_one_holds():
    kept, make = Cache(MB), megabytes(2)

    def run() -> None:
        with cache.one_run():
            kept.get("a", make)

    with cache.one_run(), ThreadPoolExecutor(1) as threads:
        kept.get("a", make)
        threads.submit(run).result()
        kept.get("a", make)
    assert make.times == 2


def test_what_is_forgotten_is_not_held_either():
    kept, make = Cache(4 * MB), megabytes(1)
    with cache.one_run():
        kept.get("a", make)
        kept.drop_stored()
        kept.get("a", make)
        assert make.times == 1
        kept.clear()
        kept.get("a", make)
    assert make.times == 2


@pytest.mark.usefixtures("checkpoints")
def test_where_memory_is_missing_what_no_run_holds_makes_room():
    cache.clear()
    with_defaults(1)
    with pytest.raises(MemoryError, match="full at attempt 2"):
        cache.of(Full(99), "mnist-pre-ln")
    encoder = cache.loaded("mnist-pre-ln")
    assert cache.of(Full(1), "mnist-pre-ln") == "attempt 2"
    assert cache.loaded("mnist-pre-ln") is not encoder  # it was read again


def test_arrays_are_read_only_wherever_they_are():
    inner = np.zeros(3)
    made = Cache(MB).get("a", lambda: {"pair": (inner, [np.ones(2)])})
    for array in (inner, made["pair"][1][0]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("value", ["", "much", "-5", "1.5"])
def test_a_bound_that_is_no_number_is_refused(monkeypatch, value):
    monkeypatch.setenv("LOUPE_CACHE_MB", value)
    with pytest.raises(ValueError, match=f"got '{value}'"):
        cache._size_limit()


@pytest.mark.parametrize(
    ("text", "memory", "bound"),
    [
        ("300", None, 300 * MB),
        (None, None, 2048 * MB),
        (None, 4096 * MB, 2048 * MB),
        (None, 16_000 * MB, 4000 * MB),
    ],
)
def test_without_a_bound_it_is_a_quarter_of_the_memory_and_at_least_two_gigabytes(
    monkeypatch, text, memory, bound
):
    monkeypatch.delenv("LOUPE_CACHE_MB", raising=False)
    if text is not None:
        monkeypatch.setenv("LOUPE_CACHE_MB", text)
    monkeypatch.setattr(cache, "machine_memory", lambda: memory)
    assert cache._size_limit() == bound


# Sizes


@dataclass(frozen=True, slots=True)
class Pair:
    one: object
    other: object


ARRAY = np.zeros((10, 100), np.float32)  # 4,000 bytes
TENSOR = torch.zeros(50, 20)  # 4,000 bytes
MODULE = torch.nn.Linear(9, 100)  # 900 and 100 numbers
TIED = torch.nn.ModuleList([MODULE, MODULE])


@pytest.mark.parametrize(
    ("value", "n_bytes", "held_in"),
    [
        (ARRAY, 4_000, []),
        (ARRAY[3], 4_000, []),  # of a view all that it holds on to
        ((ARRAY, ARRAY), 4_000, [(1, 2)]),
        ([ARRAY[:2], ARRAY.T], 4_000, [[1, 2]]),
        ((ARRAY, ARRAY.copy()), 8_000, [(1, 2)]),
        (Pair(ARRAY, ARRAY.copy()), 8_000, [Pair(1, 2)]),
        ({"a": ARRAY}, 4_000, [{"a": 1}, "a"]),
        (TENSOR, 4_000, []),
        (TENSOR.numpy(), 4_000, []),
        ((TENSOR[:5].numpy(), TENSOR[5:].numpy(), TENSOR), 4_000, [(1, 2, 3)]),
        (MODULE, 4_000, [MODULE]),
        (TIED, 4_000, [TIED]),
        ("some words", 0, ["some words"]),
    ],
)
def test_sizes(value, n_bytes, held_in):
    assert size_of(value) == n_bytes + sum(map(sys.getsizeof, held_in))


def test_of_a_frame_the_columns_are_counted():
    frame = pd.DataFrame({"a": np.zeros(1_000), "b": np.zeros(1_000, np.uint8)})
    assert 9_000 <= size_of(frame) < 9_500


def test_of_a_record_the_arrays_are_counted_each_once():
    record = capture(tiny.loaded(tiny.TEXT), "not great film")
    arrays = [
        getattr(record, name) for name in ("scores", "pattern", "q", "k", "v", "z", "residual", "logits")
    ]
    n_bytes = sum(array.nbytes for array in arrays) + record.logits_by_layer.nbytes
    assert n_bytes <= size_of(record) < n_bytes + 10_000


def test_what_a_value_is_known_by_counts_as_well():
    kept, make = Cache(2 * MB), Counted(lambda: 0)
    for _ in range(2):
        kept.get(b"x" * (2 * MB), make)
    assert make.times == 2


# Threads


class Watched:
    """A key that tells when a thread looks for it, which it does with the cache's lock held."""

    def __init__(self) -> None:
        self.arrived = Event()

    def __hash__(self) -> int:
        self.arrived.set()
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Watched)


class Slow(Counted):
    """Makes its value once it is let go."""

    def __init__(self, make: Callable[[], object]) -> None:
        super().__init__(make)
        self.begun, self.let_go = Event(), Event()

    def __call__(self) -> object:
        self.begun.set()
        assert self.let_go.wait(PATIENCE)
        return super().__call__()


def four_requests(kept: Cache, make: Slow, others: Counted | None = None) -> list[Future]:
    """One thread makes the value, three more ask for it before it is let go."""
    with ThreadPoolExecutor(4) as threads:
        requests = [threads.submit(kept.get, Watched(), make)]
        assert make.begun.wait(PATIENCE)
        for key in (Watched(), Watched(), Watched()):
            requests.append(threads.submit(kept.get, key, others or make))
            assert key.arrived.wait(PATIENCE)
        make.let_go.set()
    return requests


def test_threads_that_miss_one_key_at_once_make_its_value_once():
    make = Slow(lambda: np.zeros(3))
    first, *others = (future.result() for future in four_requests(Cache(MB), make))
    assert all(other is first for other in others)
    assert make.times == 1


def test_nobody_waits_for_another_key():
    kept, slow = Cache(MB), Slow(lambda: "slow")
    with ThreadPoolExecutor(2) as threads:
        waiting = threads.submit(kept.get, "slow", slow)
        assert slow.begun.wait(PATIENCE)
        assert threads.submit(kept.get, "quick", lambda: "quick").result(PATIENCE) == "quick"
        slow.let_go.set()
        assert waiting.result(PATIENCE) == "slow"


class Stopped(BaseException):
    """As Streamlit's, when a session's run is over before its end."""


@pytest.mark.parametrize("error", [ZeroDivisionError, Stopped])
def test_an_error_or_a_stopped_session_is_not_kept_and_who_waited_tries_again(error):
    def fail() -> None:
        raise error

    again = Counted(lambda: "mended")
    first, *others = four_requests(Cache(MB), Slow(fail), again)
    assert type(first.exception()) is error
    assert [future.result() for future in others] == ["mended"] * 3
    assert again.times == 1


# Checkpoints and plain values


def shape_of(encoder: Loaded, *values: object, **plain: object) -> list:
    return [encoder.name, encoder.config.n_heads, *values, plain]


@pytest.mark.usefixtures("checkpoints")
def test_of_a_checkpoint_and_values():
    made = cache.of(shape_of, "mnist-pre-ln", "great", 3, layer=1)
    assert made == ["mnist-pre-ln", 2, "great", 3, {"layer": 1}]
    assert cache.of(shape_of, "mnist-pre-ln", "great", 3, layer=1) is made
    for other in (("mnist-post-ln", "great", 3), ("mnist-pre-ln", "bad", 3), ("mnist-pre-ln", "great", 4)):
        assert cache.of(shape_of, *other, layer=1) == [other[0], 2, *other[1:], {"layer": 1}]
    assert cache.of(shape_of, "mnist-pre-ln", "great", 3, layer=0)[-1] == {"layer": 0}


def test_a_replaced_checkpoint_is_noticed(checkpoints):
    def values() -> tuple:
        return (
            cache.loaded("mnist-pre-ln"),
            cache.of(shape_of, "mnist-pre-ln"),
            named("mnist-pre-ln", "mnist-post-ln"),
            cache.loaded("mnist-post-ln"),
        )

    before = values()
    assert all(one is other for one, other in zip(before, values(), strict=True))
    checkpoint.save(checkpoints / "mnist-pre-ln", tiny.build(tiny.DIGIT, seed=9), {})
    after = values()
    assert [one is other for one, other in zip(before, after, strict=True)] == [False, False, False, True]
    assert all(one is other for one, other in zip(after, values(), strict=True))


def test_a_run_keeps_its_encoder_though_the_files_are_replaced(checkpoints):
    def encoders() -> tuple[Loaded, Loaded]:
        return cache.loaded("mnist-pre-ln"), cache.of(itself, "mnist-pre-ln")

    with cache.one_run():
        before = cache.loaded("mnist-pre-ln")
        checkpoint.save(checkpoints / "mnist-pre-ln", tiny.build(tiny.DIGIT, seed=9), {})
        assert encoders() == (before, before)
    with cache.one_run():
        one, other = encoders()
    assert one is other is not before


@pytest.mark.parametrize("in_one_run", [False, True])
def test_an_encoder_that_is_replaced_while_it_is_read_is_refused_once(monkeypatch, checkpoints, in_one_run):
    cache.clear()

    def load_and_replace(name: str) -> Loaded:
        encoder = load(name)
        checkpoint.save(checkpoints / name, tiny.build(tiny.DIGIT, seed=9), {})
        return encoder

    load = checkpoint.load
    with monkeypatch.context() as patch, cache.one_run() if in_one_run else nullcontext():
        patch.setattr(checkpoint, "load", load_and_replace)
        with pytest.raises(ValueError, match="the files of mnist-pre-ln were replaced while they were read"):
            cache.loaded("mnist-pre-ln")
    weights = cache.loaded("mnist-pre-ln").model.state_dict()
    assert all(
        torch.equal(value, weights[name])
        for name, value in tiny.build(tiny.DIGIT, seed=9).state_dict().items()
    )


def itself(encoder: Loaded) -> Loaded:
    return encoder


@cached
def named(one: Checkpoint, other: Checkpoint) -> list[str]:
    return [one, other]


@cached
def with_defaults(n: int, *, layer: int = 0, name: str = "nowhere") -> list:
    """Its doc."""
    return [n, layer, name]


def test_however_values_are_handed_over_they_are_the_same():
    cache.clear()
    made = with_defaults(1)
    assert made == [1, 0, "nowhere"]
    assert with_defaults(n=1, layer=0) is with_defaults(1, name="nowhere") is made
    assert with_defaults(1, layer=2) == [1, 2, "nowhere"]
    assert (with_defaults.__name__, with_defaults.__doc__) == ("with_defaults", "Its doc.")


@pytest.mark.usefixtures("checkpoints")
def test_where_there_is_no_such_checkpoint_it_says_so():
    with pytest.raises(FileNotFoundError, match="no checkpoint 'missing'"):
        cache.of(shape_of, "missing")


@pytest.mark.usefixtures("checkpoints")
def test_functions_that_could_not_be_told_apart_are_refused():
    with pytest.raises(ValueError, match="could not be told apart"):
        cache.of(lambda encoder: encoder.name, "mnist-pre-ln")


@pytest.mark.usefixtures("checkpoints")
def test_the_log_says_what_was_made_of_which_checkpoint(caplog):
    cache.clear()
    with caplog.at_level(logging.DEBUG, logger="app_pages.subject.cache"):  # these are small
        cache.of(shape_of, "mnist-pre-ln")
    texts = [message for name, _, message in caplog.record_tuples if name == "app_pages.subject.cache"]
    assert texts[0].startswith(
        "kept: app_pages.subject.cache.loaded of mnist-pre-ln, 0.0 MB; cache: 1 entries"
    )
    assert texts[1].startswith(f"kept: {__name__}.shape_of of mnist-pre-ln, 0.0 MB; cache: 2 entries")
