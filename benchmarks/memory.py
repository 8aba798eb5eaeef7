"""python -m benchmarks.memory [--clicks 700] [--cache-mb 256] [--beyond 512]
python -m benchmarks.memory --large [--clicks 120] [--cache-mb 1536] [--beyond 1536]

The memory of the server while one user clicks through all pages that show an input: other layers, heads, parts, lenses,
and every few clicks another text of the greatest length. By default it is a review encoder with 384 tokens and 700 clicks,
as many as in an hour; with --large an encoder of BERT-base's shape with random weights and 512 tokens, whose record takes
0.4 GB.

The cache is bounded. Beyond it there are the modules that pages import, what one run of a page computes with, and freed
memory that the allocator has not returned. Every 25 clicks it prints how much more the process holds than when it was idle;
the exit code is 1 if that was ever more than the cache's bound plus --beyond.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.load.browser_window import Answer, Window
from benchmarks.load.servers import ROOT, Process, serving

LARGE, REVIEWS = "random-12x12", "imdb-pre-ln"
PAGES = ("", "masks", "heads", "inside_a_head", "positions", "compare")  # the first one is Attention
CHOSEN = ("button_group", "selectbox", "select_slider", "checkbox", "slider")  # what a click changes
PARTS = ("masks_part", "heads_part", "inside", "positions", "compare_part", "compare_what", "lens")
SLOW = ("value zeroing", "value zeroing, rolled out")  # lenses that compute for seconds at this length
# These would choose another encoder or input than is measured here, or start a check that takes a minute.
LEFT_ALONE = ("kind", "checkpoint", "example", "compare_with", "faithfulness_check")
SAID_EVERY = 25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--clicks", type=int)
    parser.add_argument("--cache-mb", type=int)
    parser.add_argument("--beyond", type=int, metavar="MB")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    usual = (120, 1536, 1536) if arguments.large else (700, 256, 512)
    chosen = arguments.clicks, arguments.cache_mb, arguments.beyond
    clicks, cache_mb, beyond = (
        usual_value if value is None else value for value, usual_value in zip(chosen, usual, strict=True)
    )
    os.environ["LOUPE_CACHE_MB"] = str(cache_mb)
    with tempfile.TemporaryDirectory() as home:
        options: Sequence[str] = ()
        if arguments.large:
            write_encoder(Path(home, "models", LARGE))
            options = ("--", "--models", str(Path(home, "models")))
        with serving(1, Path(home), options) as (server, (process,)):
            name, n_tokens = (LARGE, 512) if arguments.large else (REVIEWS, 384)
            window = Window(server, query={"checkpoint": name, "text": "A film."}, patience=600)
            most = asyncio.run(click(window, process, n_tokens, clicks, random.Random(arguments.seed)))
    print(f"at most {most:+,.0f} MB; the bound is {cache_mb:,} MB of the cache and {beyond:,} MB beyond it")
    if most > cache_mb + beyond:
        sys.exit("more than the bound")


def write_encoder(folder: Path) -> None:
    """Writes an encoder of BERT-base's shape with random weights and the tokenizer of the review encoders."""
    from dataclasses import replace

    import torch
    from tokenizers import Tokenizer

    from model import checkpoint
    from model.config import preset
    from model.transformer import Transformer

    sizes = {"d_model": 768, "n_layers": 12, "n_heads": 12, "d_k": 64, "d_v": 64, "d_ff": 3072}
    tokenizer = Tokenizer.from_file(str(ROOT / "checkpoints" / REVIEWS / "tokenizer.json"))
    config = replace(preset(REVIEWS), n_positions=512, vocab_size=tokenizer.get_vocab_size(), **sizes)
    torch.manual_seed(0)
    checkpoint.save(folder, Transformer(config), {}, tokenizer)


async def click(window: Window, process: Process, n_tokens: int, n: int, draw: random.Random) -> float:
    """The peak memory of the process during `n` random clicks, in MB beyond its memory when idle with the encoder
    loaded.
    """
    check(await window.open(), "the first page")
    idle, pages = process.memory()["resident"], _pages(draw)
    print(f"idle with the encoder loaded: {idle:,.0f} MB", flush=True)
    for number in range(1, n + 1):
        action, answer = await _next(window, pages, n_tokens, number, draw)
        check(answer, action)
        if number % SAID_EVERY == 0 or number == n:
            held = process.memory()
            print(
                f"{number:>5} clicks: {held['resident'] - idle:+7,.0f} MB, at most {held['peak'] - idle:+7,.0f} MB",
                flush=True,
            )
    await window.close()
    return process.memory()["peak"] - idle


async def _next(
    window: Window, pages: Iterator[str], n_tokens: int, number: int, draw: random.Random
) -> tuple[str, Answer]:
    """Makes the next random click; returns what it was, in words, and the answer."""
    kind = draw.random()
    if kind < 0.15 and "text" in window.widgets:
        return "another text", await window.change("text", _text(number, n_tokens))
    if kind < 0.35:
        page = next(pages)
        return f"to {page or 'attention'}", await window.go(page)
    keys = [key for key, widget in window.widgets.items() if widget.kind in CHOSEN and key not in LEFT_ALONE]
    parts = [key for key in keys if key in PARTS]
    for key in draw.sample(keys, len(keys)) if draw.random() < 0.6 or not parts else parts:
        value = window.widgets[key].other(window.values.get(key), draw)
        if value is not None and value not in SLOW:
            return f"{window.page}: {key} {value}", await window.change(key, value)
    return "the page again", await window.go(window.page)


def _pages(draw: random.Random) -> Iterator[str]:
    """All pages in turn, again and again, each round in another random order."""
    while True:
        yield from draw.sample(PAGES, len(PAGES))


def _text(number: int, n_tokens: int) -> str:
    """A text of `n_tokens` tokens, of which two are the special ones; texts with different numbers differ."""
    return " ".join(f"film {number} {index % 97}" for index in range((n_tokens - 2) // 3))


def check(answer: Answer, action: str) -> None:
    """Raises an error if the answer shows an exception."""
    if answer.exceptions:
        sys.exit(f"{action}: {answer.exceptions[0]}")


if __name__ == "__main__":
    main()
