"""Heads that are known or put out nothing, and answers with one activation changed."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from model.capture import capture
from model.hooks import watch
from model.loaded import Loaded
from tests.model import tiny


def answer_with(loaded: Loaded, given_input, name: str, change: Callable) -> np.ndarray:
    """The answer in a whole forward of its own, in which `change` replaces the activation at the hook point `name`."""
    with watch(loaded.model, {name: change}):
        record = capture(loaded, given_input)
    return record.probabilities if loaded.config.chooses_class else record.pooled


def silence(loaded: Loaded, layer: int, head: int) -> None:
    """Lets a head put out zeros."""
    values, d_v = loaded.model.blocks[layer].attention.w_v, loaded.config.d_v
    with torch.no_grad():
        values.weight[head * d_v : (head + 1) * d_v] = 0
        values.bias[head * d_v : (head + 1) * d_v] = 0


def uniform_encoder(n_heads: int) -> Loaded:
    """One layer of width 2 whose heads attend to all tokens alike and pass on their part of what they read, without special
    tokens; the logits are the mean of the stream.
    """
    width = 2 // n_heads
    sizes = {"d_model": 2, "n_layers": 1, "n_heads": n_heads, "d_k": width, "d_v": width}
    config = replace(tiny.TEXT, **sizes, pooling="mean", final_norm=False, class_names=("a", "b"))
    loaded = tiny.loaded(config)
    attention, classifier = loaded.model.blocks[0].attention, loaded.model.classifier
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.zero_()
        for weight in (attention.w_v.weight, attention.w_o.weight, classifier.weight):
            weight.copy_(torch.eye(2))
        classifier.bias.zero_()
    loaded.tokenizer.post_processor = None
    return loaded


# The stream and what attention reads, whichever two letters are read: (1, 0) and (0, 2).
X = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]])
GIVEN_STREAM = {
    "embedding.output": lambda _: X,
    "blocks.0.attention_in": lambda _: X,
    "blocks.0.feed_forward_out": torch.zeros_like,
}
