"""The attention weights that a model object of `transformers` returns, as [head, query, key] of each layer, or why there are none."""

import re
from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ..record.from_arrays import EAGER


def inner_model_sentence(model: nn.Module) -> str | None:
    """Sentence that names the model of transformers inside a module of another kind; None if the module is such a model or holds none."""
    if hasattr(model, "set_attn_implementation"):
        return None
    for path, module in model.named_modules():
        if hasattr(module, "set_attn_implementation"):
            name, attribute = type(model).__name__, re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", f".{path}")
            return (
                f"{name} is a module around a {type(module).__name__}, which is the one that returns its attention weights: "
                f"pass {name.lower()}{attribute} in place of it"
            )
    return None


def weights_between_positions(
    model: nn.Module, part: nn.Module, arguments: Mapping[str, Any], outputs: Any
) -> list[Tensor]:
    """The attention weights of each layer, [1, head, query, key] between the same positions.

    `part` is the module of `model` that was called with `arguments` and returned `outputs`. Raises ValueError if it
    returned no weights, or weights of other shapes.
    """
    name, attentions = type(model).__name__, getattr(outputs, "attentions", None)
    if not attentions or any(layer is None for layer in attentions):
        if inner := inner_model_sentence(model):
            raise ValueError(inner)
        raise ValueError(_no_weights_sentence(name, attentions, outputs))
    layers = [layer for layer in attentions if isinstance(layer, Tensor)]
    groups = max((len(layer) for layer in layers), default=0)
    # each is an element of the batch: windows in Swin, frames in TimeSformer, channels in PatchTST
    if groups > 1:
        raise ValueError(
            f"{name} returns attention within {groups} windows (or frames, or channels), and a record needs that between all "
            "positions"
        )
    half_windows = (getattr(module, "one_sided_attn_window_size", None) for module in part.modules())
    windows = [2 * half for half in half_windows if half is not None]
    if windows:
        layers = _weights_from_windows(
            name, layers, windows, arguments, getattr(outputs, "global_attentions", None)
        )
    if len(layers) < len(attentions) or any(
        layer.ndim != 4 or layer.shape[2] != layer.shape[3] or layer.shape[2] != layers[0].shape[2]
        for layer in layers
    ):
        shapes = dict.fromkeys(
            " × ".join(map(str, layer.shape[1:])) if isinstance(layer, Tensor) else "several arrays"
            for layer in attentions
        )
        raise ValueError(
            f"{name} returns attention of {', '.join(shapes)}, and a record needs [head, query, key] between the same positions "
            "in each layer: this model merges positions on its way, or lets each attend to some of them in an order of its own"
        )
    if (n_layers := len(getattr(outputs, "hidden_states", None) or ()) - 1) > len(attentions):
        raise ValueError(_some_layers_sentence(name, len(attentions), n_layers))
    return layers


def _no_weights_sentence(name: str, attentions: Any, outputs: Any) -> str:
    """Sentence on a model of transformers that returned no attention weights, or not those of each layer."""
    n_layers = len(attentions or ())
    if n_without := sum(layer is None for layer in attentions or ()):
        if n_without < n_layers:
            return _some_layers_sentence(name, n_layers - n_without, n_layers)
    elif attention_names := [
        key for key, value in getattr(outputs, "items", dict)() if key.endswith("_attentions") and value
    ]:
        return f"{name} returns its attention weights as {', '.join(attention_names)}: pass those of one kind to from_arrays"
    return f"{name} returned no attention weights: it has none, or {EAGER}"


def _some_layers_sentence(name: str, n_with: int, n_layers: int) -> str:
    return f"{name} has attention weights in {n_with} of its {n_layers} layers alone, and a record needs those of each"


def refuse_block_sparse_attention(model: nn.Module) -> None:
    """Raises ValueError for BigBird's block-sparse attention, which returns some weights once and counts them twice."""
    if not any(getattr(module, "attention_type", None) == "block_sparse" for module in model.modules()):
        return
    paths = (
        f"{path}." if path else ""
        for path, module in model.named_modules()
        if hasattr(module, "set_attention_type")
    )
    raise ValueError(
        f"{type(model).__name__} attends in blocks, and does not return all of the weights: call its "
        f'{next(paths, "")}set_attention_type("original_full"), with which each token attends to every other'
    )


def _weights_from_windows(
    name: str, layers: list[Tensor], windows: list[int], arguments: Mapping[str, Any], global_weights: Any
) -> list[Tensor]:
    """Weights [1, head, query, key] of each layer over all positions, from `layers`, which hold those within a window.

    `windows` are in tokens; keys outside have the weight 0. `arguments` are those of the forward call, of which the padding mask
    is read; `global_weights` those of tokens that attend to all, or None. `name` stands in errors.
    """
    mask = arguments.get("attention_mask")
    n = layers[0].shape[2]
    is_read = torch.ones(n, dtype=torch.bool, device=layers[0].device) if mask is None else mask[0] > 0
    try:
        return [
            layer_weights_from_window(
                layer[0], window, None if global_weights is None else global_weights[index][0], is_read
            )[None]
            for index, (layer, window) in enumerate(zip(layers, windows, strict=True))
        ]
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"{name} attends within windows, and its weights cannot be put in their place: {error}"
        ) from error


def layer_weights_from_window(
    weights: Float[Tensor, "head query column"],
    window: int,
    global_weights: Float[Tensor, "head position global"] | None,
    is_read: Bool[Tensor, " query"],
) -> Float[Tensor, "head query key"]:
    """The weights of one layer of Longformer, or of the encoder of LED, between all positions; they are 0 outside of the window.

    The last `window` + 1 columns are the keys from `window` / 2 positions before the query to as many behind it, and the
    columns before those are the keys of global attention. Queries of global attention have no weights in these columns, but
    in `global_weights`, one column for each of them. `is_read` is False at padding. Raises ValueError where the columns
    do not fit the window.
    """
    n_heads, n, n_columns = weights.shape
    n_global = n_columns - window - 1
    # whose rows are empty, and which are no padding
    is_global = is_read & (weights == 0).all(dim=-1).all(dim=0)
    if n_global < 0 or int(is_global.sum()) != n_global or (n_global > 0) != (global_weights is not None):
        raise ValueError(f"{n_columns} columns of weights do not fit a window of {window}")
    query = torch.arange(n, device=weights.device)[:, None]
    padded_pattern = weights.new_zeros(n_heads, n, n + window)
    padded_pattern[:, query, query + torch.arange(window + 1, device=weights.device)] = weights[
        ..., n_global:
    ]
    pattern = padded_pattern[..., window // 2 : window // 2 + n].clone()
    if global_weights is not None:
        pattern[..., is_global] += weights[..., :n_global]
        pattern[:, is_global] = global_weights[:, :n].transpose(1, 2)
    return pattern
