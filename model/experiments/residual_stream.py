"""Measures of the residual stream: how long its vectors are, what the sublayers add, how alike the tokens become."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Float32

from ..capture import activations
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import ForwardRecord
from ..transformer import Transformer

SUBLAYERS = ("attention", "feed_forward")


def residual_stream(
    loaded: Loaded, inputs: Sequence[InputLike]
) -> Float32[np.ndarray, "stage example position d_model"]:
    """The states of inputs of one length, stages in the order of `ForwardRecord.stages`. Raises as `capture` does."""
    layers = range(loaded.config.n_layers)
    names = [f"blocks.{layer}.resid_{part}" for layer in layers for part in ("mid", "post")]
    names = ["embedding.output", *names]
    return np.stack([states.cpu() for states in activations(loaded, inputs, names).values()])


def norms(residual: Float[np.ndarray, "*axes d_model"]) -> Float[np.ndarray, "*axes"]:
    """Euclidean length of each state, or of what is added to one."""
    return np.linalg.norm(residual, axis=-1)


def mean_norms(residual: Float[np.ndarray, "stage position d_model"]) -> Float[np.ndarray, " stage"]:
    """Mean over the positions of `norms`."""
    return norms(residual).mean(axis=-1)


def sublayer_outputs(
    loaded: Loaded, text_or_image: InputLike
) -> Float[np.ndarray, "layer sublayer position d_model"]:
    """What attention and feed-forward hand over, before it is added to the stream. Raises as `capture` does."""
    layers = range(loaded.config.n_layers)
    names = [f"blocks.{layer}.{sublayer}_out" for layer in layers for sublayer in SUBLAYERS]
    outputs = np.concatenate([out.cpu() for out in activations(loaded, [text_or_image], names).values()])
    return outputs.reshape(len(layers), len(SUBLAYERS), *outputs.shape[1:])


def gone_past(
    model: Transformer, residual: Float[np.ndarray, "stage position d_model"]
) -> Float[np.ndarray, "place position d_model"]:
    """What the output of each sublayer, in order, is added to, before any norm of the sum."""
    past = model.blocks[0].skip * residual[:-1]  # stage s is what goes into sublayer s
    if model.config.norm_placement == "b2t":
        past[1::2] += residual[:-1:2]  # beside a feed-forward the layer's input goes past as well
    return past


def shares(
    past: Float[np.ndarray, "place position d_model"],
    outputs: Float[np.ndarray, "layer sublayer position d_model"],
) -> Float[np.ndarray, " place"]:
    """mean_i ‖F_i‖ / (‖x_i‖ + ‖F_i‖) for each sublayer in order: F is its output, x what that is added to.

    0: the sublayer adds nothing; 0.5: it adds as much as was there; 1: there was nothing. Lengths alone:
    what points the other way takes away.
    """
    added = norms(outputs).reshape(-1, outputs.shape[2])
    return (added / (norms(past) + added)).mean(axis=-1)


def sublayer_shares(loaded: Loaded, text_or_image: InputLike) -> Float[np.ndarray, " place"]:
    """`shares` of the sublayers on one input. Raises as `capture` does."""
    past = gone_past(loaded.model, residual_stream(loaded, [text_or_image])[:, 0])
    return shares(past, sublayer_outputs(loaded, text_or_image))


def uniformity(residual: Float[np.ndarray, "stage position d_model"]) -> Float[np.ndarray, " stage"]:
    """‖X − 1 x̄ᵀ‖ / ‖X‖ (Frobenius), x̄ the mean state: 0 where all tokens are alike, 1 where their mean is 0.

    Dong et al. 2021 show that pure attention drives it to 0, and that skip connections and feed-forward
    layers hold it up; they measure in another norm.
    """
    apart = residual - residual.mean(axis=1, keepdims=True)
    return np.linalg.norm(apart, axis=(1, 2)) / np.linalg.norm(residual, axis=(1, 2))


def answers(record: ForwardRecord) -> Float[np.ndarray, " stage"]:
    """What the classifier, reading the stream at each stage, gives to the class that the encoder ends with, from 0 to 1.

    Softmax of `logits_by_layer` at the most probable class of `logits`; only for encoders with classes.
    """
    logits = record.logits_by_layer
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True))[:, record.logits.argmax()]
