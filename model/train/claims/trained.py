"""Measurements of trained encoders, and of untrained ones of the same shape, by seed."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ...capture import activations
from ...claims.verdict import Measurement
from ...decompositions.answer_parts import answer_parts
from ...device import torch_seed
from ...experiments.batching import batches
from ...experiments.probabilities import probabilities
from ...experiments.residual_stream import SUBLAYERS, norms, shares, skip_terms
from ...inputs import InputLike, prepare
from ...loaded import Loaded
from ...measures.head_matching import distance_matrix, match_heads
from ...measures.head_measures import mean_entropy
from ...transformer import Transformer
from ..snapshot import gradient_norm
from .seed_families import N_EXAMPLES, HeldOut, SeedFamily, held_out, load_families
from .untrained import SEEDS

N_MATCHED = 100  # examples over which head distances are averaged
GRADIENT_BATCH = 32

ValuesByFigure = dict[str, float]  # by the name of the figure


def measure_trained(folder: Path) -> Iterator[Measurement]:
    """Yields the measurements of every family of checkpoints; `folder` holds the treebank's sentences.

    Raises FileNotFoundError if the sentences are missing.
    """
    for family in load_families():
        examples = held_out(family.pre[0], folder)
        yield from measure_family(family, examples)


def measure_family(family: SeedFamily, examples: HeldOut) -> Iterator[Measurement]:
    """Yields the measurements of one family of encoders, with the loss while learning if all its training histories hold losses."""
    subset = examples.subset(N_EXAMPLES)
    yield from _measure_untrained(family, subset)

    def trained_figures(loaded: Loaded) -> ValuesByFigure:
        return stream_and_attention(loaded, subset) | {
            "gradient, trained": gradient_norms(loaded, subset).ratio,
            "share of early layers": early_share(loaded, subset),
        }

    def accuracy_figure(loaded: Loaded) -> ValuesByFigure:
        return {"accuracy": accuracy(loaded, examples)}

    def learning_figure(loaded: Loaded) -> ValuesByFigure:
        return {"loss while learning": float(np.mean(_first_phase_losses(loaded)))}

    if n_logged := min(len(_first_phase_losses(loaded)) for loaded in (*family.pre, *family.post)):
        yield from _measure_encoders(family, learning_figure, n=n_logged, of="logged steps")
    yield from _measure_encoders(family, trained_figures, n=len(subset.inputs), of=examples.of)
    yield from _measure_encoders(family, accuracy_figure, n=len(examples.inputs), of=examples.of)
    yield head_distances(family, examples.subset(N_MATCHED))


def _measure_untrained(family: SeedFamily, examples: HeldOut) -> Iterator[Measurement]:
    """Yields measurements of untrained encoders of the family's shape, with more seeds than there are trained encoders."""

    def figures(trained: Loaded, seed: int) -> ValuesByFigure:
        untrained = _untrained(trained, seed)
        norms_at_start = gradient_norms(untrained, examples)
        return {
            "stream growth": stream_and_attention(untrained, examples)["stream growth"],
            "gradient of the last layer": norms_at_start.last,
            "gradient of all parameters": norms_at_start.whole,
            "gradient, fresh": norms_at_start.ratio,
        }

    pre, post = ([figures(encoders[0], seed) for seed in SEEDS] for encoders in (family.pre, family.post))
    options = {"n": len(examples.inputs), "of": examples.of, "seeds": SEEDS}
    yield from _measurements_by_figure(pre, post, where=f"{family.where}, untrained", **options)


def _measure_encoders(
    family: SeedFamily, measure: Callable[[Loaded], ValuesByFigure], *, n: int, of: str
) -> Iterator[Measurement]:
    """Yields a measurement for each figure (by name) that `measure` returns, called with every encoder of the family.

    `n` is the number of examples and `of` their name on the page.
    """
    pre, post = ([measure(loaded) for loaded in encoders] for encoders in (family.pre, family.post))
    yield from _measurements_by_figure(
        pre, post, where=family.where, n=n, of=of, seeds=family.seeds, optimizer=family.optimizer
    )


