"""python -m benchmarks.faults [--seconds 600] [--windows 32] [--every 5] [--processes 2] [--seed 0]

All promises of SECURITY.md and docs/serving.md at the same time. A class works as in `benchmarks.load`, in two processes behind
HAProxy, and downloads files; both processes are killed, one after the other, and started again. Meanwhile encoders are uploaded
to a small disk that is full every other time, a checkpoint is replaced while it is open, and others open damaged and hostile
checkpoints, pickles, files, addresses, texts and requests, and vanish in the middle of an answer.

Prints for each promise how often it was tried and how often it was broken, with the first failures; the exit code is 1 where one
was broken. As root the small disk is a tmpfs, otherwise it is simulated.
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
from benchmarks.faults import uploads
from benchmarks.faults.downloads import downloading
from benchmarks.faults.hostile_addresses import lead_out, open_addresses, write_long_texts
from benchmarks.faults.hostile_checkpoints import open_broken_checkpoints, open_pickles
from benchmarks.faults.hostile_files import open_broken_files
from benchmarks.faults.hostile_requests import send_odd_requests
from benchmarks.faults.lost_process import NAMES, lose_processes
from benchmarks.faults.promises import ANSWERED, APART, RELOAD, STAYS, UPLOADS, Ledger
from benchmarks.faults.replaced_checkpoint import Replaced, make_versions, replace_checkpoints
from benchmarks.faults.small_disk import SmallDisk, small_disk
from benchmarks.faults.watched import processes_died, read_logs, read_memory, watch, watch_proxy
from benchmarks.faults.without_options import ask_for_what_is_off
from benchmarks.faults.world import AFTER_A_LOSS, PATIENCE, World
from benchmarks.load.__main__ import answers_afterwards, p95, vanish
from benchmarks.load.lesson import Pupil, Seen, pupils
from benchmarks.load.servers import ROOT, serving

CACHE_MB = 256
BEYOND_MB = 1024  # what a process may hold besides the cache, for sixteen windows and all that is hostile
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
        variables |= {"LOUPE_MODELS": str(home / "models"), "LOUPE_UPLOADS_MB": str(uploads.UPLOADS_MB)}
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
        asyncio.run(everything(world, arguments, disk, bare, encoders))
        for name in processes_died([*processes, bare_process]):
            ledger.note(ANSWERED, f"{name} ended before it was told to")
        world.processes.append(bare_process)
        read_logs(world)
        for process in processes:
            process.stop()
        left = uploads.left_behind(home / "small")
        ledger.note(UPLOADS, f"after the end there is still {left[0]}" if left else "")
    print(f"\n{ledger}")
    if ledger.untried:
        print(f"not tried: {', '.join(ledger.untried)}")
    return int(ledger.is_broken)


async def everything(
    world: World, arguments: Namespace, disk: SmallDisk, bare: str, encoders: list[Replaced]
) -> None:
    # With the few threads that asyncio has of itself, a window would wait for others before it fetches its file.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2 * arguments.windows + 32))
    everybody, seen = pupils(
        arguments.windows, world.server, arguments.seed, {"a download": downloading(world)}
    )
    for pupil in everybody:
        _watch_closely(pupil, world)
    one_by_one = asyncio.Semaphore(AT_ONCE)

    async def open_(pupil: Pupil) -> None:
        async with one_by_one:
            world.ledger.note(ANSWERED, "" if await pupil.open() else f"{pupil.place.title} did not open")

    await asyncio.gather(*map(open_, everybody))
    print(f"{len(everybody)} windows are open", flush=True)
    world.start()
    gone: Counter[str] = Counter()
    faults: list[Coroutine] = [
        uploads.upload_encoders(world, disk), replace_checkpoints(world, encoders),
        open_broken_checkpoints(world), open_pickles(world), open_broken_files(world), open_addresses(world), lead_out(world),
        write_long_texts(world), send_odd_requests(world), ask_for_what_is_off(world, bare, "replaced-own"),
        *(vanish(world.server, world.until, number, gone) for number in range(VANISHING)),
    ]  # fmt: skip
    if len(world.processes) > 1:
        faults += [lose_processes(world), watch_proxy(world)]
    work = [pupil.work(arguments.every, world.until) for pupil in everybody]
    memories, *_ = await asyncio.gather(watch(world), *work, *(_to_its_end(world, fault) for fault in faults))
    for error in await answers_afterwards(world.server):
        world.ledger.note(ANSWERED, error)
    _note_class(world, everybody, seen, arguments.every)
    print(f"{sum(gone.values())} windows vanished in the middle of an answer")
    read_memory(world, memories, CACHE_MB + BEYOND_MB)
    for pupil in everybody:
        await pupil.window.close()


async def _to_its_end(world: World, fault: Coroutine) -> None:
    """What nobody thought of ends one fault, and not the run."""
    try:
        await fault
    except Exception as error:
        world.ledger.note(ANSWERED, f"{fault.__name__} came to its end: {type(error).__name__}: {error}")


def _watch_closely(pupil: Pupil, world: World) -> None:
    own = pupil.window.look

    def look(content: bytes) -> None:
        own(content)
        world.look(content)

    pupil.window.look, pupil.window.patience = look, PATIENCE


def _note_class(world: World, everybody: list[Pupil], seen: Seen, every: float) -> None:
    ledger = world.ledger
    seconds = [change.seconds for pupil in everybody for change in pupil.changes]
    ledger.note(ANSWERED, n=len(seconds))
    for pupil in everybody:
        for error in pupil.errors:
            ledger.note(RELOAD if "after a reload" in error else ANSWERED, error)
        if pupil.place.shows_text and not pupil.saw_own_word:
            ledger.note(ANSWERED, f"{pupil.place.title} never showed its own word")
        for lost in pupil.lost_at:
            by_a_kill = any(0 <= lost - each < AFTER_A_LOSS + every for each in world.lost_at)
            ledger.note(RELOAD)
            ledger.note(
                STAYS,
                "" if by_a_kill else f"{pupil.place.title} lost its connection, and no process was ended",
            )
        if not pupil.lost_at and len(world.processes) > 1:
            ledger.note(
                STAYS, "" if pupil.window.process in NAMES else "the proxy has not said which process"
            )
    ledger.note(APART, n=seen.messages)
    for leak in seen.leaks:
        ledger.note(APART, leak)
    slow = [pupil.opened[-1] for pupil in everybody if pupil.lost_at]
    print(
        f"{len(seconds):,} changes and downloads, median {median(seconds or [0]):.2f} s, 95 % within {p95(seconds):.2f} s, at most "
        f"{max(seconds, default=0):.1f} s; {sum(len(pupil.lost_at) for pupil in everybody)} reloads after a lost process, the last "
        f"ones in at most {max(slow, default=0):.1f} s; {seen.messages:,} messages, {seen.bytes / 2**20:,.0f} MB"
    )


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
