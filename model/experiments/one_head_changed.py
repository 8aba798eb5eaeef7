"""What comes of one head's output in another's place, for all heads, without running what that leaves as it is.

The layers before the changed one are run once, and so is its own attention: what it puts out is W_O [z_0 … z_H] + b, so
with z'_h in the place of z_h it is that plus (z'_h − z_h) W_O^h. From there on all heads of a layer share a batch.
"""

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..capture import evaluating
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..transformer import FullMask, Transformer
from .probabilities import at_once, parts, read_answer

Outputs = Float[Tensor, "input head position d_v"]
HeadName = tuple[int, int]  # (layer, head)
SMALLER = 4  # than what `probabilities` runs at once: at 256 tokens it saves an eighth of the time, elsewhere nothing


class Answers(NamedTuple):
    """Of some heads of one layer."""

    layer: int
    heads: list[int]
    answers: Float[Tensor, "head input answer"]


def with_each_head(
    model: Transformer,
    inputs: Tensor,
    instead: Callable[[int, Outputs], Tensor],
    heads: Collection[HeadName] | None = None,
) -> Iterator[Answers]:
    """The answers (`model.experiments.probabilities.read_answer`) with each of `heads`, None for all, changed alone.

    `instead(layer, z)` is what takes the place of that layer's z, of a shape that broadcasts to it; each head gets
    its part alone. `inputs` share a length. What a `watch` around all this replaces is replaced here as well.
    To be run in evaluation mode.
    """
    mask, x = model.full_mask(inputs, None), model.embed(inputs)
    size = max(1, at_once(model.config, x.shape[1]) // (SMALLER * len(inputs)))
    for layer, block in enumerate(model.blocks):
        wanted = [head for head in range(model.config.n_heads) if heads is None or (layer, head) in heads]
        seen: list[Tensor] = []
        with watch(model, {f"blocks.{layer}.attention.z": seen.append}):
            after = block(x, None if mask is None else mask[:, layer])
        if wanted:
            (z,) = seen
            out, added = block.attention.project(z), instead(layer, z) - z
            # the rows of W_O that belong to a head: [head, d_v, d_model]
            weights = block.attention.w_o.weight.T.unflatten(0, (model.config.n_heads, -1))
            for some in parts(wanted, size):
                changed = torch.stack([out + added[:, head] @ weights[head] for head in some])
                yield Answers(layer, some, _from_attention_on(model, layer, x, changed, mask, inputs))
        x = after


def each_in_turn(
    loaded: Loaded, given: InputLike, instead: Callable[[int, Outputs], Tensor]
) -> Iterator[Answers]:
    """The same of one input and all heads. Between two of its steps nothing is left switched on.

    Raises as `model.inputs.prepare` does.
    """
    inputs = prepare(loaded, given)[0]
    steps = with_each_head(loaded.model, inputs, instead)
    while True:
        with torch.inference_mode(), evaluating(loaded.model):
            if (found := next(steps, None)) is None:
                return
        yield found


def _from_attention_on(
    model: Transformer,
    layer: int,
    x: Float[Tensor, "input position d_model"],
    outputs: Float[Tensor, "head input position d_model"],
    mask: FullMask | None,
    inputs: Tensor,
) -> Float[Tensor, "head input answer"]:
    """`x` goes into the block, whose attention puts out one of `outputs`."""
    n = len(outputs)
    repeated = inputs.repeat(n, *(1,) * (inputs.ndim - 1))
    states = model.blocks[layer](x.repeat(n, 1, 1), None, outputs.flatten(0, 1))
    if mask is not None:
        mask = mask.repeat(n, 1, 1, 1, 1)
    states = model.pass_blocks(states, mask, layer + 1)
    return read_answer(model, states, repeated).unflatten(0, (n, len(inputs)))
