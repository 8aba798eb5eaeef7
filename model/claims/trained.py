"""What is measured of trained encoders, and of untrained ones of their shape: numbers by seed."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..capture import activations
from ..experiments.probabilities import probabilities
from ..experiments.residual_stream import SUBLAYERS, norms, shares, skip_terms
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..measures.head_matching import distance_matrix, match_heads
from ..measures.head_measures import mean_entropy
from ..torch_seed import torch_seed
from ..train.snapshot import gradient_norm
from ..transformer import Transformer
from .measurements import Measurement
from .seed_families import N_EXAMPLES, HeldOut, SeedFamily, batches, held_out, load_families
from .untrained import SEEDS

N_MATCHED = 100  # examples over which head distances are averaged
GRADIENT_BATCH = 32

Numbers = dict[str, float]  # by the name of the figure


def measure_trained(folder: Path) -> Iterator[Measurement]:
    """Of every family of checkpoints that is there. Raises FileNotFoundError where the sentences are missing."""
    for family in load_families():
        examples = held_out(family.pre[0], folder)
        yield from of_family(family, examples)


def of_family(family: SeedFamily, examples: HeldOut) -> Iterator[Measurement]:
    """All figures of one family; those for which nothing was recorded are left out."""
    some = examples.some(N_EXAMPLES)
    yield from _at_start(family, some)

    def trained(loaded: Loaded) -> Numbers:
        return inside(loaded, some) | {"gradient, trained": gradient(loaded, some).ratio}

    def right(loaded: Loaded) -> Numbers:
        return {"accuracy": accuracy(loaded, examples)}

    def learned(loaded: Loaded) -> Numbers:
        return {"loss while learning": float(np.mean(_first_phase(loaded)))}

    if n_logged := min(len(_first_phase(loaded)) for loaded in (*family.pre, *family.post)):
        yield from _trained(family, learned, n=n_logged, of="logged steps")
    yield from _trained(family, trained, n=len(some.inputs), of=examples.of)
    yield from _trained(family, right, n=len(examples.inputs), of=examples.of)
    yield distances(family, examples.some(N_MATCHED))


def _at_start(family: SeedFamily, examples: HeldOut) -> Iterator[Measurement]:
    """Of untrained encoders of the family's shape: they cost little, so there are more seeds of them."""

    def numbers(trained: Loaded, seed: int) -> Numbers:
        untrained = _untrained(trained, seed)
        norms = gradient(untrained, examples)
        return {
            "stream growth": inside(untrained, examples)["stream growth"],
            "gradient of the last layer": norms.last,
            "gradient of all parameters": norms.whole,
            "gradient, fresh": norms.ratio,
        }

    pre, post = ([numbers(encoders[0], seed) for seed in SEEDS] for encoders in (family.pre, family.post))
    options = {"n": len(examples.inputs), "of": examples.of, "seeds": SEEDS}
    yield from _by_figure(pre, post, where=f"{family.where}, untrained", **options)


def _trained(
    family: SeedFamily, measure: Callable[[Loaded], Numbers], *, n: int, of: str
) -> Iterator[Measurement]:
    """Of the family's encoders as they are."""
    pre, post = ([measure(loaded) for loaded in encoders] for encoders in (family.pre, family.post))
    options = {"n": n, "of": of, "seeds": family.seeds, "optimizer": family.optimizer}
    yield from _by_figure(pre, post, where=family.where, **options)


def _by_figure(pre: Sequence[Numbers], post: Sequence[Numbers], **options: Any) -> Iterator[Measurement]:
    """A measurement for each figure; `pre` and `post` are by seed."""
    for figure in pre[0]:
        values = {
            name: tuple(numbers[figure] for numbers in by_seed)
            for name, by_seed in (("pre", pre), ("post", post))
        }
        yield Measurement(figure=figure, source="trained", **options, **values)


# Of one encoder


def inside(loaded: Loaded, examples: HeldOut) -> Numbers:
    """Means over the examples: growth of the stream, share of the sublayers, entropy of the heads.

    The growth is the mean length of the states behind the last block, divided by that behind the first one.
    """
    layers = range(loaded.config.n_layers)
    stages = [
        "embedding.output",
        *(f"blocks.{layer}.resid_{part}" for layer in layers for part in ("mid", "post")),
    ]
    added = [f"blocks.{layer}.{sublayer}_out" for layer in layers for sublayer in SUBLAYERS]
    patterns = [f"blocks.{layer}.attention.pattern" for layer in layers]
    found = []
    for places in batches(loaded, examples.inputs):
        given = [examples.inputs[place] for place in places]
        seen = activations(loaded, given, [*stages, *added, *patterns])
        residual, outputs, pattern = (
            np.stack([seen[name].numpy() for name in names], axis=1) for names in (stages, added, patterns)
        )
        for stream, out, weights in zip(residual, outputs, pattern, strict=True):
            by_layer = out.reshape(len(layers), len(SUBLAYERS), *out.shape[1:])
            found.append(
                (
                    norms(stream[2]).mean(),
                    norms(stream[-1]).mean(),
                    shares(skip_terms(loaded.model, stream), by_layer).mean(),
                    mean_entropy(weights, np.ones_like(weights, bool)).mean(),
                )
            )
    first, last, share, entropy = np.mean(found, axis=0, dtype=np.float64).tolist()
    return {"stream growth": last / first, "share of sublayers": share, "entropy": entropy}


