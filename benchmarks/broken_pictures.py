"""python -m benchmarks.broken_pictures [--n 1000] [--seed 0] [--minutes M] [--only NUMBER]

Gives damaged and hostile pictures to every function that reads pictures: the upload of a digit, the list of many pictures,
and `read_picture`. They are PNG, JPEG, WebP, BMP, and formats that the app refuses (TIFF, GIF, PPM), in all colour modes,
with changed bytes, cut off, of absurd sizes, with absurd chunks and EXIF; and codes of drawings, as addresses and the canvas
send them. Each is read in a process of its own, which may map 6 GB of memory and take 20 seconds.

The rule: the reader returns a picture of the documented size, or raises ValueError with one sentence that names no path.
The exit code is 1 where a picture breaks it.
"""

import argparse
import base64
import io
import math
import random
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from app_pages.inputs.drawing import from_hex
from app_pages.inputs.drawing.code import from_code, to_code
from app_pages.inputs.drawing.picture import LONGER_SIDE, from_file, in_colour
from app_pages.inputs.pictures import from_files
from benchmarks.broken_folders import in_child
from model.inputs.picture_file import read_picture

MEMORY, SECONDS, LONGEST = 6 * 2**30, 20, 400
WRITTEN = {
    "PNG": ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"), "JPEG": ("L", "RGB", "CMYK"), "WEBP": ("RGB", "RGBA", "L"),
    "BMP": ("1", "L", "P", "RGB"), "TIFF": ("L", "RGB", "F", "CMYK", "LAB"), "GIF": ("L", "P"), "PPM": ("L", "RGB"),
}  # fmt: skip
SIDES = (0, 1, 2, 27, 28, 29, 300, 20_000, 20_001, 65_535, 2**31 - 1, 2**31, 2**32 - 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop then, and report what was read")
    parser.add_argument("--only", type=int, metavar="NUMBER")
    arguments = parser.parse_args()
    outcomes, broke, slowest, largest = Counter(), 0, (0.0, 0), (0.0, 0)
    until = time.monotonic() + 60 * arguments.minutes
    for number in range(arguments.n) if arguments.only is None else [arguments.only]:
        if time.monotonic() > until:
            break
        draw = random.Random(f"{arguments.seed} {number}")
        kind = draw.choice(sorted(KINDS))
        content = KINDS[kind](draw)
        result = in_child(lambda content=content: read(content), SECONDS, MEMORY)
        wrong = result.get("failed") or result["broke"]
        outcomes["broke the rule" if wrong else result["outcome"]] += 1
        if wrong or arguments.only is not None:
            broke += bool(wrong)
            print(f"{number}: {kind}, {len(content):,} bytes: {wrong}\n    {str(result)[:1500]}", flush=True)
        slowest = max(slowest, (result["seconds"], number))
        largest = max(largest, (result["megabytes"], number))
    print(f"{outcomes.total():,} pictures:")
    for outcome, n in outcomes.most_common():
        print(f"  {n:6,} {outcome}")
    print(
        f"slowest {slowest[0]:.1f} s (number {slowest[1]}), most memory {largest[0]:,.0f} MB (number {largest[1]})"
    )
    return int(broke > 0)


def read(content: bytes) -> dict:
    """Gives the bytes of a picture to every reader of pictures: whether all kept the rule, and the sentences with
    which readers refused it.
    """
    messages: list[str] = []
    broke = ""

    def attempt(reader: Callable[[], Any]) -> Any:
        try:
            return reader()
        except ValueError as error:
            messages.append(str(error))
            return None

    digit = attempt(lambda: from_file(content))
    if digit is not None and (digit.shape != (28, 28) or digit.dtype != np.uint8):
        broke = f"a digit of {digit.shape}, {digit.dtype}"
    elif digit is not None and from_code(to_code(digit)).shape != (28, 28):
        broke = "a drawing that does not come back"
    picture = attempt(lambda: in_colour(content))
    if picture is not None and (
        picture.shape[2:] != (3,) or not 0 < max(picture.shape) <= LONGER_SIDE or picture.dtype != np.uint8
    ):
        broke = f"a picture of {picture.shape}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "it.png"
        path.write_bytes(content)
        whole = attempt(lambda: read_picture(path))
        if whole is not None and (whole.dtype != np.uint8 or whole.ndim not in (2, 3) or not whole.size):
            broke = f"an array of {whole.shape}, {whole.dtype}"
        listed = attempt(lambda: from_files([("it <b>.png", lambda: content)]))
        messages += listed.notes if listed else ()
        if any(folder in item for item in messages):
            broke = "a path"
    attempt(lambda: from_code(content.decode("latin-1")))
    attempt(lambda: from_hex(content.decode("latin-1")))
    if any(len(item) > LONGEST or not item.isprintable() or not item.strip() for item in messages):
        broke = f"no sentence: {max(messages, key=len)[:500]!r}"
    outcome = "read" if picture is not None else "refused in a sentence"
    return {"broke": broke, "outcome": outcome, "said": messages}


# The pictures


def whole(draw: random.Random, written: str | None = None) -> bytes:
    """An undamaged picture of random format, mode and size; `written` is the format."""
    written = written or draw.choice(sorted(WRITTEN))
    mode = draw.choice(WRITTEN[written])
    size = draw.choice(((28, 28), (1, 1), (1, 300), (300, 1), (40, 60), (257, 129), (2000, 1500)))
    noise = np.random.default_rng(draw.randrange(2**32)).integers(
        0, 256, (size[1], size[0], 3), dtype=np.uint8
    )
    if draw.random() < 0.5:
        noise[:] = 255
        noise[size[1] // 4 : size[1] // 2, size[0] // 3 : size[0] // 2 + 1] = draw.randrange(256)
    picture = Image.fromarray(noise)
    if mode == "LAB":
        picture = Image.new("LAB", size)
    else:
        picture = picture.convert("L").convert(mode) if mode in ("I", "I;16", "F") else picture.convert(mode)
    made, more = io.BytesIO(), {}
    if written in ("PNG", "JPEG", "WEBP", "TIFF") and draw.random() < 0.3:
        exif = Image.Exif()
        exif[0x0112] = draw.choice((0, 1, 3, 6, 8, 9, 65_535))
        exif[0x010E] = draw.choice(("<script>", "x" * 20_000, "\x00"))
        more["exif"] = exif.tobytes()
    if mode in ("P", "L") and written == "PNG" and draw.random() < 0.5:
        more["transparency"] = draw.choice((0, 255))
    picture.save(made, written, **more)
    return made.getvalue()


def changed(draw: random.Random) -> bytes:
    """A picture with some random bytes changed."""
    raw = bytearray(whole(draw))
    for _ in range(draw.choice((1, 5, 50, 1000))):
        raw[draw.randrange(len(raw))] = draw.randrange(256)
    return bytes(raw)


def changed_head(draw: random.Random) -> bytes:
    """A picture with some bytes of its header changed."""
    raw = bytearray(whole(draw))
    for _ in range(draw.choice((1, 2, 5))):
        raw[draw.randrange(min(len(raw), 120))] = draw.choice((0, 1, 127, 128, 255, draw.randrange(256)))
    return bytes(raw)


def cut(draw: random.Random) -> bytes:
    """A picture whose file ends too early."""
    raw = whole(draw)
    return raw[
        : draw.choice(
            (0, 1, 2, 8, 12, 20, 33, len(raw) // 2, len(raw) - 1, len(raw) - 12, draw.randrange(len(raw)))
        )
    ]


def longer(draw: random.Random) -> bytes:
    """A picture with other bytes after its end."""
    return whole(draw) + draw.choice(
        (b"\0" * 10**6, whole(draw), draw.randbytes(1000), b"PK\x03\x04", b"<script>")
    )


def _chunk(name: bytes, content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + name + content + zlib.crc32(name + content).to_bytes(4, "big")


def _png(width: int, height: int, depth: int, colour: int, rows: bytes, *chunks: bytes) -> bytes:
    """A PNG file of this size, bit depth and colour type, with the compressed rows `rows` and these further chunks."""
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((depth, colour, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", head)
        + b"".join(chunks)
        + _chunk(b"IDAT", rows)
        + _chunk(b"IEND", b"")
    )


def absurd_size(draw: random.Random) -> bytes:
    """A small file whose header claims a huge picture; sometimes its compressed rows really hold as much."""
    width, height = draw.choice(SIDES), draw.choice(SIDES)
    depth, colour = draw.choice(
        ((1, 0), (8, 0), (16, 0), (8, 2), (16, 2), (8, 3), (8, 4), (16, 4), (8, 6), (16, 6), (3, 9))
    )
    real = width * height <= 20_000_000 and draw.random() < 0.6
    n = (width * depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}.get(colour, 1) // 8 + 2) * height if real else 1000
    return _png(width, height, depth, colour, zlib.compress(b"\0" * min(n, 2**28)))


def absurd_chunks(draw: random.Random) -> bytes:
    """A PNG with chunks of absurd content."""
    bomb = zlib.compress(b"\0" * 2**24)
    chunks = (
        _chunk(b"zTXt", b"Comment\0\0" + bomb), _chunk(b"iTXt", b"Comment\0\1\0\0\0" + bomb), _chunk(b"iCCP", b"x\0\0" + bomb),
        _chunk(b"tRNS", b""), _chunk(b"tRNS", b"\xff" * 1000), _chunk(b"PLTE", b"\1\2"), _chunk(b"eXIf", b"MM\0*\xff\xff\xff\xff"),
        _chunk(b"acTL", b"\xff" * 8), _chunk(b"fcTL", b"\xff" * 26), _chunk(b"gAMA", b"\0"), b"\xff\xff\xff\xffIDAT", _chunk(b"pHYs", b"\0" * 9),
    )  # fmt: skip
    several = draw.choice((1, 1, 3, 60))
    rows = zlib.compress((b"\0" + b"\x7f" * 40) * 40)
    return _png(
        40,
        40,
        8,
        draw.choice((0, 3)),
        rows,
        *([draw.choice(chunks)] if several == 60 else draw.choices(chunks, k=several)),
    )


def animated(draw: random.Random) -> bytes:
    """An animated picture of up to 200 frames, of which only the first may be read."""
    frames = [Image.new("RGB", (60, 40), (index % 256, 0, 0)) for index in range(draw.choice((2, 200)))]
    made = io.BytesIO()
    frames[0].save(made, draw.choice(("PNG", "WEBP", "GIF", "TIFF")), save_all=True, append_images=frames[1:])
    return made.getvalue()


def other_content(draw: random.Random) -> bytes:
    """A file of another kind, or the mere beginning of a picture file."""
    return draw.choice((
        b"", b"\0" * 10**6, draw.randbytes(5000), b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(x) run\n", b"%PDF-1.4\n", b"P6\n99999 99999\n255\n", b"P1\n" + b"9" * 10**5,
        b"#define x_width 99999\n#define x_height 99999\nstatic char x_bits[] = {", b"BM" + b"\xff" * 60, b"RIFF\xff\xff\xff\xffWEBPVP8L" + b"\xff" * 99,
        b"\x80\x04}\x94\x8c\x01a\x94K\x01s.", b"\xff\xd8\xff" + b"\xff" * 9999, b"II*\0\x08\0\0\0\xff\xff" + b"\xff" * 200,
    ))  # fmt: skip


def codes(draw: random.Random) -> bytes:
    """Codes of drawings, as addresses and the canvas send them, right and wrong ones."""
    right = to_code(
        np.random.default_rng(draw.randrange(99)).integers(0, 256, (28, 28), dtype=np.uint8)
    ).encode()
    bomb = base64.urlsafe_b64encode(zlib.compress(b"\0" * 2**24, 9))
    return draw.choice((
        right, right[:-5], right + b"=", bomb, b"0" * 784, b"f" * 783, "٣".encode() * 784, b"-1" * 392, b"g" * 784, b"_" * 784, b" f" * 392,
        base64.urlsafe_b64encode(zlib.compress(b"\xff" * 391)), base64.urlsafe_b64encode(zlib.compress(b"\xff" * 392) + b"more"), b"%" * 60_000,
    ))  # fmt: skip


KINDS = {
    item.__name__: item
    for item in (
        whole,
        changed,
        changed_head,
        cut,
        longer,
        absurd_size,
        absurd_chunks,
        animated,
        other_content,
        codes,
    )
}

if __name__ == "__main__":
    sys.exit(main())
