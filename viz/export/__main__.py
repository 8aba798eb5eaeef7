"""python -m viz.export FILE.npz --out FILE.{html,svg,png} [--head L H] [--theme dark] [--width-cm 8.5] [--font-pt 8]

A record file as `python -m model.capture` writes it, as a page of all heads that opens offline, or as a picture: of all
heads, or with `--head` of one. What goes wrong is one sentence, and exit code 2.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ..attention.head_overview import head_overview
from ..attention.token_heatmaps import attention_heatmap, cross_heatmap
from ..builders.figure import Figure
from .files import PICTURES, file
from .print_size import Look
from .view import html, view_of

KINDS = ("html", *PICTURES)
PAPER_DPI = 300


def main(arguments: Sequence[str] | None = None) -> None:
    program = __package__
    parser = argparse.ArgumentParser(
        prog=f"python -m {program}", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("record", type=Path, metavar="FILE", help="an .npz or .safetensors file")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help=f"ends in .{', .'.join(KINDS)}"
    )
    parser.add_argument("--head", type=int, nargs=2, metavar=("L", "H"), help="one head, from 0")
    parser.add_argument("--query", type=int, default=None, help="the query position whose row is highlighted")
    parser.add_argument("--theme", choices=("light", "dark"), help="of a picture; light unless given")
    parser.add_argument("--width-cm", type=float, help="of a picture")
    parser.add_argument("--font-pt", type=float, help="font size in a picture")
    parser.add_argument("--transparent", action="store_true", help="a picture without background")
    asked = parser.parse_args(arguments)
    try:
        content = made(asked)
        with _of_model("files.writing").replacing(asked.out) as beside:
            beside.write_bytes(content)
    except (ValueError, OSError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        print(f"{program}: {' '.join(said.split())}", file=sys.stderr)
        sys.exit(2)
    print(f"{asked.out.name}: {len(content):,} bytes")


def made(asked: argparse.Namespace) -> bytes:
    """The content of the file that is asked for."""
    kind = asked.out.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise ValueError(f"--out must end in .{', .'.join(KINDS)}, got {asked.out.name}")
    if kind == "html" and (unused := [option for option, value in _of_pictures(asked).items() if value]):
        raise ValueError(
            f"{', '.join(unused)} can be set for .{' and .'.join(PICTURES)}: a page takes its size and its theme from the browser"
        )
    read = _of_model("record.record_file").read_file(asked.record)
    record = read.record
    layer, head = asked.head or (0, 0)
    query = asked.query or 0
    for what, number, n in zip(("layer", "head"), (layer, head), record.pattern.shape[:2], strict=True):
        if not 0 <= number < n:
            raise ValueError(f"no {what} {number}; the record has {n}, from 0")
    if not 0 <= query < len(record):
        raise ValueError(f"no position {query}; the record has {len(record)}, from 0")
    if kind == "html":
        title = f"Attention of {read.settings.get('checkpoint') or asked.record.stem}"
        # An encoder may have cut a part out of the picture: the patches lie on that part.
        picture = None if read.picture is None else _of_model("inputs").as_seen(read.picture, record)
        view = view_of(
            record, title=title, settings=read.settings, picture=picture, chosen=(layer, head, query)
        )
        return html(view)
    dpi = {"dpi": PAPER_DPI} if asked.width_cm else {}
    look = Look(asked.theme or "light", asked.width_cm, asked.font_pt, asked.transparent, **dpi)
    return file(_figure(record, asked.head, asked.query), kind, look)


def _of_pictures(asked: argparse.Namespace) -> dict[str, object]:
    """The options that change how a picture looks; a page has none of them."""
    return {
        "--theme": asked.theme,
        "--width-cm": asked.width_cm is not None,
        "--font-pt": asked.font_pt is not None,
        "--transparent": asked.transparent,
    }


def _figure(record: Any, head: Sequence[int] | None, query: int | None) -> Figure:
    if head is None:
        return head_overview(record, clickable=False)
    if record.keys is not None:
        return cross_heatmap(record.pattern[tuple(head)], record.tokens, record.keys.tokens, query=query or 0)
    return attention_heatmap(record, *head, query=query)


def _of_model(name: str) -> Any:
    """A module of the package beside this one, which is called viz, or in an installation loupe.viz; imported here alone
    and by name, since `model` loads torch and figures do without."""
    above = __package__.removesuffix("viz.export")
    return import_module(f"{above}model.{name}")


if __name__ == "__main__":
    main()
