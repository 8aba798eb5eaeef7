"""Writes a record file: `python -m model.capture CHECKPOINT --text "..." --out FILE.npz`, or `--image FILE`.

Encoders of sentence pairs read `--second "..."` after the text.
CHECKPOINT is a name as in the app, or the path of a folder. An error is printed as one sentence, with exit code 2.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..checkpoint.load_or_download import CHECKPOINT, exit_with_one_sentence, load_checkpoint
from ..files.arrays_file import KINDS
from ..inputs import Text, prepare
from ..inputs.picture_file import read_picture
from ..inputs.text import Encoded
from ..record.record_file import save
from . import capture
from .provenance import settings


def main(arguments: Sequence[str] | None = None, program: str = f"python -m {__package__}") -> None:
    parser = argparse.ArgumentParser(
        prog=program, description="Writes everything that one forward pass computes."
    )
    parser.add_argument("checkpoint", help=CHECKPOINT)
    input_group = parser.add_mutually_exclusive_group(required=True)
    input_group.add_argument("--text", help="what the encoder reads")
    parser.add_argument("--second", metavar="TEXT", help="the second text, for encoders of sentence pairs")
    input_group.add_argument("--image", type=Path, metavar="FILE", help="the picture that the encoder reads")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help=f"ends in {' or '.join(KINDS)}"
    )
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(arguments)
    with exit_with_one_sentence(program):
        if options.out.suffix.lower() not in KINDS:
            raise ValueError(f"--out must end in {' or '.join(KINDS)}, got {options.out.name}")
        if options.second is not None and options.text is None:
            raise ValueError("--second goes with --text")
        if options.second is not None and not options.second.strip():
            raise ValueError("--second is empty")
        loaded = load_checkpoint(options.checkpoint, options.device)
        picture = None if options.image is None else read_picture(options.image)
        model_input = Text(options.text, options.second) if picture is None else picture
        _, positions = prepare(loaded, model_input)
        if isinstance(positions, Encoded) and not positions.n_read:
            raise ValueError(f"{loaded.name} finds no token in this text")
        record = capture(loaded, model_input)
        save(record, options.out, settings(loaded, model_input), picture)
    layers, heads, n, _ = record.pattern.shape
    print(f"{options.out.name}: {layers} layers of {heads} heads over {n} positions")


if __name__ == "__main__":
    main()
