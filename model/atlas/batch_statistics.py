"""What heads and layers do with a batch of inputs of one length, reduced while the forward passes by.

The numbers are those of `model.measures.head_statistics` and `model.experiments.residual_stream`, which take the record of one input;
here no array outlives its layer, so that a batch needs little more memory than its forward.
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

HEADS, CURVES, Z = "heads/", "curves/", "z"  # what the names of the moments begin with
Scores = Float[Tensor, "example head query key"]


def batch_moments(loaded: Loaded, inputs: Tensor, positions: Sequence[Positions]) -> dict[str, Moments]:
    """Over the examples of a batch: `heads/NAME` [layer, head], `curves/NAME` [stage], [place] or [layer], and `z`
    [layer, head, d_v], of each example its mean over the positions that are no padding.

    Raises as a forward does.
    """
    model = loaded.model
    with torch.inference_mode(), evaluating(model):
        mask = model.full_mask(inputs)
        seen = _Seen(loaded, inputs, positions, mask)
        with watch(model, seen.watchers()):
            model(inputs)
        return seen.moments()


class _Seen:
    """The numbers of one forward, by name: a list over layers or stages of tensors whose first axis is the example."""

    def __init__(
        self, loaded: Loaded, inputs: Tensor, positions: Sequence[Positions], mask: Tensor | None
    ) -> None:
        self.model, self.config, self.inputs, self.mask = loaded.model, loaded.config, inputs, mask
        self.n = len(positions[0])
        self.device = loaded.device
        words = {role for each in positions for role in each.roles} - set(NOT_WORDS)
        self.words = self._places(positions, words)
        self.separators = self._places(positions, {"separator"})
        self.padding = None if mask is None else self._places(positions, {"padding"})
        first = positions[0]
        self.is_text = first.unit == "token"
        self.has_first = self.is_text or first.roles[:1] == ("class",)
        apart = torch.from_numpy(position_distances(self.n, first.patch_grid)).to(self.device, torch.float32)
        placed = ~apart.diagonal().isnan()
        self.apart = (
            apart.nan_to_num() * placed[:, None] / placed.sum()
        )  # of mean_distance, sum_ij A_ij apart_ij
        self.heads: dict[str, list[Tensor]] = {}
        self.curves: dict[str, list[Tensor]] = {}
        self.z: list[Tensor] = []
        self.states: list[Tensor] = []  # what went into this layer, and its middle
        self.scores: Tensor | None = None

    def _places(self, positions: Sequence[Positions], roles: set[Role]) -> Bool[Tensor, "example position"]:
        made: dict[tuple[Role, ...], list[bool]] = {}  # all pictures have the same
        for each in positions:
            if each.roles not in made:
                made[each.roles] = [role in roles for role in each.roles]
        return torch.tensor([made[each.roles] for each in positions], device=self.device)

    def watchers(self) -> dict[str, Watcher]:
        found: dict[str, Watcher] = {"embedding.output": self._state}
        for layer in range(self.config.n_layers):
            at = f"blocks.{layer}"
            found |= {
                f"{at}.attention.scores": self._keep_scores,
                f"{at}.attention.pattern": partial(self._pattern, layer),
                f"{at}.attention.z": self._values,
                f"{at}.attention_out": self._added,
                f"{at}.resid_mid": self._state,
                f"{at}.feed_forward_out": self._added,
                f"{at}.resid_post": self._state,
            }
        return found

    def _keep_scores(self, scores: Scores) -> None:
        self.scores = scores

    def _pattern(self, layer: int, pattern: Scores) -> None:
        mask = None if self.mask is None else self.mask[:, layer]
        largest = pattern.amax(dim=-1)
        received = pattern.sum(dim=-2)
        whole = received.sum(dim=-1)
        whole = whole.where(whole > 0, 1.0)
        found = {
            "entropy": self._entropy(pattern, largest, mask).mean(dim=-1),
            "confidence": (largest * self.words[:, None]).sum(dim=-1) / self.words.sum(dim=-1)[:, None],
            "distance": pattern.flatten(2) @ self.apart.flatten(),
            "same": _on_diagonal(pattern, 0) / whole,
            "sink": received.amax(dim=-1) / self.n,
            "separator": _nan_without(
                (received * self.separators[:, None]).sum(dim=-1) / whole, self.separators
            ),
        }
        if self.is_text:
            found |= {
                name: _on_diagonal(pattern, offset) / whole
                for name, offset in (("previous", -1), ("next", 1))
            }
        if self.has_first:
            found["first"] = received[..., 0] / whole
        for name, values in found.items():
            self.heads.setdefault(name, []).append(values)
        self.curves.setdefault("entropy", []).append(found["entropy"].mean(dim=-1))

    def _entropy(
        self, pattern: Scores, largest: Float[Tensor, "example head query"], mask: Tensor | None
    ) -> Float[Tensor, "example head query"]:
        """H_i / ln n_i, without a logarithm of the pattern: ln A_ij = s_ij - ln Z_i, and so H_i = ln Z_i - sum_j A_ij s_ij,
        where ln Z_i = max_j s_ij - ln max_j A_ij."""
        scores, self.scores = self.scores, None
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
        off = (state - state.mean(dim=1, keepdim=True)).norm(dim=(1, 2))
        found = {"norm": norms.mean(dim=-1), "uniformity": off / norms.norm(dim=-1)}
        if self.config.chooses:
            found["answer"] = self.model.classify(self.model.final_norm(state), self.inputs)[
                :, : self.config.n_classes
            ]
        for name, values in found.items():
            self.curves.setdefault(name, []).append(values)
        self.states = [*self.states[-1:], state]

    def _added(self, output: Float[Tensor, "example position d_model"]) -> None:
        """The share of a sublayer, as `stream.shares` of `stream.skip_terms`."""
        places = self.curves.setdefault("share", [])
        past = self.model.blocks[0].skip * self.states[-1]
        if self.config.norm_placement == "b2t" and len(places) % 2:
            past = past + self.states[-2]
        added = output.norm(dim=-1)
        places.append((added / (past.norm(dim=-1) + added)).mean(dim=-1))

    def moments(self) -> dict[str, Moments]:
        found = {HEADS + name: _arrays(self.heads[name]) for name in STATISTICS if name in self.heads}
        if self.config.chooses:
            logits = torch.stack(self.curves.pop("answer"), dim=1)
            ended = logits[:, -1].argmax(dim=-1)
            self.curves["answer"] = list(logits.softmax(dim=-1)[torch.arange(len(ended)), :, ended].unbind(1))
        found |= {CURVES + name: _arrays(places) for name, places in self.curves.items()}
        made = {name: Moments.of(values) for name, values in found.items()}
        return made | {Z: Moments.of(_arrays(self.z))}


def batches_of_one_length(config: ModelConfig, lengths: Sequence[int]) -> list[list[int]]:
    """Which of some inputs share a batch: of one length, the longest first, so that the memory it takes is enough for the rest."""
    batches: list[list[int]] = []
    for at in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        last = batches[-1] if batches else []
        if last and lengths[last[0]] == lengths[at] and len(last) < batch_size(config, lengths[at]):
            last.append(at)
        else:
            batches.append([at])
    return batches


def _arrays(parts: Sequence[Tensor]) -> Float[np.ndarray, "example part ..."]:
    return torch.stack(list(parts), dim=1).double().cpu().numpy()


def _on_diagonal(pattern: Scores, offset: int) -> Float[Tensor, "example head"]:
    """sum_i A_{i, i + offset}"""
    return pattern.diagonal(offset, dim1=-2, dim2=-1).sum(dim=-1)


def _nan_without(values: Float[Tensor, "example head"], there: Bool[Tensor, "example position"]) -> Tensor:
    return values.where(there.any(dim=-1)[:, None], math.nan)
