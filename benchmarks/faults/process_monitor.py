"""Watches the app's processes from outside during the faults: their network connections, their memory and their logs."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from benchmarks.faults.hostile_requests import PRINTED
from benchmarks.faults.promises import MEMORY, NO_TRACEBACK, NOTHING_SENT, STICKY
from benchmarks.faults.world import World
from benchmarks.load.servers import Process

EVERY = 1  # seconds
CACHE_LINE = re.compile(r"cache: [\d,]+ entries, ([\d,.]+) of ([\d,.]+) MB")
REFUSED = "Connection refused"  # in the proxy's log, where a process has ended
SOCKET = re.compile(r"socket:\[(\d+)\]")


@dataclass
class Memory:
    """Resident memory of a process in MB: when the faults began, and its maximum since."""

    idle: float
    most: float = 0.0


async def watch(world: World) -> dict[str, Memory]:
    """Watches all processes until the faults end, and returns the memory of each by name."""
    memories = {process.name: Memory(process.memory()["resident"]) for process in world.processes}
    while world.goes_on:
        for process in world.processes:
            with suppress(FileNotFoundError, ProcessLookupError, KeyError):  # the process ends at this moment
                resident = process.memory()["resident"]
                memories[process.name].most = max(memories[process.name].most, resident)
                remote_hosts = [
                    host for host in connected_hosts(process.pid) if not ip_address(host).is_loopback
                ]
                world.ledger.record(
                    NOTHING_SENT, f"{process.name} is connected to {remote_hosts[0]}" if remote_hosts else ""
                )
        await asyncio.sleep(EVERY)
    return memories


async def watch_proxy(world: World) -> None:
    """Records when the proxy marks a process as down, which ends its connections: only a process that was killed may
    be marked.
    """
    log, n_read = world.home / "logs" / "haproxy.log", 0
    while world.goes_on:
        down_lines = [line for line in log.read_text(errors="replace").splitlines() if " is DOWN" in line]
        for line in down_lines[n_read:]:
            world.lost_at.append(time.monotonic())
            world.ledger.record(STICKY, "" if REFUSED in line else line)
            print(line, flush=True)
        n_read = len(down_lines)
        await asyncio.sleep(EVERY)


def connected_hosts(pid: int) -> Iterator[str]:
    """Remote addresses of all TCP and UDP connections of a process, and the addresses at which it listens."""
    own_sockets = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if match := SOCKET.match(str(link.readlink())):
                own_sockets.add(match[1])
    for name in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in own_sockets:
                local, remote = (_host(fields[index]) for index in (1, 2))
                yield local if fields[2].endswith(":0000") else remote


def _host(text: str) -> str:
    """The IP address of an entry in /proc/net: hexadecimal words in the byte order of the machine."""
    hexadecimal = text.partition(":")[0]
    raw = b"".join(
        bytes.fromhex(hexadecimal[start : start + 8])[::-1] for start in range(0, len(hexadecimal), 8)
    )
    address = ip_address(raw)
    return str(getattr(address, "ipv4_mapped", None) or address)


def read_logs(world: World) -> None:
    """Records tracebacks in the logs, and where the cache reported more than its bound."""
    for process in world.processes:
        lines = process.log.read_text(errors="replace").splitlines()
        world.ledger.record(NO_TRACEBACK, n=len(lines))
        for line, count in Counter(process.tracebacks()).most_common():
            if any(expected in line for expected in PRINTED):
                continue
            world.ledger.record(NO_TRACEBACK, f"{process.name}, {count} times: {line}")
        for held, bound in cache_sizes(lines):
            world.ledger.record(MEMORY, f"{held} of {bound} MB" if held > bound else "")


def cache_sizes(lines: list[str]) -> Iterator[tuple[float, float]]:
    """Size and bound of the cache in MB, from each line of the log that reports them."""
    for line in lines:
        if match := CACHE_LINE.search(line):
            held, bound = (float(number.replace(",", "")) for number in match.groups())
            yield held, bound


def read_memory(world: World, memories: dict[str, Memory], bound: float) -> None:
    """Records where a process held more than `bound` MB beyond its idle memory."""
    for name, memory in memories.items():
        grown = memory.most - memory.idle
        print(f"{name}: idle {memory.idle:,.0f} MB, at most {grown:+,.0f} MB")
        world.ledger.record(
            MEMORY, f"{name} grew by {grown:,.0f} MB, and may by {bound:,.0f}" if grown > bound else ""
        )


def processes_died(processes: list[Process]) -> list[str]:
    """The names of the processes that are not running."""
    return [process.name for process in processes if not process.is_up]