def accuracy(loaded: Loaded, examples: HeldOut) -> float:
    """Share of the examples that are named rightly."""
    said = probabilities(loaded, examples.inputs)[:, 0].argmax(axis=-1)
    return float((said == np.array(examples.labels)).mean())


@dataclass(frozen=True, slots=True)
class Gradient:
    """Norms of the gradient of the classification loss, each averaged over batches."""

    last: (
        float  # of the second matrix of the last feed-forward, which Theorem 1 of Xiong et al. 2020 is about
    )
    whole: float  # of all parameters together
    ratio: float  # of the last block's parameters to the first block's


def gradient(loaded: Loaded, examples: HeldOut) -> Gradient:
    """In evaluation mode, in batches of `GRADIENT_BATCH` neighbours."""
    model, found = loaded.model, []
    for start in range(0, len(examples.inputs), GRADIENT_BATCH):
        batch = slice(start, start + GRADIENT_BATCH)
        labels = torch.tensor(examples.labels[batch])
        model.zero_grad()
        functional.cross_entropy(model(_padded(loaded, examples.inputs[batch])), labels).backward()
        of_all = [each.grad.norm() for each in model.parameters() if each.grad is not None]
        by_layer = gradient_norm(model)
        last = model.blocks[-1].feed_forward.contract.weight.grad.norm()
        found.append(
            (last.item(), torch.stack(of_all).norm().item(), by_layer[0].item(), by_layer[-1].item())
        )
    model.zero_grad()
    last, whole, first_block, last_block = np.mean(found, axis=0).tolist()
    return Gradient(last, whole, last_block / first_block)


def _padded(loaded: Loaded, inputs: tuple) -> Tensor:
    prepared = [prepare(loaded, given)[0][0] for given in inputs]
    if not loaded.config.is_text:
        return torch.stack(prepared)
    return torch.nn.utils.rnn.pad_sequence(prepared, batch_first=True, padding_value=loaded.config.padding_id)


def _untrained(loaded: Loaded, seed: int) -> Loaded:
    """An untrained encoder of the same configuration; both placements begin with the same matrices."""
    with torch_seed(seed):
        return replace(loaded, model=Transformer(loaded.config).eval())


def _first_phase(loaded: Loaded) -> list[float]:
    """The losses in nats that the run logged of its first phase, evenly spaced: the sooner they fall, the less their mean."""
    return [row["loss"] for row in loaded.history.get("log", []) if row["phase"] == 0 and "loss" in row]


# Of two encoders


def distances(family: SeedFamily, examples: HeldOut) -> Measurement:
    """Head distance between the heads of two encoders, matched so that it is least; mean over the pairs of heads."""
    everyone = (*family.pre, *family.post)
    pairs = list(itertools.combinations(range(len(everyone)), 2))
    sums: dict[tuple[int, int], np.ndarray | float] = dict.fromkeys(pairs, 0.0)
    for given in examples.inputs:
        patterns = [_patterns(loaded, given) for loaded in everyone]
        for one, other in pairs:
            sums[one, other] = sums[one, other] + distance_matrix(patterns[one], patterns[other])
    found: dict[str, list[float]] = {"pre": [], "post": [], "across": []}
    for (one, other), total in sums.items():
        matrix = total / len(examples.inputs)
        apart = float(matrix[np.arange(len(matrix)), match_heads(matrix)].mean())
        n = len(family.pre)
        found["pre" if other < n else "post" if one >= n else "across"].append(apart)
    return Measurement(
        figure="distance of heads",
        source="trained",
        where=family.where,
        n=len(examples.inputs),
        of=examples.of,
        seeds=family.seeds,
        optimizer=family.optimizer,
        **{name: tuple(values) for name, values in found.items()},
    )


def _patterns(loaded: Loaded, given: InputLike) -> np.ndarray:
    names = [f"blocks.{layer}.attention.pattern" for layer in range(loaded.config.n_layers)]
    return np.stack([pattern[0].numpy() for pattern in activations(loaded, [given], names).values()])
