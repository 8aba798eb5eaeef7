"""Kills each of the two processes once and starts it again some seconds later."""

import asyncio
import time

from benchmarks.faults.promises import RESTARTED
from benchmarks.faults.world import World
from benchmarks.load.browser_window import LOST, NoAnswerError

NAMES = ("one", "two")  # of the cookie of docs/serving/haproxy.cfg
DOWN = 5  # seconds until it is started again
NOTICED = 180  # seconds in which the proxy must send new visitors there


async def lose_processes(world: World) -> None:
    for number, (name, process) in enumerate(zip(NAMES, world.processes, strict=True)):
        await asyncio.sleep(max(0, world.began + world.seconds * (number + 1) / 3 - time.monotonic()))
        print(f"{process.name} is killed after {time.monotonic() - world.began:.0f} s", flush=True)
        world.lost_at.append(time.monotonic())
        process.kill()
        await asyncio.sleep(DOWN)
        await asyncio.to_thread(process.start)
        started = time.monotonic()
        while (
            not (has_visitors := await _gets_new_visitors(world, name))
            and time.monotonic() - started < NOTICED
        ):
            await asyncio.sleep(1)
        world.ledger.record(
            RESTARTED,
            "" if has_visitors else f"{NOTICED} s after its start no visitor was sent to {process.name}",
        )


async def _gets_new_visitors(world: World, name: str) -> bool:
    """Whether the proxy sends a new visitor to the process of this name."""
    window = world.window("cost")
    try:
        await window.open()
    except (*LOST, NoAnswerError):
        return False
    finally:
        await window.close()
    return window.process == name
