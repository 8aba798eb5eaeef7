"""What an encoder answers without some of its heads, layers, feed-forwards or positions.

That a head's absence changes nothing on one input does not say that the encoder can do without it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from ..capture import evaluating
from ..capture.intervention import Intervention, without_keys
from ..capture.replacements import HeadsAs, Zeroed
from ..config import ModelConfig
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from .one_head_changed import Answers, HeadName, each_in_turn, with_each_head
from .probabilities import of_one_length

Means = Float[np.ndarray, "layer head d_v"]  # of z over the positions of a data set
How = Literal["zero"] | Means


def ablate_heads(
    loaded: Loaded, inputs: Sequence[InputLike], how: How = "zero"
) -> Float32[np.ndarray, "input layer head answer"]:
    """The answers, as of `model.experiments.probabilities.probabilities`, with the output z of each head alone ablated.

    "zero" puts zeros in its place, at all positions; `how` can be means as well. Inputs of one length share a batch.
    Raises as `model.inputs.prepare` does, and ValueError where the means are not one of d_v numbers a head.
    """
    config, replacement = loaded.config, _replacement(loaded, how)
    n_answers = config.n_classes if config.chooses else config.d_pooled
    found = np.empty((len(inputs), config.n_layers, config.n_heads, n_answers), np.float32)
    prepared = [prepare(loaded, given)[0] for given in inputs]

    with torch.inference_mode(), evaluating(loaded.model):
        for rows in of_one_length(prepared, config):
            batch = torch.cat([prepared[row] for row in rows])
            for layer, heads, answers in with_each_head(loaded.model, batch, replacement):
                found[np.ix_(rows, [layer], heads)] = answers.transpose(0, 1).unsqueeze(1).cpu().numpy()
    return found


def ablated_heads(loaded: Loaded, given: InputLike, how: How = "zero") -> Iterator[Answers]:
    """As `ablate_heads`, of one input, some heads of a layer at a time: it can be watched, and left off."""
    return each_in_turn(loaded, given, _replacement(loaded, how))


def _replacement(loaded: Loaded, how: How) -> Callable[[int, Tensor], Tensor]:
    if isinstance(how, str):
        return lambda _, z: torch.zeros_like(z)
    means = torch.as_tensor(_fitting(how, loaded.config)).to(loaded.device)
    return lambda layer, _: means[layer, :, None]


def ablated(
    heads: Sequence[HeadName] = (),
    layers: Sequence[int] = (),
    feed_forwards: Sequence[int] = (),
    positions: Sequence[int] = (),
    means: Means | None = None,
) -> Intervention:
    """All of these at once: the output z of `heads`, (layer, head) each, and of all heads in whole `layers`, is replaced;
    what the feed-forward of `feed_forwards` puts out is made zero; `positions` are masked out of the keys, in all layers
    and heads.

    In the place of z stand zeros, or each head's row of `means`. What W_O makes of that goes on into the stream, its bias
    included, so that a whole layer is the same as all of its heads. Of a feed-forward nothing goes on, not even its
    second bias, with `means` or without. Raises IndexError where the means lack a head.
    """
    of_layer: dict[int, set[int]] = {}
    for layer, head in heads:
        of_layer.setdefault(layer, set()).add(head)
    if means is not None:
        of_layer |= {layer: set(range(means.shape[1])) for layer in layers}
    replacements = [
        (f"blocks.{layer}.attention.z", _heads_as(sorted(some), layer, means))
        for layer, some in sorted(of_layer.items())
    ]
    if means is None:
        replacements += [(f"blocks.{layer}.attention.z", Zeroed()) for layer in sorted(set(layers))]
    replacements += [(f"blocks.{layer}.feed_forward_out", Zeroed()) for layer in sorted(set(feed_forwards))]
    changed = Intervention(replacements=tuple(replacements))
    return changed + without_keys(*sorted(set(positions))) if positions else changed


def _heads_as(heads: list[int], layer: int, means: Means | None) -> HeadsAs:
    if means is None:
        return HeadsAs(tuple(heads))
    return HeadsAs(tuple(heads), tuple(tuple(means[layer, head].tolist()) for head in heads))


def _fitting(means: Means, config: ModelConfig) -> Float32[np.ndarray, "layer head d_v"]:
    expected = (config.n_layers, config.n_heads, config.d_v)
    if means.shape != expected:
        raise ValueError(f"means of z must be of {expected}, [layer, head, d_v], got {means.shape}")
    return np.array(means, np.float32)
