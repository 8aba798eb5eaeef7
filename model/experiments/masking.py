"""Masks chosen by hand on a trained encoder, and what each way of applying a mask does.

The encoder applies a mask in one way alone. The other ways are put in from outside: watchers remember the scores
of a layer and replace its pattern by what their way makes of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from tokenizers import Tokenizer
from torch import Tensor

from model import masks
from model.capture import capture
from model.checkpoint import Loaded
from model.config import ModelConfig
from model.hooks import Watcher
from model.inputs import InputLike, prepare
from model.record import ForwardRecord

Kind = Literal["none", "padding", "causal", "window", "keys", "cells"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskChoice:
    """One mask, in plain values that can stand in a cache's key; what its kind does not use is left as it is.

    It holds in `heads` of `layers`, where None means all. Key padding of a text is the exception: the encoder
    masks that by itself, everywhere.
    """

    kind: Kind = "none"
    n_padding: int = 0  # [PAD] tokens appended to a text; of a digit, so many patches at the end
    radius: int = 0  # of the local window, in tokens, or in rows and columns of patches
    keys: tuple[int, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()  # (query, key)
    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None


def allowed(choice: MaskChoice, config: ModelConfig, n: int) -> Bool[Tensor, "layer head query key"]:
    """True where a query may attend to a key, among `n` positions.

    The padding of a text is not in it: the encoder sees that in the tokens. Raises IndexError for positions,
    layers or heads that are not there.
    """
    if choice.kind == "causal":
        mask = masks.causal(n)
    elif choice.kind == "window" and config.is_text:
        mask = masks.local_window(n, choice.radius)
    elif choice.kind == "window":
        mask = masks.patch_window(config.patch_grid, choice.radius, config.pooling == "class")
    elif choice.kind == "padding" and not config.is_text:
        mask = masks.blocked_keys(n, range(n - choice.n_padding, n))
    else:  # what the kind does not use must not take effect
        keys = choice.keys if choice.kind == "keys" else ()
        cells = choice.cells if choice.kind == "cells" else ()
        mask = masks.blocked_keys(n, keys) & masks.blocked_cells(n, cells)
    layers = range(config.n_layers) if choice.layers is None else choice.layers
    heads = range(config.n_heads) if choice.heads is None else choice.heads
    return masks.within(mask, config.n_layers, config.n_heads, layers, heads)


def masked(loaded: Loaded, text_or_image: InputLike, choice: MaskChoice) -> ForwardRecord:
    """The forward under this mask. Raises as `capture`, `allowed` and, for a text's padding, `with_padding` do."""
    reading = _reading(loaded, text_or_image, choice)
    return capture(reading, text_or_image, mask=_mask(reading, text_or_image, choice))


def attending_to_padding(loaded: Loaded, text: InputLike, n_padding: int) -> ForwardRecord:
    """What would happen if the [PAD] tokens appended to a text were not masked. Raises as `with_padding` does."""
    everywhere = torch.ones(loaded.config.n_layers, 1, 1, 1, dtype=torch.bool, device=loaded.device)
    watchers = applied(everywhere, partial(replaced, value=-torch.inf))
    record = capture(with_padding(loaded, text, n_padding), text, watchers=watchers)
    return replace(record, mask=np.ones_like(record.mask))


def with_padding(loaded: Loaded, text: InputLike, n_padding: int) -> Loaded:
    """The same encoder, with a tokenizer that appends so many [PAD] to this text.

    Raises ValueError where it knows no padding, or where so much does not fit into its positions.
    """
    if loaded.config.padding_id is None:
        raise ValueError(f"{loaded.name} knows no padding")
    length = len(prepare(loaded, text)[1]) + n_padding
    if length > loaded.config.n_positions:
        raise ValueError(f"{length} tokens exceed the {loaded.config.n_positions} positions")
    tokenizer = Tokenizer.from_str(loaded.tokenizer.to_str())  # a copy: the encoder's own is shared
    tokenizer.enable_padding(
        length=length,
        pad_id=loaded.config.padding_id,
        pad_token=tokenizer.id_to_token(loaded.config.padding_id),
    )
    return replace(loaded, tokenizer=tokenizer)


Way = Callable[[Float[Tensor, "batch head query key"], Bool[Tensor, "#head #query #key"]], Tensor]


