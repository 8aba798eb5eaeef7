"""The calls of this project, by name: each function prepares one and returns it as a function without arguments.
`theirs.py` has the same names.
"""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from benchmarks.atlas import plain_forwards
from model.atlas.dataset_examples import Shard, examples_for
from model.atlas.dataset_measure import Statistics
from model.capture import activations, capture
from model.checkpoint import load
from model.config import ModelConfig
from model.experiments.ablation import ablate_heads
from model.experiments.attribution import integrated_gradients as integrate
from model.experiments.knock_out import knock_out as knock_out_each
from model.experiments.knock_out import removable_positions
from model.experiments.patching import patch_heads
from model.experiments.probabilities import probabilities
from model.lenses import RELEVANCE, ROLLOUT, VALUE_ZEROING, through
from model.loaded import Loaded
from model.transformer import Transformer
from viz.export.offline_page import offline_page

from .random_weights import random_record
from .training_step import CLASSES, VOCABULARY, Sizes, stepper

Arrays = dict[str, np.ndarray]
ARRAYS = ("scores", "pattern", "q", "k", "v", "z", "residual", "logits_by_layer")
PIECE = 2**20  # bytes that stay in the cache


@lru_cache(maxsize=1)
def encoder(folder: str) -> Loaded:
    """The encoder in the folder."""
    return load(folder, "cpu")


def forward(folder: str, text: str) -> Callable[[], object]:
    """A forward pass from the text to the logits."""
    loaded = encoder(folder)
    return lambda: probabilities(loaded, [text])


def patterns(folder: str, text: str) -> Callable[[], object]:
    """A capture of the patterns alone."""
    loaded = encoder(folder)
    names = [f"blocks.{layer}.attention.pattern" for layer in range(loaded.config.n_layers)]
    return lambda: activations(loaded, [text], names)


def everything(folder: str, text: str) -> Callable[[], object]:
    """A capture of everything."""
    loaded = encoder(folder)
    return lambda: capture(loaded, text)


def sizes(folder: str, text: str) -> Callable[[], Arrays]:
    """A call that returns the bytes that captures of the patterns and of everything keep, and the number of tokens."""
    record = capture(encoder(folder), text)
    kept = sum(getattr(record, name).nbytes for name in ARRAYS)
    return lambda: {"sizes": np.array([record.pattern.nbytes, kept, len(record)])}


def write(n_bytes: int, fresh: bool) -> Callable[[], object]:
    """A call that copies `n_bytes` out of the processor's cache, to memory that is `fresh` from the system or was
    used before.

    No capture of as many bytes can take less time beyond its forward pass. numpy asks for large pages, as the library
    does.
    """
    source = np.ones(min(PIECE, n_bytes), np.uint8)
    used = None if fresh else np.ones(n_bytes, np.uint8)

    def run() -> np.ndarray:
        target = np.empty(n_bytes, np.uint8) if used is None else used
        for start in range(0, n_bytes, len(source)):
            piece = target[start : start + len(source)]
            piece[:] = source[: len(piece)]
        return target

    return run


def agreement(folder: str, text: str) -> Callable[[], Arrays]:
    """A call that returns arrays to compare with those of the peers."""

    def run() -> Arrays:
        record = capture(encoder(folder), text)
        return {
            "patterns": record.pattern,
            "answer": record.probabilities,
        }

    return run


def ablation(folder: str, text: str) -> Callable[[], Arrays]:
    return lambda: {"values": ablate_heads(encoder(folder), [text])[0]}


def knock_out(folder: str, text: str) -> Callable[[], Arrays]:
    return lambda: {"values": knock_out_each(encoder(folder), text)}


def patching(folder: str, text: str, source: str) -> Callable[[], Arrays]:
    return lambda: {"values": patch_heads(encoder(folder), text, source)}


def value_zeroing(folder: str, text: str) -> Callable[[], Arrays]:
    return _lens(VALUE_ZEROING, folder, text)


def rollout(folder: str, text: str) -> Callable[[], Arrays]:
    return _lens(ROLLOUT, folder, text)


def relevance(folder: str, text: str) -> Callable[[], Arrays]:
    return _lens(RELEVANCE, folder, text)


def integrated_gradients(folder: str, text: str) -> Callable[[], Arrays]:
    def run() -> Arrays:
        result = integrate(encoder(folder), text)
        extras = np.array([result.n_gradients, result.gap])
        return {"values": result.values, "gradients_and_gap": extras}

    return run


def removable(folder: str, text: str) -> Callable[[], Arrays]:
    """A call that returns the positions that are knocked out and explained."""
    record = capture(encoder(folder), text)
    return lambda: {"positions": np.array(removable_positions(record))}


def _lens(lens: str, folder: str, text: str) -> Callable[[], Arrays]:
    """A call that returns the maps of one of this project's lenses."""
    return lambda: {"values": through(lens, encoder(folder), text).pattern[:, 0]}


def training_step(sizes: list[int], precision: str) -> Callable[[], None]:
    """A call that makes one training step of this project's encoder; `sizes` are those of `Sizes`."""
    layers, heads, width, tokens, _ = sizes
    config = ModelConfig(
        d_model=width,
        n_layers=layers,
        n_heads=heads,
        d_k=width // heads,
        d_v=width // heads,
        d_ff=4 * width,
        n_positions=tokens,
        class_names=tuple(map(str, range(CLASSES))),
        vocab_size=VOCABULARY,
        positions="learned",
    )
    return stepper(Transformer(config), Sizes(*sizes), precision)


def atlas_digits(n: int) -> Callable[[], object]:
    """A call that runs the atlas over the first `n` test digits."""
    loaded, shard = _digits(n)
    return lambda: Statistics().measure_shard(loaded, shard, lambda _: None)


def forward_digits(n: int) -> Callable[[], object]:
    """A call that runs plain forward passes over the first `n` test digits."""
    loaded, shard = _digits(n)
    return lambda: plain_forwards(loaded, shard)


def _digits(n: int) -> tuple[Loaded, Shard]:
    """The digit encoder, and the first `n` test digits as a shard."""
    loaded = load("mnist-pre-ln", "cpu")
    return loaded, next(examples_for(loaded, None).shards(n))


def page(size: str, path: str) -> Callable[[], object]:
    """A call that writes the web page of a random record, as "Save as web page" does, to the file `path`."""

    def run() -> None:
        Path(path).write_bytes(offline_page(random_record(size), title="Random weights", settings={}))

    return run
