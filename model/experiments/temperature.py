"""Attention at another temperature: softmax(scores / T), from hard attention (T = 0) over the trained T = 1 to
uniform (T = infinity).
"""

from collections.abc import Iterable

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from model.capture import evaluating
from model.checkpoint import Loaded
from model.config import ModelConfig
from model.hooks import Watcher, watch
from model.inputs import InputLike, prepare


def at_temperature(
    config: ModelConfig, temperature: float, *, layer: int | None = None, head: int | None = None
) -> dict[str, Watcher]:
    """Watchers that let all heads attend at `temperature`, or those of one `layer`, or one `head` of it.

    Infinity makes each row uniform over its allowed keys; 0 is the limit, argmax: all weight on the key with the
    largest score, in equal shares where several have it. Raises ValueError below 0, and for a head without its
    layer.
    """
    if not temperature >= 0:
        raise ValueError(f"a temperature is at least 0, got {temperature}")
    if layer is None and head is not None:
        raise ValueError(f"head {head} needs the layer that it belongs to")
    heads = slice(None) if head is None else slice(head, head + 1)
    name, change = ("pattern", harden) if temperature == 0 else ("scores", lambda part: part / temperature)

    def replace(activation: Tensor) -> Tensor:
        changed = activation.clone()
        changed[:, heads] = change(activation[:, heads])
        return changed

    layers = range(config.n_layers) if layer is None else (layer,)
    return {f"blocks.{number}.attention.{name}": replace for number in layers}


def harden(pattern: Float[Tensor, "*axes query key"]) -> Float[Tensor, "*axes query key"]:
    """Each row's largest weight becomes all of it; taken from the pattern, where the mask has had its say.

    A row without any key stays zeros.
    """
    largest = (pattern == pattern.amax(dim=-1, keepdim=True)) & (pattern > 0)
    return largest / largest.sum(dim=-1, keepdim=True).clamp(min=1)


def probabilities_over(
    loaded: Loaded,
    text_or_image: InputLike,
    temperatures: Iterable[float],
    *,
    layer: int | None = None,
    head: int | None = None,
) -> Float32[np.ndarray, "temperature class"]:
    """What the classifier answers at each of them. Raises as `at_temperature` and `model.capture.prepare` do."""
    inputs, _ = prepare(loaded, text_or_image)
    rows = []
    with torch.inference_mode(), evaluating(loaded.model):
        for temperature in temperatures:
            watchers = at_temperature(loaded.config, temperature, layer=layer, head=head)
            with watch(loaded.model, watchers):
                rows.append(loaded.model(inputs)[0].softmax(dim=-1).cpu().numpy())
    return np.array(rows)
