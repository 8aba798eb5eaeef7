"""python -m benchmarks.load [--windows 16] [--every 5] [--processes 1] [--seconds 60]

A class at work: windows over real websockets, spread over all pages, each with a text of its own, change something every
few seconds; measured from sending a change to the end of the run that answers it. The app is started here, in one process
or in two behind HAProxy with docs/serving/haproxy.cfg. Exits with 1 where a bound is broken, an error was seen, or a word
of one window was sent to another. The promises, on two cores with nothing else running:

    python -m benchmarks.load --windows 16 --every 5 --median 0.7
    python -m benchmarks.load --windows 32 --every 5 --processes 2 --median 1 --p95 2
    python -m benchmarks.load --windows 8 --every 1 --median 1

`--vanish N` lets N more windows request pages and disconnect in the middle of the answer, again and again. `--kill` kills the
first of two processes half-way: its windows must open again at the same address and show the same.
"""

import argparse
import asyncio
import contextlib
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median, quantiles

from benchmarks.load.browser_window import LOST, NoAnswerError, Window
from benchmarks.load.lesson import SCENARIOS, Change, Pupil, Traffic, make_pupils
from benchmarks.load.servers import Process, serving

SHOWN = 10  # errors that are printed in full
AT_ONCE = 2  # windows that are opened at the same time before the lesson begins


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--windows", type=int, default=16)
    parser.add_argument("--every", type=float, default=5, help="seconds from change to change in one window")
    parser.add_argument("--processes", type=int, default=1, choices=(1, 2))
    parser.add_argument("--seconds", type=float, default=60, help="how long it is measured")
    parser.add_argument("--median", type=float, help="seconds that the median may take")
    parser.add_argument("--p95", type=float, help="seconds that 95 of 100 changes may take")
    parser.add_argument("--vanish", type=int, default=0, metavar="N")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--server", help="the address of an app that runs already; its memory is not measured"
    )
    arguments = parser.parse_args()
    if arguments.kill and (arguments.processes == 1 or arguments.server):
        parser.error("--kill needs --processes 2")
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        if arguments.server:
            server, processes = arguments.server.rstrip("/"), []
        else:
            server, processes = stack.enter_context(serving(arguments.processes, Path(home)))
        return asyncio.run(lesson(arguments, server, processes))


async def lesson(arguments: argparse.Namespace, server: str, processes: list[Process]) -> int:
    """Runs the class for the given seconds, prints what was measured, and returns the exit code."""
    pupils, traffic = make_pupils(arguments.windows, server, arguments.seed)
    opening = asyncio.Semaphore(AT_ONCE)

    async def open_window(pupil: Pupil) -> None:
        async with opening:
            if not await pupil.open():
                pupil.errors.append(f"{pupil.scenario.title} did not open")

    await asyncio.gather(*map(open_window, pupils))
    opened = [seconds for pupil in pupils for seconds in pupil.opened]
    print(
        f"{len(opened)} windows opened, median {median(opened or [0]):.2f} s, at most {max(opened or [0]):.2f} s",
        flush=True,
    )
    began, busy = time.monotonic(), [process.processor_seconds for process in processes]
    own = time.process_time()
    until = began + arguments.seconds
    tasks = [asyncio.create_task(pupil.work(arguments.every, until)) for pupil in pupils if pupil.opened]
    vanished = Counter()
    tasks += [
        asyncio.create_task(vanish(server, until, number, vanished)) for number in range(arguments.vanish)
    ]
    if arguments.kill:
        await asyncio.sleep(arguments.seconds / 2)
        n_windows = sum(pupil.window.process == "one" for pupil in pupils)
        print(f"process-1 is killed, with {n_windows} of {len(pupils)} windows", flush=True)
        processes[0].kill()
    await asyncio.gather(*tasks)
    took = time.monotonic() - began
    _print_changes([change for pupil in pupils for change in pupil.changes], took)
    errors = [error for pupil in pupils for error in pupil.errors]
    errors += await answers_afterwards(server)
    errors += [f"{process.name} printed {line}" for process in processes for line in process.tracebacks()]
    _print_rest(pupils, traffic, processes, busy, vanished)
    print(f"the driver itself: {100 * (time.process_time() - own) / took:.0f} % of a core")
    for pupil in pupils:
        await pupil.window.close()
    return _verdict(arguments, pupils, traffic, errors)


