"""Token knock-out: what the encoder answers when nobody may look at one of the tokens."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float32

from model.capture import evaluating
from model.checkpoint import Loaded
from model.inputs import InputLike, prepare

_WEIGHTS_AT_ONCE = 2**19  # attention weights of one head that are in memory together


def knock_out(
    loaded: Loaded, text_or_image: InputLike, positions: Sequence[int]
) -> Float32[np.ndarray, "position class"]:
    """Class probabilities with each of `positions` masked out of the keys, in all layers and heads.

    Nobody looks at that token any more, itself included; its own state still goes through the stream, and a
    pooling over tokens still sees it. One batch, so for a long text hand over some positions at a time.
    Raises as `capture` does.
    """
    inputs, tokens = prepare(loaded, text_or_image)
    mask = torch.ones(len(positions), 1, 1, 1, len(tokens), dtype=torch.bool)
    mask[torch.arange(len(positions)), ..., torch.tensor(positions, dtype=torch.long)] = False
    with torch.inference_mode(), evaluating(loaded.model):
        logits = loaded.model(inputs.expand(len(positions), *inputs.shape[1:]), mask)
        return logits.softmax(dim=-1).cpu().numpy()


def in_chunks(n: int) -> list[tuple[int, ...]]:
    """All positions of an input of `n` tokens, in parts that `knock_out` does at once."""
    size = max(1, _WEIGHTS_AT_ONCE // n**2)
    return [tuple(range(start, min(start + size, n))) for start in range(0, n, size)]
