"""python -m viz.export FILE.npz --out FILE.{html,png,svg,pdf} [--head L H] [--width-cm 8.5] [--font-pt 8]

Writes a record file, as `python -m model.capture` makes it, as a page of all heads that opens offline, or as a
picture of all heads or, with `--head`, of one head. An error is printed as one sentence, with exit code 2.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..attention.head_overview import head_overview
from ..attention.token_heatmaps import attention_heatmap, cross_heatmap
from ..builders.figure import Figure
from .export_style import ExportStyle
from .notebook import model_module
from .offline_page import offline_page
from .safe_text import missing_letters_sentence
from .save import PICTURES, figure_bytes

KINDS = ("html", *PICTURES)
_OF_PICTURES = ("theme", "width_cm", "font_pt", "transparent", "numbers", "no_title")  # arguments


def main(arguments: Sequence[str] | None = None, program: str = f"python -m {__package__}") -> None:
    """Runs the command with these arguments, by default those of the process; `program` is its name in messages."""
    parser = argparse.ArgumentParser(
        prog=program, description=__doc__, formatter_class=argparse.RawTextHelpFormatter
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
    parser.add_argument("--numbers", choices=("all", "none"), help="in the cells of one head's picture")
    parser.add_argument("--no-title", action="store_true", help="a picture without what stands above it")
    args = parser.parse_args(arguments)
    with model_module("files.errors").exit_on_refusal(program):
        content = file_content(args)
        with model_module("files.content").replacement_file(args.out) as part_file:
            part_file.write_bytes(content)
    print(f"{args.out.name}: {len(content):,} bytes")


def file_content(args: argparse.Namespace) -> bytes:
    """The content of the file that the arguments ask for. Raises ValueError for arguments that do not fit together."""
    file_format = args.out.suffix.lower().removeprefix(".")
    if file_format not in KINDS:
        raise ValueError(f"--out must end in .{', .'.join(KINDS)}, got {args.out.name}")
    is_set = {name: value is not None and value is not False for name, value in vars(args).items()}
    options = [f"--{name.replace('_', '-')}" for name in _OF_PICTURES if is_set[name]]
    if file_format == "html" and options:
        raise ValueError(
            f"{', '.join(options)} can be set for .{', .'.join(PICTURES)}: a page takes its look from the browser"
        )
    read = model_module("record.record_file").read_file(args.record)
    record = read.record
    layer, head = args.head or (0, 0)
    query = args.query or 0
    for axis_name, index, axis_length in zip(
        ("layer", "head"), (layer, head), record.pattern.shape[:2], strict=True
    ):
        if not 0 <= index < axis_length:
            raise ValueError(f"no {axis_name} {index}; the record has {axis_length}, from 0")
    if not 0 <= query < len(record):
        raise ValueError(f"no position {query}; the record has {len(record)}, from 0")
    if file_format == "html":
        title = f"Attention of {read.settings.get('checkpoint') or args.record.stem}"
        # An encoder may have cut a part out of the picture: the patches lie on that part.
        picture = (
            None
            if read.picture is None
            else model_module("inputs").preprocessed_picture(read.picture, record)
        )
        return offline_page(
            record, title=title, settings=read.settings, picture=picture, chosen=(layer, head, query)
        )
    style = ExportStyle(
        args.theme or "light",
        args.width_cm,
        args.font_pt,
        args.transparent,
        numbers=args.numbers or "drawn",
        title=not args.no_title,
    )
    figure = _figure_of_heads(record, args.head, args.query)
    if warning := missing_letters_sentence(figure, file_format):
        print(f"{__package__}: {warning}", file=sys.stderr)
    return figure_bytes(figure, file_format, style)


def _figure_of_heads(record: Any, head: Sequence[int] | None, query: int | None) -> Figure:
    """The figure of one `head` (layer, head) of the record, with its `query` framed, or of all heads without `head`."""
    if head is None:
        return head_overview(record, clickable=False)
    if record.keys is not None:
        return cross_heatmap(record.pattern[tuple(head)], record.tokens, record.keys.tokens, query=query or 0)
    return attention_heatmap(record, *head, query=query)


if __name__ == "__main__":
    main()
