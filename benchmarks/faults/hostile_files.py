"""Uploads damaged and hostile files wherever the app takes one: pictures, lists of pictures, tables, records."""

import asyncio
import io
import json
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.broken_pictures import KINDS as PICTURES
from benchmarks.faults.hostile_checkpoints import pickled
from benchmarks.faults.promises import NOTHING_RUNS, ONE_SENTENCE, WORDS_ARE_TEXT
from benchmarks.faults.world import World
from benchmarks.mutations.case import HOSTILE

# Pages that take a file: path, query, and how the key of the file uploader begins.
DIGIT = ("", {"kind": "Digit", "source": "Draw"}, "upload")
PICTURE_LIST = ("many_inputs", {"kind": "Digit"}, "several_file")
TABLE = ("many_inputs", {"kind": "Text", "checkpoint": "imdb-pre-ln"}, "several_file")
RECORD = ("", {"kind": "Record"}, "record_upload")


async def open_broken_files(world: World) -> None:
    """Uploads damaged files one after the other; each must show a page or a sentence."""
    draw, number = world.draw("files"), 0
    trace = world.home / "trace-of-a-record"
    cases = [(name, make, uploader) for name, make in PICTURES.items() if name != "codes" for uploader in (DIGIT, PICTURE_LIST)]  # fmt: skip
    cases += [(name, make, RECORD) for name, make in RECORDS.items()]
    cases += [(name, make, TABLE) for name, make in TABLES.items()]
    while world.goes_on:
        name, make, (page, query, key) = draw.choice(cases)
        content = await asyncio.to_thread(make, draw)
        number += 1
        if name == "objects":
            content = objects(trace)
        promise = {"objects": NOTHING_RUNS, "hostile_tokens": WORDS_ARE_TEXT, "hostile_cells": WORDS_ARE_TEXT}.get(name, ONE_SENTENCE)  # fmt: skip
        suffix = {DIGIT[2]: "png", RECORD[2]: "npz"}.get(key, "csv" if name in TABLES else "png")
        await _upload(world, promise, page, query, key, f"{name}-{number}.{suffix}", content)
        world.ledger.record(NOTHING_RUNS, "a record was unpickled" if trace.exists() else "")
        await world.rest(draw)


async def _upload(
    world: World, promise: str, page: str, query: dict, key: str, name: str, content: bytes
) -> None:
    """Uploads one file on a page, to the file uploader with this `key`, and checks the promise."""
    action = f"{name} on /{page}"
    async with world.visit(promise, action, page, query) as window:
        await window.open()
        uploader = next((widget for widget in window.widgets if widget.startswith(key)), None)
        if uploader is None:
            world.ledger.record(promise, f"/{page} {query} has no file uploader")
            return
        world.check(promise, await window.upload(uploader, {name: content}), action)
        world.check(promise, await window.go("masks"), f"the next page after {name}")


def npz(**arrays: np.ndarray) -> bytes:
    """The bytes of an .npz file with these arrays."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _intact(draw: random.Random, tokens: list[str] | None = None) -> bytes:
    """An undamaged record."""
    n = len(tokens) if tokens else draw.randint(1, 12)
    pattern = np.random.default_rng(draw.getrandbits(32)).random((2, 2, n, n), np.float32)
    pattern /= pattern.sum(-1, keepdims=True)
    return npz(pattern=pattern, tokens=np.array(tokens or [f"t{index}" for index in range(n)]))


def objects(trace: Path) -> bytes:
    """A record of pickled Python objects, which would make the folder `trace` if they were unpickled."""
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"shape": (1,), "fortran_order": False, "descr": "|O"})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("pattern.npy", member.getvalue() + pickled(trace))
        file.writestr("tokens.npy", member.getvalue() + pickled(trace))
    return buffer.getvalue()


def _truncated(draw: random.Random) -> bytes:
    """A record whose file ends too early."""
    content = _intact(draw)
    return content[: draw.randrange(len(content))]


def _altered(draw: random.Random) -> bytes:
    """A record with changed bytes."""
    content = bytearray(_intact(draw))
    for _ in range(draw.choice((1, 5, 50))):
        content[draw.randrange(len(content))] = draw.randrange(256)
    return bytes(content)


def _huge_shape(draw: random.Random) -> bytes:
    """A record whose header announces an array of terabytes."""
    member = io.BytesIO()
    shape = (draw.choice((1, 12, 2**20)), 12, 2**20, 2**20)
    np.lib.format.write_array_header_1_0(member, {"shape": shape, "fortran_order": False, "descr": "<f4"})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("pattern.npy", member.getvalue())
    return buffer.getvalue()


def _compression_bomb(draw: random.Random) -> bytes:
    """A small record that would decompress to very much."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("pattern.npy", b"\0" * 2 ** draw.choice((20, 28)))
    return buffer.getvalue()


def _safetensors(draw: random.Random) -> bytes:
    """A safetensors file under the name of an .npz, whose header announces more bytes than it has."""
    header = {"pattern": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, draw.choice((4, 2**62))]}}
    encoded = json.dumps(header).encode()
    return struct.pack("<Q", len(encoded)) + encoded + b"\0" * 4


def _hostile_tokens(draw: random.Random) -> bytes:
    """A record whose tokens are markup and other hostile texts."""
    return _intact(draw, [draw.choice(HOSTILE)[:200].replace("\0", " ") or "x" for _ in range(6)])


RECORDS: dict[str, Callable[[random.Random], bytes]] = {
    "intact": _intact, "truncated": _truncated, "altered": _altered, "huge_shape": _huge_shape, "bomb": _compression_bomb,
    "safetensors": _safetensors, "hostile_tokens": _hostile_tokens, "objects": _intact,
}  # fmt: skip


def _hostile_cells(draw: random.Random) -> bytes:
    """A table of hostile texts."""
    return ("text,label\n" + "".join(f'"{draw.choice(HOSTILE)[:300]}",{draw.choice(HOSTILE)[:20]!r}\n'.replace("\0", " ") for _ in range(20))).encode()  # fmt: skip


def _no_text(draw: random.Random) -> bytes:
    """A file that is not text."""
    return draw.randbytes(draw.choice((1, 1000, 2**20)))


def _open_quotation(draw: random.Random) -> bytes:
    """A table whose quotation mark is never closed."""
    return b'text,label\n"' + b"never closed " * draw.choice((1, 10_000))


def _long_lines(draw: random.Random) -> bytes:
    """A table of very long lines."""
    return b"text\n" + b"word " * draw.choice((20_000, 400_000))


def _many_lines(draw: random.Random) -> bytes:
    """A table of very many lines."""
    return b"text\n" + b"a film\n" * draw.choice((501, 100_000))


TABLES: dict[str, Callable[[random.Random], bytes]] = {
    "hostile_cells": _hostile_cells, "no_text": _no_text, "open_quotation": _open_quotation, "long_lines": _long_lines,
    "many_lines": _many_lines,
}  # fmt: skip
