"""python -m benchmarks.faults [--seconds 600] [--windows 32] [--every 5] [--processes 2] [--seed 0]

Tries all promises of SECURITY.md and docs/serving.md at the same time. A class works as in `benchmarks.load`, with two processes
behind HAProxy, and downloads files; both processes are killed, one after the other, and started again. Meanwhile encoders are
uploaded to a small disk that is full every other time, two checkpoints are replaced while they are open, and other windows send
damaged and hostile checkpoints, pickles, files, addresses, texts and requests, or disconnect in the middle of an answer.

Prints for each promise how often it was tried and how often it was broken, with the first failures. The exit code is 1 if one was
broken. As root the small disk is a tmpfs, otherwise it is simulated.
"""

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from benchmarks.broken_folders import build, in_child
from benchmarks.faults import uploads_on_small_disk
from benchmarks.faults.downloads import downloading
from benchmarks.faults.hostile_addresses import open_addresses, open_names_outside, write_long_texts
from benchmarks.faults.hostile_checkpoints import open_broken_checkpoints, open_pickles
from benchmarks.faults.hostile_files import open_broken_files
from benchmarks.faults.hostile_requests import send_odd_requests
from benchmarks.faults.lost_process import NAMES, lose_processes
from benchmarks.faults.process_monitor import processes_died, read_logs, read_memory, watch, watch_proxy
from benchmarks.faults.promises import ANSWERED, ISOLATED, RELOAD, STICKY, UPLOADS, Ledger
from benchmarks.faults.replaced_checkpoint import Replaced, make_versions, replace_checkpoints
from benchmarks.faults.small_disk import SmallDisk, small_disk
from benchmarks.faults.without_options import ask_for_what_is_off
from benchmarks.faults.world import AFTER_A_LOSS, PATIENCE, World
from benchmarks.load.__main__ import answers_afterwards, p95, vanish
from benchmarks.load.lesson import Pupil, Traffic, make_pupils
from benchmarks.load.servers import ROOT, serving