def _measurements_by_figure(
    pre: Sequence[ValuesByFigure], post: Sequence[ValuesByFigure], **options: Any
) -> Iterator[Measurement]:
    """Yields a measurement for each figure; `pre` and `post` hold, for each seed, the figures of the two encoders by name."""
    for figure in pre[0]:
        yield Measurement(
            figure=figure,
            source="trained",
            pre=tuple(figures[figure] for figures in pre),
            post=tuple(figures[figure] for figures in post),
            **options,
        )


# Figures of one encoder


def stream_and_attention(loaded: Loaded, examples: HeldOut) -> ValuesByFigure:
    """Three figures of an encoder, by name, as means over the examples: "stream growth", "share of sublayers" and "entropy"
    (of the attention weights, normalised: from 0 to 1).

    The growth is the mean norm of the states after the last block, divided by that after the first; the share is
    ‖F‖ / (‖x‖ + ‖F‖) of a sublayer's output F that is added to x.
    """
    layers = range(loaded.config.n_layers)
    stage_names = [
        "embedding.output",
        *(f"blocks.{layer}.resid_{position}" for layer in layers for position in ("mid", "post")),
    ]
    output_names = [f"blocks.{layer}.{sublayer}_out" for layer in layers for sublayer in SUBLAYERS]
    pattern_names = [f"blocks.{layer}.attention.pattern" for layer in layers]
    rows = []
    for indices, _ in batches(loaded, examples.inputs):
        inputs = [examples.inputs[index] for index in indices]
        captured = activations(loaded, inputs, [*stage_names, *output_names, *pattern_names])
        residual, outputs, pattern = (
            np.stack([captured[name].numpy() for name in names], axis=1)
            for names in (stage_names, output_names, pattern_names)
        )
        for states, example_outputs, head_patterns in zip(residual, outputs, pattern, strict=True):
            outputs_by_layer = example_outputs.reshape(
                len(layers), len(SUBLAYERS), *example_outputs.shape[1:]
            )
            rows.append(
                (
                    norms(states[2]).mean(),
                    norms(states[-1]).mean(),
                    shares(skip_terms(loaded.model, states), outputs_by_layer).mean(),
                    mean_entropy(head_patterns, np.ones_like(head_patterns, bool)).mean(),
                )
            )
    first_norm, last_norm, sublayer_share, entropy = np.array(rows, np.float64).mean(axis=0).tolist()
    return {"stream growth": last_norm / first_norm, "share of sublayers": sublayer_share, "entropy": entropy}


def early_share(loaded: Loaded, examples: HeldOut) -> float:
    """Share, 0 to 1, of the first half of the layers in what all layers add to the answer (`AnswerParts.early_share`).

    It is the mean over the examples.
    """
    return float(np.mean([answer_parts(loaded, model_input).early_share for model_input in examples.inputs]))


def accuracy(loaded: Loaded, examples: HeldOut) -> float:
    """Share of the examples that are classified correctly."""
    predicted = probabilities(loaded, examples.inputs)[:, 0].argmax(axis=-1)
    return float((predicted == np.array(examples.labels)).mean())


@dataclass(frozen=True, slots=True)
class GradientNorms:
    """Norms of the gradient of the classification loss, averaged over batches."""

    last: float  # second matrix of the last feed-forward, as in Theorem 1 of Xiong et al. 2020
    whole: float  # all parameters together
    ratio: float  # last block's parameters relative to the first block's


