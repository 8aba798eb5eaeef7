"""Measures over a data set. They run on one shard at a time; results of shards can be stored, sent to other processes and merged.

The statistics of a batch are computed during its forward pass, and equal those that `model.measures.head_statistics` and
`model.experiments.residual_stream` compute for each input. The activations of a layer are discarded before the next layer, so that
a batch needs little more memory than its forward pass.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..capture import evaluation_mode
from ..experiments.batching import batches_of_equal_length
from ..hooks import Watcher, watch
from ..inputs import prepare
from ..inputs.text import Encoded
from ..loaded import Loaded
from ..measures.head_measures import position_distances
from ..measures.head_statistics import NOT_WORDS, STATISTICS
from ..record import Positions, Role
from .dataset_examples import Shard, naming_example
from .running_moments import Arrays, Moments, from_arrays, merge, to_arrays

HEADS, CURVES, Z = "heads/", "curves/", "z"  # prefixes of the names of moments
Scores = Float[Tensor, "example head query key"]
Measured = TypeVar("Measured")


def batch_moments(loaded: Loaded, inputs: Tensor, positions: Sequence[Positions]) -> dict[str, Moments]:
    """Moments (count, mean, deviations) of all statistics over the examples of a batch, by name.

    The names are `heads/NAME` for a statistic [layer, head], `curves/NAME` for a curve [stage], [sublayer] or [layer], and
    `z` [layer, head, d_v] for the output of each head, averaged over the positions of an example that are not padding. Raises
    the errors of a forward pass.
    """
    model = loaded.model
    with torch.inference_mode(), evaluation_mode(model):
        mask = model.full_mask(inputs)
        observer = _BatchObserver(loaded, inputs, positions, mask)
        with watch(model, observer.watchers()):
            model(inputs)
        return observer.moments()


class _BatchObserver:
    """Computes statistics during one forward pass, in hooks; each is kept as a list of tensors [example, ...], one per layer."""

    def __init__(
        self, loaded: Loaded, inputs: Tensor, positions: Sequence[Positions], mask: Tensor | None
    ) -> None:
        self.model, self.config, self.inputs, self.mask = loaded.model, loaded.config, inputs, mask
        self.n = len(positions[0])
        self.device = loaded.device
        word_roles = {role for example in positions for role in example.roles} - set(NOT_WORDS)
        self.words = self._role_mask(positions, word_roles)
        self.separators = self._role_mask(positions, {"separator"})
        self.padding = None if mask is None else self._role_mask(positions, {"padding"})
        first_example = positions[0]
        self.is_text = first_example.unit == "token"
        self.has_first = self.is_text or first_example.roles[:1] == ("class",)
        distances = torch.from_numpy(position_distances(self.n, first_example.patch_grid)).to(
            self.device, torch.float32
        )
        has_coordinates = ~distances.diagonal().isnan()
        # mean distance = sum_ij A_ij distances_ij
        self.distances = distances.nan_to_num() * has_coordinates[:, None] / has_coordinates.sum()
        self.heads: dict[str, list[Tensor]] = {}
        self.curves: dict[str, list[Tensor]] = {}
        self.z: list[Tensor] = []
        self.states: list[Tensor] = []  # the last two: input of this layer, and state between its sublayers
        self.scores: Tensor | None = None

    def _role_mask(
        self, positions: Sequence[Positions], roles: set[Role]
    ) -> Bool[Tensor, "example position"]:
        """Whether each position has one of these roles."""
        distinct_roles = {example.roles for example in positions}  # of pictures only one
        flags_by_roles = {
            example_roles: [role in roles for role in example_roles] for example_roles in distinct_roles
        }
        return torch.tensor([flags_by_roles[example.roles] for example in positions], device=self.device)

    def watchers(self) -> dict[str, Watcher]:
        """The function to call with the activation at each hook point, by the name of the point."""
        watchers: dict[str, Watcher] = {"embedding.output": self._add_state_statistics}
        for layer in range(self.config.n_layers):
            block = f"blocks.{layer}"
            watchers |= {
                f"{block}.attention.scores": self._keep_scores,
                f"{block}.attention.pattern": partial(self._add_pattern_statistics, layer),
                f"{block}.attention.z": self._add_head_outputs,
                f"{block}.attention_out": self._add_sublayer_share,
                f"{block}.resid_mid": self._add_state_statistics,
                f"{block}.feed_forward_out": self._add_sublayer_share,
                f"{block}.resid_post": self._add_state_statistics,
            }
        return watchers

    def _keep_scores(self, scores: Scores) -> None:
        self.scores = scores

    def _add_pattern_statistics(self, layer: int, pattern: Scores) -> None:
        mask = None if self.mask is None else self.mask[:, layer]
        largest_weights = pattern.amax(dim=-1)
        received = pattern.sum(dim=-2)
        total_weight = received.sum(dim=-1)
        total_weight = total_weight.where(total_weight > 0, 1.0)
        statistics = {
            "entropy": self._entropy(pattern, largest_weights, mask).mean(dim=-1),
            "confidence": (largest_weights * self.words[:, None]).sum(dim=-1)
            / self.words.sum(dim=-1)[:, None],
            "distance": pattern.flatten(2) @ self.distances.flatten(),
            "same": _diagonal_sums(pattern, 0) / total_weight,
            "sink": received.amax(dim=-1) / self.n,
            "separator": ((received * self.separators[:, None]).sum(dim=-1) / total_weight).where(
                self.separators.any(dim=-1)[:, None], math.nan
            ),
        }
        if self.is_text:
            statistics["previous"] = _diagonal_sums(pattern, -1) / total_weight
            statistics["next"] = _diagonal_sums(pattern, 1) / total_weight
        if self.has_first:
            statistics["first"] = received[..., 0] / total_weight
        for name, values in statistics.items():
            self.heads.setdefault(name, []).append(values)
        self.curves.setdefault("entropy", []).append(statistics["entropy"].mean(dim=-1))

    def _entropy(
        self, pattern: Scores, largest: Float[Tensor, "example head query"], mask: Tensor | None
    ) -> Float[Tensor, "example head query"]:
        """Normalised entropy H_i / ln n_i of each query i, which may attend to n_i keys; `largest` is its largest weight.

        Computed without the logarithm of the pattern: ln A_ij = s_ij - ln Z_i, so H_i = ln Z_i - sum_j A_ij s_ij,
        where ln Z_i = max_j s_ij - ln max_j A_ij.
        """
        scores, self.scores = self.scores, None
        assert scores is not None, "the scores pass before the pattern"
        if mask is None:
            n_allowed, largest_scores = torch.tensor(self.n), scores.amax(dim=-1)
        else:
            n_allowed, largest_scores = mask.sum(dim=-1), scores.masked_fill(~mask, -torch.inf).amax(dim=-1)
            largest_scores = largest_scores.where(n_allowed > 0, 0.0)
        smallest_number = torch.finfo(largest.dtype).tiny
        entropy_in_nats = (
            largest_scores - largest.clamp(min=smallest_number).log() - (pattern * scores).sum(dim=-1)
        )
        return (entropy_in_nats / n_allowed.clamp(min=2).log()).clamp(min=0).where(n_allowed > 1, 0.0)

    def _add_head_outputs(self, z: Float[Tensor, "example head query d_v"]) -> None:
        if self.padding is not None:
            z = z.masked_fill(self.padding[:, None, :, None], torch.nan)
        self.z.append(z.nanmean(dim=2) if self.padding is not None else z.mean(dim=2))

    def _add_state_statistics(self, state: Float[Tensor, "example position d_model"]) -> None:
        norms = state.norm(dim=-1)
        centred_norm = (state - state.mean(dim=1, keepdim=True)).norm(dim=(1, 2))
        statistics = {"norm": norms.mean(dim=-1), "uniformity": centred_norm / norms.norm(dim=-1)}
        if self.config.chooses_class:
            statistics["answer"] = self.model.classify(self.model.final_norm(state), self.inputs)[
                :, : self.config.n_classes
            ]
        for name, values in statistics.items():
            self.curves.setdefault(name, []).append(values)
        self.states = [*self.states[-1:], state]

    def _add_sublayer_share(self, output: Float[Tensor, "example position d_model"]) -> None:
        """Adds |output| / (|residual| + |output|) of a sublayer, 0 to 1, as in `model.experiments.residual_stream.shares`."""
        shares = self.curves.setdefault("share", [])
        residual = self.model.blocks[0].skip * self.states[-1]
        if self.config.norm_placement == "b2t" and len(shares) % 2:
            residual = residual + self.states[-2]
        output_norm = output.norm(dim=-1)
        shares.append((output_norm / (residual.norm(dim=-1) + output_norm)).mean(dim=-1))

    def moments(self) -> dict[str, Moments]:
        """The moments over the examples of the batch, by the names that `batch_moments` returns."""
        arrays = {HEADS + name: _stack_layers(self.heads[name]) for name in STATISTICS if name in self.heads}
        if self.config.chooses_class:
            logits = torch.stack(self.curves.pop("answer"), dim=1)
            predicted = logits[:, -1].argmax(dim=-1)
            self.curves["answer"] = list(
                logits.softmax(dim=-1)[torch.arange(len(predicted)), :, predicted].unbind(1)
            )
        arrays |= {CURVES + name: _stack_layers(values) for name, values in self.curves.items()}
        moments = {name: Moments.from_examples(values) for name, values in arrays.items()}
        return moments | {Z: Moments.from_examples(_stack_layers(self.z))}


def _stack_layers(tensors: Sequence[Tensor]) -> Float[np.ndarray, "example part ..."]:
    return torch.stack(list(tensors), dim=1).double().cpu().numpy()


def _diagonal_sums(pattern: Scores, offset: int) -> Float[Tensor, "example head"]:
    """Sum of the weights at a fixed offset of key from query: sum_i A_{i, i + offset}."""
    return pattern.diagonal(offset, dim1=-2, dim2=-1).sum(dim=-1)


ProgressCallback = Callable[[int], object]  # called with the number of examples just measured
TOKENS = "tokens"


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """A measurement over a data set, with its options; it can be sent to other processes, and its repr identifies results."""

    name: ClassVar[str]
    shard: int  # examples in a shard

    @abstractmethod
    def measure_shard(self, loaded: Loaded, shard: Shard, report: ProgressCallback) -> Arrays:
        """Result of one shard, arrays by name; calls `report` with the number of examples just measured after each batch.

        Raises ValueError, with a one-sentence message, if an example cannot be read.
        """

    @abstractmethod
    def merged(self, first: Arrays, second: Arrays) -> Arrays:
        """Result for the examples of two results together."""


class MomentsMeasure(Measure):
    """A measure whose results are means and standard deviations over the examples."""

    def merged(self, first: Arrays, second: Arrays) -> Arrays:
        total = from_arrays(first)
        merge(total, from_arrays(second))
        return to_arrays(total)


@dataclass(frozen=True, kw_only=True)
class Statistics(MomentsMeasure):
    """Statistics of all heads and layers (`batch_moments`), from one forward pass per example.

    For texts also `TOKENS` [2]: the number of tokens read, and of those not in the vocabulary, as moments over the examples.
    """

    name: ClassVar[str] = "statistics"
    shard: int = 1024

    def measure_shard(self, loaded: Loaded, shard: Shard, report: ProgressCallback) -> Arrays:
        moments: dict = {}
        for _, inputs, positions in batches(loaded, shard):
            counts = [
                [example.n_read, example.n_unknown] for example in positions if isinstance(example, Encoded)
            ]
            merge(
                moments,
                batch_moments(loaded, inputs, positions)
                | ({TOKENS: Moments.from_examples(np.array(counts, float))} if counts else {}),
            )
            report(len(positions))
        return to_arrays(moments)


def batches(loaded: Loaded, shard: Shard) -> Iterator[tuple[list[int], torch.Tensor, list[Positions]]]:
    """Yields the shard's examples in batches of equal length: indices in the shard, input tensor, and positions."""
    prepared = []
    for number, text_or_image in zip(shard.numbers, shard.inputs, strict=True):
        with naming_example(number):
            prepared.append(prepare(loaded, text_or_image))
    for indices in batches_of_equal_length(loaded.config, [len(positions) for _, positions in prepared]):
        inputs, positions = zip(*(prepared[index] for index in indices), strict=True)
        yield indices, torch.cat(inputs), list(positions)


def measure_patterns(
    loaded: Loaded, inputs: Tensor, measure: Callable[[int, Scores], Measured]
) -> list[Measured]:
    """The result of `measure(layer, pattern)` for each layer, called during one forward pass, which keeps no pattern."""
    results: list[Measured] = []

    def keep(layer: int, pattern: Tensor) -> None:
        results.append(measure(layer, pattern))

    watchers = {
        f"blocks.{layer}.attention.pattern": partial(keep, layer) for layer in range(loaded.config.n_layers)
    }
    with torch.inference_mode(), evaluation_mode(loaded.model), watch(loaded.model, watchers):
        loaded.model.encode(inputs)
    return results


def moments_with_prefix(arrays: Mapping, prefix: str) -> dict:
    """Those moments in `arrays` (from `to_arrays`) whose names begin with `prefix`, by name without the prefix, sorted."""
    moments = from_arrays(arrays)
    return {name.removeprefix(prefix): moments[name] for name in sorted(moments) if name.startswith(prefix)}
