"""Interventions: changes to a forward pass as plain values (masks, how they are applied, positions, replaced activations).

An `Intervention` is hashable, so it can be part of a cache key. It works on any encoder that has the layers, heads and
positions that it names. The encoder itself is not changed: watchers (`model.hooks`) change its activations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Literal, get_args

import torch
from jaxtyping import Bool
from torch import Tensor

from .. import masks
from ..config import ModelConfig
from ..hooks import Watcher, hook_points
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..masks import FullMask, LayerMask
from ..record import Positions, Role
from ..transformer import Transformer
from .replacements import (
    Divided,
    Hardened,
    Pattern,
    Permuted,
    Renumbered,
    Reordered,
    Replacement,
    Shifted,
    Zeroed,
)

MaskKind = Literal["none", "padding", "causal", "window", "keys", "cells"]
Method = Literal["encoder", "replaced", "added", "zeroed", "ignored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskChoice:
    """One mask; fields that its kind does not use have no effect. Raises ValueError for an unknown kind.

    The mask applies to the `heads` of the `layers`, None for all. Padding of a text is masked by the encoder itself, in all
    heads of all layers.
    """

    kind: MaskKind = "none"
    n_padding: int = 0  # [PAD] tokens appended to a text; of a picture, so many patches at the end
    radius: int = 0  # of the local window, in tokens, or in rows and columns of patches
    keys: tuple[int, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()  # (query, key)
    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(MaskKind):
            raise ValueError(f"a mask is of the kind {', '.join(get_args(MaskKind))}, got {self.kind!r}")

    @property
    def is_same_for_all(self) -> bool:
        """Whether this mask is the same for every query in all layers and heads."""
        return self.kind == "keys" and self.layers is None and self.heads is None

    def applies_to(self, layer: int, head: int) -> bool:
        """Whether the mask applies to this head: it is among `heads`, and its layer among `layers`."""
        return (self.layers is None or layer in self.layers) and (self.heads is None or head in self.heads)

    @property
    def masks_nothing(self) -> bool:
        """Whether the mask allows every key for any encoder and input; False for a window, even one wider than the input."""
        n_masked_by_kind = {
            "none": 0,
            "padding": self.n_padding,
            "keys": len(self.keys),
            "cells": len(self.cells),
        }
        return not n_masked_by_kind.get(self.kind, True)

    def allowed(self, config: ModelConfig, n: int) -> Bool[Tensor, "*#layer_head query key"]:
        """Mask over `n` positions, True where a query may attend to a key; without layer and head axes if it applies to all
        heads.

        Padding of a text is not included, since the encoder masks it itself. Raises IndexError for positions,
        layers or heads that do not exist.
        """
        if self.kind == "causal":
            mask = masks.causal(n)
        elif self.kind == "window" and config.is_text:
            mask = masks.local_window(n, self.radius)
        elif self.kind == "window":
            assert config.patch_grid is not None
            mask = masks.patch_window(config.patch_grid, self.radius, config.n_before_patches)
        elif self.kind == "padding" and not config.is_text:
            mask = masks.blocked_keys(n, range(n - self.n_padding, n))
        else:  # what the kind does not use must not take effect
            keys = self.keys if self.kind == "keys" else ()
            cells = self.cells if self.kind == "cells" else ()
            mask = masks.blocked_keys(n, keys) & masks.blocked_cells(n, cells)
        if self.layers is None and self.heads is None:
            return mask
        layers = range(config.n_layers) if self.layers is None else self.layers
        heads = range(config.n_heads) if self.heads is None else self.heads
        return masks.restrict_to_heads(mask, config.n_layers, config.n_heads, layers, heads)


@dataclass(frozen=True, slots=True)
class Masking:
    """How a mask is applied to the scores or the pattern.

    By the method "encoder", and by it alone, a row without an allowed key becomes zeros; "ignored" applies no mask. Raises
    ValueError for an unknown method.
    """

    method: Method = "encoder"
    value: float = -math.inf  # the replacement, or the summand

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise ValueError(f"a mask is applied by {', '.join(get_args(Method))}, got {self.method!r}")

    def pattern(self, scores: Pattern, mask: LayerMask) -> Pattern:
        """The attention pattern of one layer, computed from its unmasked scores and the mask."""
        match self.method:
            case "replaced":  # Vaswani et al. 2017 (3.2.3) write -inf in the place of a forbidden score
                return scores.masked_fill(~mask, self.value).softmax(dim=-1)
            case "added":  # BERT's code (Devlin et al. 2019) adds -10,000
                return (scores + self.value * ~mask).softmax(dim=-1)
            case "zeroed":  # after the softmax: what is left of a row adds up to less than 1
                return scores.softmax(dim=-1) * mask
            case _:
                return scores.softmax(dim=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionChange:
    """A change to everything that tells an encoder its positions, apart from masks and windows.

    With `zeroed`, zeros are added in place of position vectors, queries and keys are not rotated, and neither biases nor
    terms of relative positions are added to the scores. Otherwise each position counts as one that is `shift` later.
    """

    zeroed: bool = False
    shift: int = 0

    def replacements(self, config: ModelConfig) -> tuple[tuple[str, Replacement], ...]:
        """Pairs of a hook name and what replaces the activation there, for the kinds of positions that the encoder has."""
        if not self.zeroed and not self.shift:
            return ()
        parts, attention = config.family.parts, "blocks.*.attention"
        # hook points of the numbers of positions, and of what is added to scores
        rotated_hooks: list[str] = []
        numbers_hooks: list[str] = []
        added_hooks: list[str] = []
        if parts.rotary is not None:
            rotated_hooks = [f"{attention}.q.position_numbers", f"{attention}.k.position_numbers"]
        if config.has_distance_bias:
            added_hooks.append(f"{attention}.scores.added")
        if config.family.n_relative_buckets:
            numbers_hooks.append(f"{attention}.scores.position_numbers")
        if (options := parts.disentangled) is not None:
            numbers_hooks.append(f"{attention}.position_numbers")
            added_hooks += [f"{attention}.content_to_position"] * options.content_to_position
            added_hooks += [f"{attention}.position_to_content"] * options.position_to_content
        if self.zeroed:
            return tuple((name, Zeroed()) for name in ("embedding.positions", *rotated_hooks, *added_hooks))
        renumbered = tuple((name, Renumbered(self.shift)) for name in (*rotated_hooks, *numbers_hooks))
        return (("embedding.positions", Shifted(self.shift)), *renumbered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """All changes to one forward pass; without arguments, none.

    A key must be allowed by all of `masks`. `replacements` are pairs of a hook name, in which * stands for every layer, and
    the function that returns the new activation; they are applied in this order, after the change of `positions`.
    """

    masks: tuple[MaskChoice, ...] = ()
    masking: Masking = Masking()
    positions: PositionChange = PositionChange()
    replacements: tuple[tuple[str, Replacement], ...] = ()

    def __add__(self, other: "Intervention") -> "Intervention":
        """Combines two interventions; if both set `masking` or `positions`, that of `other` is used."""
        return Intervention(
            masks=self.masks + other.masks,
            masking=self.masking if other.masking == Masking() else other.masking,
            positions=self.positions if other.positions == PositionChange() else other.positions,
            replacements=self.replacements + other.replacements,
        )

    def n_padding(self, config: ModelConfig) -> int:
        """Number of [PAD] tokens appended to a text; 0 for pictures."""
        return sum(mask.n_padding for mask in self.masks if mask.kind == "padding" and config.is_text)

    def first_layer(self, config: ModelConfig) -> int:
        """Index of the first block that the intervention changes; -1 for the embedding, and n_layers if it changes nothing."""
        masked_layers = (
            range(config.n_layers) if mask.layers is None else mask.layers for mask in self.masks
        )
        layers = [config.n_layers, *(layer for mask_layers in masked_layers for layer in mask_layers)]
        layers += [0] if self.masking != Masking() else []
        for hook_name, _ in self._all_replacements(config):
            module, _, hook_in_block = hook_name.partition(".")
            layer = hook_in_block.partition(".")[0]
            if module == "embedding":
                layers.append(-1)
            elif module == "blocks":
                layers.append(int(layer) if layer.isdigit() else 0)
        return min(layers)

    def mask(self, model: Transformer, inputs: Tensor) -> FullMask | None:
        """All masks combined with the padding of `inputs`, in the form of `Transformer.full_mask`; None if nothing is masked."""
        config = model.config
        n = inputs.shape[1] if config.is_text else config.n_positions
        allowed = None
        for mask in self.masks:
            allowed = mask.allowed(config, n) if allowed is None else allowed & mask.allowed(config, n)
        if allowed is not None and all(mask.is_same_for_all for mask in self.masks):
            allowed = allowed[:1]  # one row for all queries: n times less memory, and faster
        return model.full_mask(inputs, allowed)

    def watchers(self, model: Transformer, mask: FullMask | None) -> dict[str, Watcher]:
        """Watchers, by hook name, that make the replacements and apply `mask` if the method is not that of the encoder.

        A hook name with * that matches no hook point is kept, so that `watch` raises KeyError for it.
        """
        ordered_watchers: list[tuple[str, Watcher]] = []
        for name_pattern, replacement in self._all_replacements(model.config):
            names = [name for name in hook_points(model) if fnmatchcase(name, name_pattern)]
            ordered_watchers += [(name, partial(replacement, model)) for name in names or [name_pattern]]
        if self.masking.method != "encoder" and mask is not None:
            for layer in range(model.config.n_layers):
                on_scores, on_pattern = _masking_watchers(self.masking, mask[:, layer])
                attention = f"blocks.{layer}.attention"
                ordered_watchers.insert(0, (f"{attention}.pattern", on_pattern))
                ordered_watchers.append((f"{attention}.scores", on_scores))
        watchers: dict[str, Watcher] = {}
        for name, watcher in ordered_watchers:
            watchers[name] = _chain_watchers(watchers[name], watcher) if name in watchers else watcher
        return watchers

    def prepare(self, loaded: Loaded, model_input: InputLike) -> tuple[Tensor, Positions]:
        """Input tensor and positions as `model.inputs.prepare` returns them, with this intervention's padding appended.

        Raises as that function does, and ValueError if the encoder has no padding token or too few positions.
        """
        inputs, positions = prepare(loaded, model_input)
        config, n_padding = loaded.config, self.n_padding(loaded.config)
        if not n_padding:
            return inputs, positions
        if config.padding_id is None or loaded.tokenizer is None:
            raise ValueError(f"{loaded.name} knows no padding")
        if (n_positions := len(positions) + n_padding) > config.n_positions:
            raise ValueError(f"{n_positions} tokens exceed the {config.n_positions} positions")
        padding = inputs.new_full((1, n_padding), config.padding_id)
        token = loaded.tokenizer.id_to_token(config.padding_id) or ""
        roles: list[Role] = ["padding"] * n_padding
        padded = replace(
            positions,
            tokens=(*positions.tokens, *[token] * n_padding),
            pieces=(*positions.pieces, *[token] * n_padding),
            roles=(*positions.roles, *roles),
        )
        return torch.cat((inputs, padding), dim=1), padded

    def _all_replacements(self, config: ModelConfig) -> tuple[tuple[str, Replacement], ...]:
        return self.positions.replacements(config) + self.replacements

    def positions_as_read(self, positions: Positions) -> Positions:
        """The positions with tokens and roles in the order in which the encoder reads them under the intervention."""
        for _, replacement in self.replacements:
            if isinstance(replacement, Reordered):
                positions = positions.in_order(replacement.checked_order(len(positions)))
        return positions


def _masking_watchers(masking: Masking, mask: LayerMask) -> tuple[Watcher, Watcher]:
    """Watchers of a layer's scores and pattern: the first stores the scores, the second recomputes the pattern from them."""
    stored_scores: list[Tensor] = []

    def store(scores: Pattern) -> Pattern:
        stored_scores.append(scores)
        return scores

    return store, lambda _: masking.pattern(stored_scores.pop(), mask)