def replaced(
    scores: Float[Tensor, "batch head query key"], mask: Bool[Tensor, "#head #query #key"], *, value: float
) -> Float[Tensor, "batch head query key"]:
    """`value` takes the place of a forbidden score: Vaswani et al. 2017 (3.2.3) write -inf."""
    return scores.masked_fill(~mask, value).softmax(dim=-1)


def added(
    scores: Float[Tensor, "batch head query key"], mask: Bool[Tensor, "#head #query #key"], *, value: float
) -> Float[Tensor, "batch head query key"]:
    """`value` is added to a forbidden score, as BERT's code (Devlin et al. 2019) does with -10,000."""
    return (scores + value * ~mask).softmax(dim=-1)


def zeroed(
    scores: Float[Tensor, "batch head query key"], mask: Bool[Tensor, "#head #query #key"]
) -> Float[Tensor, "batch head query key"]:
    """Forbidden weights are multiplied by 0 after the softmax: what is left of a row adds up to less than 1."""
    return scores.softmax(dim=-1) * mask


def applied(mask: Bool[Tensor, "layer #head #query #key"], way: Way) -> dict[str, Watcher]:  # noqa: F821
    """Watchers that put `way(scores, mask)` in the place of every layer's pattern, whatever it was masked with.

    They remember the scores between two points of one forward: make new ones for each.
    """
    remembered = {}
    watchers = {}
    for layer, layer_mask in enumerate(mask):
        name = f"blocks.{layer}.attention"
        watchers[f"{name}.scores"] = partial(remembered.__setitem__, layer)
        watchers[f"{name}.pattern"] = partial(_instead, remembered, layer, layer_mask, way)
    return watchers


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one way of masking made of one head, and of the answer."""

    pattern: Float[np.ndarray, "query key"]
    probabilities: Float[np.ndarray, " class"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """The same mask applied in each way, seen in one head."""

    mask: Bool[np.ndarray, "query key"]
    ways: dict[str, Outcome]  # encoder, infinity, replaced, added, zeroed


def outcomes(
    loaded: Loaded,
    text_or_image: InputLike,
    choice: MaskChoice,
    *,
    layer: int,
    head: int,
    value: float,
    closed: int | None = None,
) -> Outcomes:
    """Every way of masking, with the finite `value` where one is needed; "encoder" is this encoder's own.

    In the head looked at, the query `closed` is masked from every key besides. The probabilities are NaN where
    the scores of a row are all -inf. Raises as `masked` does.
    """
    reading = _reading(loaded, text_or_image, choice)
    mask = _mask(reading, text_or_image, choice)
    if closed is not None:
        mask[layer, head, closed] = False
    ways = {
        "infinity": partial(replaced, value=-torch.inf),
        "replaced": partial(replaced, value=value),
        "added": partial(added, value=value),
        "zeroed": zeroed,
    }
    records = {"encoder": capture(reading, text_or_image, mask=mask)} | {
        name: capture(reading, text_or_image, watchers=applied(mask.to(loaded.device), way))
        for name, way in ways.items()
    }
    return Outcomes(
        mask=mask[layer, head].numpy(),
        ways={
            name: Outcome(pattern=record.pattern[layer, head].copy(), probabilities=record.probabilities)
            for name, record in records.items()
        },
    )


def _reading(loaded: Loaded, text_or_image: InputLike, choice: MaskChoice) -> Loaded:
    pads = choice.kind == "padding" and loaded.config.is_text
    return with_padding(loaded, text_or_image, choice.n_padding) if pads else loaded


def _mask(
    reading: Loaded, text_or_image: InputLike, choice: MaskChoice
) -> Bool[Tensor, "layer head query key"]:
    """The chosen mask and the padding of a text, as the encoder puts them together."""
    inputs, tokens = prepare(reading, text_or_image)
    chosen = allowed(choice, reading.config, len(tokens))
    return reading.model.full_mask(inputs, chosen.to(inputs.device))[0].cpu().clone()


def _instead(
    remembered: dict[int, Tensor], layer: int, mask: Bool[Tensor, "#head #query #key"], way: Way, _: Tensor
) -> Tensor:
    return way(remembered.pop(layer), mask)