def gradient_norms(loaded: Loaded, examples: HeldOut) -> GradientNorms:
    """Norms of the gradient without dropout, as means over batches of `GRADIENT_BATCH` consecutive examples."""
    model, rows = loaded.model, []
    for start in range(0, len(examples.inputs), GRADIENT_BATCH):
        batch = slice(start, start + GRADIENT_BATCH)
        labels = torch.tensor(examples.labels[batch])
        model.zero_grad()
        functional.cross_entropy(model(_padded_batch(loaded, examples.inputs[batch])), labels).backward()
        parameter_norms = [
            parameter.grad.norm() for parameter in model.parameters() if parameter.grad is not None
        ]
        norms_by_layer = gradient_norm(model)
        last_matrix_gradient = model.blocks[-1].feed_forward.contract.weight.grad
        assert last_matrix_gradient is not None, "the loss depends on every block"
        rows.append(
            (
                last_matrix_gradient.norm().item(),
                torch.stack(parameter_norms).norm().item(),
                norms_by_layer[0].item(),
                norms_by_layer[-1].item(),
            )
        )
    model.zero_grad()
    last_matrix_norm, whole_norm, first_block_norm, last_block_norm = np.mean(rows, axis=0).tolist()
    return GradientNorms(last_matrix_norm, whole_norm, last_block_norm / first_block_norm)


def _padded_batch(loaded: Loaded, inputs: tuple) -> Tensor:
    input_tensors = [prepare(loaded, text_or_image)[0][0] for text_or_image in inputs]
    if not loaded.config.is_text:
        return torch.stack(input_tensors)
    padding_id = loaded.config.padding_id or 0
    return torch.nn.utils.rnn.pad_sequence(input_tensors, batch_first=True, padding_value=padding_id)


def _untrained(loaded: Loaded, seed: int) -> Loaded:
    """An untrained encoder with the configuration of `loaded`; with equal `seed`, pre-LN and post-LN have equal initial weights."""
    with torch_seed(seed):
        return replace(loaded, model=Transformer(loaded.config).eval())


def _first_phase_losses(loaded: Loaded) -> list[float]:
    """Logged losses of the first training phase, in nats; empty if the history has none."""
    return [row["loss"] for row in loaded.history.get("log", []) if row["phase"] == 0 and "loss" in row]


# Figures of two encoders


def head_distances(family: SeedFamily, examples: HeldOut) -> Measurement:
    """Measures the mean distance (Jensen-Shannon, nats) of matched heads, for each pair of encoders in the family."""
    encoders = (*family.pre, *family.post)
    pairs = list(itertools.combinations(range(len(encoders)), 2))
    sums: dict[tuple[int, int], np.ndarray] = {pair: np.zeros(()) for pair in pairs}
    for text_or_image in examples.inputs:
        patterns = [_patterns(loaded, text_or_image) for loaded in encoders]
        for first_index, second_index in pairs:
            sums[first_index, second_index] = sums[first_index, second_index] + distance_matrix(
                patterns[first_index], patterns[second_index]
            )
    distances_by_placement: dict[str, list[float]] = {"pre": [], "post": [], "across": []}
    for (first_index, second_index), matrix_sum in sums.items():
        matrix = matrix_sum / len(examples.inputs)
        distance = float(matrix[np.arange(len(matrix)), match_heads(matrix)].mean())
        n_seeds = len(family.pre)
        distances_by_placement[
            "pre" if second_index < n_seeds else "post" if first_index >= n_seeds else "across"
        ].append(distance)
    return Measurement(
        figure="distance of heads",
        source="trained",
        where=family.where,
        n=len(examples.inputs),
        of=examples.of,
        seeds=family.seeds,
        optimizer=family.optimizer,
        pre=tuple(distances_by_placement["pre"]),
        post=tuple(distances_by_placement["post"]),
        across=tuple(distances_by_placement["across"]),
    )


def _patterns(loaded: Loaded, text_or_image: InputLike) -> np.ndarray:
    names = [f"blocks.{layer}.attention.pattern" for layer in range(loaded.config.n_layers)]
    return np.stack([pattern[0].numpy() for pattern in activations(loaded, [text_or_image], names).values()])