CACHE_MB = 256
BEYOND_MB = 1024  # what a process may hold besides the cache, for sixteen windows and the faults
AT_ONCE = 2  # windows of the class that are opened at the same time
VANISHING = 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--windows", type=int, default=32)
    parser.add_argument("--every", type=float, default=5, help="seconds from change to change in one window")
    parser.add_argument(
        "--processes", type=int, default=2, choices=(1, 2), help="1 needs no HAProxy, and none is killed"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch, contextlib.ExitStack() as stack:
        home = Path(scratch).resolve()
        for name in ("whole", "models", "outside", "scratch", "logs", "bare"):
            (home / name).mkdir()
        in_child(lambda: build(home), seconds=600, memory=None)
        (home / "models" / "linked-out").symlink_to(home / "outside" / "sibling")
        disk = stack.enter_context(small_disk(home / "small"))
        (home / "small" / "home").mkdir()
        variables = {
            "LOUPE_CACHE_MB": str(CACHE_MB),
            "HOME": str(home / "small" / "home"),
            "TMPDIR": str(home / "small"),
        }
        bare, (bare_process,) = stack.enter_context(serving(1, home / "bare", variables=variables))
        variables |= {
            "LOUPE_MODELS": str(home / "models"),
            "LOUPE_UPLOADS_MB": str(uploads_on_small_disk.UPLOADS_MB),
        }
        server, processes = stack.enter_context(
            serving(arguments.processes, home / "logs", variables=variables)
        )
        encoders = [
            make_versions(
                ROOT / "checkpoints" / "imdb-pre-ln", home / "models" / "replaced-own", home / "scratch"
            ),
            make_versions(home / "whole" / "bert", home / "models" / "replaced-bert", home / "scratch"),
        ]
        ledger = Ledger()
        world = World(server, processes, ledger, home, arguments.seconds, arguments.seed)
        asyncio.run(run_all(world, arguments, disk, bare, encoders))
        for name in processes_died([*processes, bare_process]):
            ledger.record(ANSWERED, f"{name} ended before it was told to")
        world.processes.append(bare_process)
        read_logs(world)
        for process in processes:
            process.stop()
        remaining = uploads_on_small_disk.stored_files(home / "small")
        ledger.record(UPLOADS, f"after the end there is still {remaining[0]}" if remaining else "")
    print(f"\n{ledger}")
    if ledger.untried:
        print(f"not tried: {', '.join(ledger.untried)}")
    return int(ledger.is_broken)


async def run_all(
    world: World, arguments: Namespace, disk: SmallDisk, bare: str, encoders: list[Replaced]
) -> None:
    """Opens the windows of the class, and runs all faults at the same time until the seconds are over."""
    # With asyncio's few default threads, a window would wait for others before it fetches its file.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2 * arguments.windows + 32))
    pupils, traffic = make_pupils(
        arguments.windows, world.server, arguments.seed, {"a download": downloading(world)}
    )
    for pupil in pupils:
        _search_messages(pupil, world)
    opening = asyncio.Semaphore(AT_ONCE)

    async def open_window(pupil: Pupil) -> None:
        async with opening:
            world.ledger.record(
                ANSWERED, "" if await pupil.open() else f"{pupil.scenario.title} did not open"
            )

    await asyncio.gather(*map(open_window, pupils))
    print(f"{len(pupils)} windows are open", flush=True)
    world.start()
    vanished: Counter[str] = Counter()
    faults: list[Coroutine] = [
        uploads_on_small_disk.upload_encoders(world, disk), replace_checkpoints(world, encoders),
        open_broken_checkpoints(world), open_pickles(world), open_broken_files(world), open_addresses(world), open_names_outside(world),
        write_long_texts(world), send_odd_requests(world), ask_for_what_is_off(world, bare, "replaced-own"),
        *(vanish(world.server, world.until, number, vanished) for number in range(VANISHING)),
    ]  # fmt: skip
    if len(world.processes) > 1:
        faults += [lose_processes(world), watch_proxy(world)]
    work = [pupil.work(arguments.every, world.until) for pupil in pupils]
    memories, *_ = await asyncio.gather(
        watch(world), *work, *(_until_its_end(world, fault) for fault in faults)
    )
    for error in await answers_afterwards(world.server):
        world.ledger.record(ANSWERED, error)
    _record_class(world, pupils, traffic, arguments.every)
    print(f"{sum(vanished.values())} windows disconnected in the middle of an answer")
    read_memory(world, memories, CACHE_MB + BEYOND_MB)
    for pupil in pupils:
        await pupil.window.close()


async def _until_its_end(world: World, fault: Coroutine) -> None:
    """Runs one fault; an unexpected exception ends this fault only, and is recorded."""
    try:
        await fault
    except Exception as error:
        world.ledger.record(ANSWERED, f"{fault.__name__} ended early: {type(error).__name__}: {error}")


def _search_messages(pupil: Pupil, world: World) -> None:
    """Searches all messages to the pupil's window for secrets and for words of other windows."""
    count_message = pupil.window.on_message

    def on_message(content: bytes) -> None:
        count_message(content)
        world.search_for_secrets(content)

    pupil.window.on_message, pupil.window.patience = on_message, PATIENCE


def _record_class(world: World, pupils: list[Pupil], traffic: Traffic, every: float) -> None:
    """Records the promises about the class: whether changes were answered, and whether sessions saw each other."""
    ledger = world.ledger
    seconds = [change.seconds for pupil in pupils for change in pupil.changes]
    ledger.record(ANSWERED, n=len(seconds))
    for pupil in pupils:
        for error in pupil.errors:
            ledger.record(RELOAD if "after a reload" in error else ANSWERED, error)
        if pupil.scenario.shows_text and not pupil.saw_own_word:
            ledger.record(ANSWERED, f"{pupil.scenario.title} never showed its own word")
        for lost in pupil.lost_at:
            is_expected = any(0 <= lost - killed < AFTER_A_LOSS + every for killed in world.lost_at)
            ledger.record(RELOAD)
            ledger.record(
                STICKY,
                ""
                if is_expected
                else f"{pupil.scenario.title} lost its connection, and no process was killed",
            )
        if not pupil.lost_at and len(world.processes) > 1:
            ledger.record(
                STICKY, "" if pupil.window.process in NAMES else "the proxy has not named the process"
            )
    ledger.record(ISOLATED, n=traffic.messages)
    for leak in traffic.leaks:
        ledger.record(ISOLATED, leak)
    reload_seconds = [pupil.opened[-1] for pupil in pupils if pupil.lost_at]
    print(
        f"{len(seconds):,} changes and downloads, median {median(seconds or [0]):.2f} s, 95 % within {p95(seconds):.2f} s, at most "
        f"{max(seconds, default=0):.1f} s; {sum(len(pupil.lost_at) for pupil in pupils)} reloads after a lost process, the last "
        f"ones in at most {max(reload_seconds, default=0):.1f} s; {traffic.messages:,} messages, {traffic.bytes / 2**20:,.0f} MB"
    )


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
