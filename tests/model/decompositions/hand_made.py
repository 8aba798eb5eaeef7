"""An encoder made by hand, in which the head of layer 1 looks for what the head of layer 0 wrote: the token before the query."""

from dataclasses import replace

import torch
from scipy.linalg import hadamard

from model.loaded import Loaded
from model.transformer import Transformer
from tests.model import tiny

N = 5  # positions of the text, and numbers of a head
TEXT = "a b c"  # between [CLS] and [SEP]
CONFIG = replace(
    tiny.TEXT, d_model=16, n_heads=1, d_k=N, d_v=N, n_positions=N, positions="learned", final_norm=False
)


def previous_token_encoder() -> Loaded:
    """Tokens, positions and what head 0 of layer 0 writes lie in directions at right angles, none of which has a mean.

    That head's weight is on the token before each query; it copies the token. The head of layer 1 multiplies what was copied to the
    query by the token of the key.
    """
    loaded = tiny.loaded(CONFIG)
    model: Transformer = loaded.model
    directions = torch.tensor(hadamard(16)[1:] / 4, dtype=torch.float32)
    tokens, positions, copies = directions.split(N)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_gain = name.endswith("weight") and "norm" in name
            parameter.fill_(1.0 if is_gain else 0.0)
        ids = loaded.tokenizer.encode(TEXT).ids
        model.embedding.tokens.weight[ids] = 2 * tokens
        model.embedding.position_table[:] = positions
        first, second = (block.attention for block in model.blocks)
        first.w_q.weight[:] = 100 * positions
        first.w_k.weight[:] = 100 * positions.roll(1, dims=0)
        first.w_v.weight[:] = tokens
        first.w_o.weight[:] = 3 * copies.T
        second.w_q.weight[:] = copies
        second.w_k.weight[:] = tokens
    return loaded