async def vanish(server: str, until: float, number: int, vanished: Counter) -> None:
    """Requests pages again and again, and disconnects before the answer is complete."""
    draw = random.Random(f"vanish {number}")
    while time.monotonic() < until:
        scenario = draw.choice(SCENARIOS)
        window = Window(server, scenario.page, scenario.query | {"head": str(draw.randrange(4))})
        with contextlib.suppress(*LOST):
            await window.vanish(after=draw.choice((0, 0, 3, 40)))
            vanished[scenario.title] += 1
        await asyncio.sleep(draw.random())


async def answers_afterwards(server: str) -> list[str]:
    """The errors of a new window that is opened at the end."""
    window = Window(server)
    try:
        answer = await window.open()
        return [f"afterwards: {exception}" for exception in answer.exceptions]
    except (*LOST, NoAnswerError) as error:
        return [f"afterwards the server does not answer: {error}"]
    finally:
        await window.close()


def _print_changes(changes: list[Change], took: float) -> None:
    """Prints the seconds of all changes; `took` is the length of the lesson in seconds."""
    print(f"\n{'':34}{'changes':>8}{'median':>9}{'95 %':>9}{'most':>9}")
    for title in sorted({change.scenario for change in changes}):
        _print_line(title, [change.seconds for change in changes if change.scenario == title])
    _print_line("all", [change.seconds for change in changes])
    print(f"{len(changes) / took:.1f} changes a second over {took:.0f} s\n")


def _print_line(title: str, seconds: list[float]) -> None:
    if seconds:
        figures = (median(seconds), p95(seconds), max(seconds))
        print(f"{title:34}{len(seconds):8}" + "".join(f"{figure:7.2f} s" for figure in figures))


def p95(seconds: list[float]) -> float:
    """The 95th percentile."""
    return quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else max(seconds, default=0.0)


def _print_rest(
    pupils: list[Pupil], traffic: Traffic, processes: list[Process], busy: list[float], vanished: Counter
) -> None:
    """Prints traffic, memory and processor time."""
    n_changes = sum(len(pupil.changes) for pupil in pupils)
    spent = 0.0
    for process, before in zip(processes, busy, strict=True):
        if not process.is_up:
            print(f"{process.name}: ended")
            continue
        now = process.memory()
        sizes = ", ".join(f"{kind} {megabytes:,.0f} MB" for kind, megabytes in now.items())
        took = process.processor_seconds - before
        spent += took
        print(f"{process.name}: {sizes}; {took:.1f} s of processor time")
    if spent and n_changes:
        print(f"{1e3 * spent / n_changes:.0f} ms of processor time a change")
    texts = [pupil for pupil in pupils if pupil.scenario.shows_text]
    print(
        f"{traffic.messages:,} messages, {traffic.bytes / 2**20:,.0f} MB; {len(traffic.leaks)} words of other windows; "
        f"{sum(pupil.saw_own_word for pupil in texts)} of {len(texts)} windows with a text saw their own"
    )
    if vanished:
        print(f"{sum(vanished.values())} windows disconnected in the middle of a request")
    if reloads := sum(len(pupil.lost_at) for pupil in pupils):
        kept = reloads - sum(pupil.states_lost for pupil in pupils)
        slowest = max((pupil.opened[-1] for pupil in pupils if pupil.lost_at and pupil.opened), default=0)
        again = sum(pupil.second_tries for pupil in pupils)
        print(
            f"{reloads} windows lost their process and opened again, {kept} of them as they were, "
            f"in at most {slowest:.1f} s; {again} needed a second try"
        )


def _verdict(arguments: argparse.Namespace, pupils: list[Pupil], traffic: Traffic, errors: list[str]) -> int:
    """Prints each bound that was broken; returns the exit code."""
    seconds = [change.seconds for pupil in pupils for change in pupil.changes]
    broken = [*errors, *traffic.leaks]
    broken += [f"{pupil.scenario.title} never showed its own word" for pupil in pupils if pupil.scenario.shows_text and not pupil.saw_own_word]  # fmt: skip
    for name, bound, measured in (
        ("median", arguments.median, median(seconds) if seconds else float("inf")),
        ("95th percentile", arguments.p95, p95(seconds) if seconds else float("inf")),
    ):
        if bound is not None and measured > bound:
            broken.append(f"the {name} is {measured:.2f} s, and may be {bound:g} s")
    if not seconds:
        broken.append("nothing was measured")
    for line, times in Counter(broken).most_common(SHOWN):
        print(f"{times} × {line}" if times > 1 else line)
    print(f"{len(errors)} errors" + ("" if not broken else ": FAILED"))
    return int(bool(broken))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