def _chain_watchers(first: Watcher, second: Watcher) -> Watcher:
    def watcher(activation: Tensor) -> Tensor | None:
        replaced = first(activation)
        return second(activation if replaced is None else replaced)

    return watcher


# Interventions


def masked(choice: MaskChoice, method: Method = "encoder", value: float = -math.inf) -> Intervention:
    """An intervention with one mask, applied by `method`; `value` is used by "replaced" and "added". Raises
    ValueError for an unknown method.

    >>> from loupe import MaskChoice, capture, load, masked
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> record = capture(encoder, "A gripping film.", masked(MaskChoice(kind="causal")))
    >>> record.mask[0, 0, 1].tolist()
    [True, True, False, False, False, False]
    """
    masking = Masking(method, value) if method in ("replaced", "added") else Masking(method)
    return Intervention(masks=() if choice.masks_nothing else (choice,), masking=masking)


def without_keys(*keys: int) -> Intervention:
    """An intervention that masks `keys` for every query, in all layers and heads; the states at these positions stay in the
    residual stream.

    >>> from loupe import capture, load, without_keys
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> record = capture(encoder, "A gripping film.", without_keys(2))
    >>> float(record.pattern[..., 2].max())
    0.0
    """
    return masked(MaskChoice(kind="keys", keys=keys))


