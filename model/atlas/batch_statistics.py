"""Statistics of heads and layers over a batch of inputs of equal length, computed during the forward pass.

They equal those of `model.measures.head_statistics` and `model.experiments.residual_stream` for one record. No array
outlives its layer, so a batch needs little more memory than its forward pass.
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..capture import evaluating
from ..config import ModelConfig
from ..experiments.batching import batch_size
from ..hooks import Watcher, watch
from ..loaded import Loaded
from ..measures.head_measures import position_distances
from ..measures.head_statistics import NOT_WORDS, STATISTICS
from ..record import Positions, Role
from .running_moments import Moments

HEADS, CURVES, Z = "heads/", "curves/", "z"  # prefixes of the names of moments
Scores = Float[Tensor, "example head query key"]


def batch_moments(loaded: Loaded, inputs: Tensor, positions: Sequence[Positions]) -> dict[str, Moments]:
    """Moments over the examples of a batch, by name. Raises the errors of a forward pass.

    `heads/NAME` [layer, head], `curves/NAME` [stage], [sublayer] or [layer], and `z` [layer, head, d_v], the mean
    of each example over positions that are no padding.
    """
    model = loaded.model
    with torch.inference_mode(), evaluating(model):
        mask = model.full_mask(inputs)
        observer = _BatchObserver(loaded, inputs, positions, mask)
        with watch(model, observer.watchers()):
            model(inputs)
        return observer.moments()


class _BatchObserver:
    """Collects the statistics of one forward pass, by name, as lists over layers of tensors with one row per
    example.
    """

    def __init__(
        self, loaded: Loaded, inputs: Tensor, positions: Sequence[Positions], mask: Tensor | None
    ) -> None:
        self.model, self.config, self.inputs, self.mask = loaded.model, loaded.config, inputs, mask
        self.n = len(positions[0])
        self.device = loaded.device
        words = {role for example in positions for role in example.roles} - set(NOT_WORDS)
        self.words = self._positions_with_roles(positions, words)
        self.separators = self._positions_with_roles(positions, {"separator"})
        self.padding = None if mask is None else self._positions_with_roles(positions, {"padding"})
        first = positions[0]
        self.is_text = first.unit == "token"
        self.has_first = self.is_text or first.roles[:1] == ("class",)
        distances = torch.from_numpy(position_distances(self.n, first.patch_grid)).to(
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

    def _positions_with_roles(
        self, positions: Sequence[Positions], roles: set[Role]
    ) -> Bool[Tensor, "example position"]:
        different = {example.roles for example in positions}  # of pictures only one
        rows = {example_roles: [role in roles for role in example_roles] for example_roles in different}
        return torch.tensor([rows[example.roles] for example in positions], device=self.device)

    def watchers(self) -> dict[str, Watcher]:
        watchers: dict[str, Watcher] = {"embedding.output": self._state}
        for layer in range(self.config.n_layers):
            block = f"blocks.{layer}"
            watchers |= {
                f"{block}.attention.scores": self._keep_scores,
                f"{block}.attention.pattern": partial(self._pattern, layer),
                f"{block}.attention.z": self._values,
                f"{block}.attention_out": self._added,
                f"{block}.resid_mid": self._state,
                f"{block}.feed_forward_out": self._added,
                f"{block}.resid_post": self._state,
            }
        return watchers

    def _keep_scores(self, scores: Scores) -> None:
        self.scores = scores

    def _pattern(self, layer: int, pattern: Scores) -> None:
        mask = None if self.mask is None else self.mask[:, layer]
        largest = pattern.amax(dim=-1)
        received = pattern.sum(dim=-2)
        total = received.sum(dim=-1)
        total = total.where(total > 0, 1.0)
        statistics = {
            "entropy": self._entropy(pattern, largest, mask).mean(dim=-1),
            "confidence": (largest * self.words[:, None]).sum(dim=-1) / self.words.sum(dim=-1)[:, None],
            "distance": pattern.flatten(2) @ self.distances.flatten(),
            "same": _on_diagonal(pattern, 0) / total,
            "sink": received.amax(dim=-1) / self.n,
            "separator": _nan_unless(
                (received * self.separators[:, None]).sum(dim=-1) / total, self.separators
            ),
        }
        if self.is_text:
            statistics["previous"] = _on_diagonal(pattern, -1) / total
            statistics["next"] = _on_diagonal(pattern, 1) / total
        if self.has_first:
            statistics["first"] = received[..., 0] / total
        for name, values in statistics.items():
            self.heads.setdefault(name, []).append(values)
        self.curves.setdefault("entropy", []).append(statistics["entropy"].mean(dim=-1))

    def _entropy(
        self, pattern: Scores, largest: Float[Tensor, "example head query"], mask: Tensor | None
    ) -> Float[Tensor, "example head query"]:
        """Normalised entropy H_i / ln n_i of each query.

        Computed without the logarithm of the pattern: ln A_ij = s_ij - ln Z_i, so H_i = ln Z_i - sum_j A_ij s_ij,
        where ln Z_i = max_j s_ij - ln max_j A_ij.
        """
        scores, self.scores = self.scores, None
        assert scores is not None, "the scores pass before the pattern"
        if mask is None:
            n_allowed, highest = torch.tensor(self.n), scores.amax(dim=-1)
        else:
            n_allowed, highest = mask.sum(dim=-1), scores.masked_fill(~mask, -torch.inf).amax(dim=-1)
            highest = highest.where(n_allowed > 0, 0.0)
        least = torch.finfo(largest.dtype).tiny
        nats = highest - largest.clamp(min=least).log() - (pattern * scores).sum(dim=-1)
        return (nats / n_allowed.clamp(min=2).log()).clamp(min=0).where(n_allowed > 1, 0.0)

    def _values(self, z: Float[Tensor, "example head query d_v"]) -> None:
        if self.padding is not None:
            z = z.masked_fill(self.padding[:, None, :, None], torch.nan)
        self.z.append(z.nanmean(dim=2) if self.padding is not None else z.mean(dim=2))

    def _state(self, state: Float[Tensor, "example position d_model"]) -> None:
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

    def _added(self, output: Float[Tensor, "example position d_model"]) -> None:
        """Records the share of a sublayer's output in the length of the new state, as in `model.experiments.residual_stream`."""
        shares = self.curves.setdefault("share", [])
        residual = self.model.blocks[0].skip * self.states[-1]
        if self.config.norm_placement == "b2t" and len(shares) % 2:
            residual = residual + self.states[-2]
        output_norm = output.norm(dim=-1)
        shares.append((output_norm / (residual.norm(dim=-1) + output_norm)).mean(dim=-1))

    def moments(self) -> dict[str, Moments]:
        arrays = {HEADS + name: _arrays(self.heads[name]) for name in STATISTICS if name in self.heads}
        if self.config.chooses_class:
            logits = torch.stack(self.curves.pop("answer"), dim=1)
            predicted = logits[:, -1].argmax(dim=-1)
            self.curves["answer"] = list(
                logits.softmax(dim=-1)[torch.arange(len(predicted)), :, predicted].unbind(1)
            )
        arrays |= {CURVES + name: _arrays(values) for name, values in self.curves.items()}
        moments = {name: Moments.from_examples(values) for name, values in arrays.items()}
        return moments | {Z: Moments.from_examples(_arrays(self.z))}


def batches_of_one_length(config: ModelConfig, lengths: Sequence[int]) -> list[list[int]]:
    """Indices of inputs that share a batch, all of equal length; the longest first, so memory does not grow later."""
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        last = batches[-1] if batches else []
        if last and lengths[last[0]] == lengths[index] and len(last) < batch_size(config, lengths[index]):
            last.append(index)
        else:
            batches.append([index])
    return batches


def _arrays(tensors: Sequence[Tensor]) -> Float[np.ndarray, "example part ..."]:
    return torch.stack(list(tensors), dim=1).double().cpu().numpy()


def _on_diagonal(pattern: Scores, offset: int) -> Float[Tensor, "example head"]:
    """Sum of the weights at a fixed offset of key from query: sum_i A_{i, i + offset}."""
    return pattern.diagonal(offset, dim1=-2, dim2=-1).sum(dim=-1)


def _nan_unless(values: Float[Tensor, "example head"], present: Bool[Tensor, "example position"]) -> Tensor:
    return values.where(present.any(dim=-1)[:, None], math.nan)