def at_temperature(temperature: float, *, layer: int | None = None, head: int | None = None) -> Intervention:
    """An intervention that computes softmax(scores / T) in all heads, in all heads of one `layer`, or in one `head` of that
    layer.

    T = 1 is the trained softmax. T = infinity makes each row uniform over its allowed keys, and T = 0 puts all weight on
    the key with the largest score, in equal shares if there are several. Raises ValueError for T below 0, and for a
    head without a layer.

    >>> from loupe import at_temperature, capture, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> hard = capture(encoder, "A gripping film.", at_temperature(0.0))
    >>> float(hard.pattern.max(axis=-1).min())
    1.0
    """
    if not temperature >= 0:
        raise ValueError(f"a temperature is at least 0, got {temperature}")
    if layer is None and head is not None:
        raise ValueError(f"head {head} needs the layer that it belongs to")
    if temperature == 1:
        return Intervention()
    attention = f"blocks.{'*' if layer is None else layer}.attention"
    if temperature == 0:
        return Intervention(replacements=((f"{attention}.pattern", Hardened(head)),))
    return Intervention(replacements=((f"{attention}.scores", Divided(temperature, head)),))


def repositioned(*, order: Sequence[int] | None = None, zeroed: bool = False, shift: int = 0) -> Intervention:
    """An intervention that reorders the content, removes what represents positions (`zeroed`), or shifts positions by `shift`.

    Reordering is as if the tokens had been typed, or the patches laid out, in that order: order[i] is the position whose content
    moves to position i. For `zeroed` and `shift` see `PositionChange`.

    >>> from loupe import capture, load, repositioned
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> capture(encoder, "A gripping film.", repositioned(order=[0, 3, 2, 1, 4, 5])).tokens
    ('[CLS]', 'film', 'gripping', 'a', '.', '[SEP]')
    """
    return Intervention(
        positions=PositionChange(zeroed=True) if zeroed else PositionChange(shift=shift),
        replacements=() if order is None else (("embedding.content", Reordered(tuple(order))),),
    )


def permuted_attention(seed: int, n_layers: int, keys: Sequence[int] | None = None) -> Intervention:
    """An intervention that randomly permutes the weights of each row among `keys` (None: all), in every layer and head."""
    permuted_keys = None if keys is None else tuple(keys)
    return Intervention(
        replacements=tuple(
            (f"blocks.{layer}.attention.pattern", Permuted((seed, layer), permuted_keys, layer))
            for layer in range(n_layers)
        )
    )
