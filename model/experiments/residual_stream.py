"""Measures of the residual stream: norms of states, how much each sublayer contributes, how much the states of tokens differ,
and how similar states are between the stages of one encoder or between two encoders over many examples.

A stage is the embedding, or a point after an attention or feed-forward (embed, L0 mid, L0 post, …).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Float32, UInt8

from ..capture import activations
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import ForwardRecord, answers_of_logits
from ..transformer import Transformer

SUBLAYERS = ("attention", "feed_forward")


def residual_stream(
    loaded: Loaded, inputs: Sequence[InputLike]
) -> Float32[np.ndarray, "stage example position d_model"]:
    """The residual stream of inputs of equal length; its stages are in the order of `ForwardRecord.stages`.

    Raises as `model.capture.activations` does.
    """
    layers = range(loaded.config.n_layers)
    after_sublayers = [
        f"blocks.{layer}.resid_{sublayer_end}" for layer in layers for sublayer_end in ("mid", "post")
    ]
    names = ["embedding.output", *after_sublayers]
    return np.stack([states.cpu() for states in activations(loaded, inputs, names).values()])


def norms(residual: Float[np.ndarray, "*axes d_model"]) -> Float[np.ndarray, "*axes"]:
    """Euclidean norm of each vector."""
    return np.linalg.norm(residual, axis=-1)


def mean_norms(residual: Float[np.ndarray, "stage position d_model"]) -> Float[np.ndarray, " stage"]:
    """Mean Euclidean norm over the positions at each stage."""
    return norms(residual).mean(axis=-1)


def sublayer_outputs(
    loaded: Loaded, text_or_image: InputLike
) -> Float[np.ndarray, "layer sublayer position d_model"]:
    """Outputs of attention and feed-forward in each layer, before they are added to the residual stream.

    Raises as `model.capture.activations` does.
    """
    layers = range(loaded.config.n_layers)
    names = [f"blocks.{layer}.{sublayer}_out" for layer in layers for sublayer in SUBLAYERS]
    outputs = np.concatenate(
        [output.cpu() for output in activations(loaded, [text_or_image], names).values()]
    )
    return outputs.reshape(len(layers), len(SUBLAYERS), *outputs.shape[1:])


def skip_terms(
    model: Transformer, residual: Float[np.ndarray, "stage position d_model"]
) -> Float[np.ndarray, "sublayer_of_all position d_model"]:
    """Term of the skip connection to which each sublayer's output is added, before any norm.

    Sublayers are in the order of computation: attention and feed-forward of layer 0, then of layer 1, and so on.
    """
    skipped = model.blocks[0].skip * residual[:-1]  # sublayer s reads stage s
    if model.config.norm_placement == "b2t":
        skipped[1::2] += residual[:-1:2]  # the layer's input skips both sublayers
    return skipped


def shares(
    skipped: Float[np.ndarray, "sublayer_of_all position d_model"],
    outputs: Float[np.ndarray, "layer sublayer position d_model"],
) -> Float[np.ndarray, " sublayer_of_all"]:
    """For each sublayer mean_i ‖F_i‖ / (‖x_i‖ + ‖F_i‖) over the positions i; F is its output, x its skip term (`skip_terms`).

    It is 0 if the sublayer adds nothing, 0.5 if the norms of F and x are equal, and 1 if x is zero. Directions do not matter: an
    output may also cancel a part of the skip term.
    """
    output_norms = norms(outputs).reshape(-1, outputs.shape[2])
    return (output_norms / (norms(skipped) + output_norms)).mean(axis=-1)


def sublayer_shares(loaded: Loaded, text_or_image: InputLike) -> Float[np.ndarray, " sublayer_of_all"]:
    """For each sublayer the norm of its output as a share of output and skip term, 0 to 1 (`shares`), on one input.

    Raises as `model.capture.activations` does.
    """
    skipped = skip_terms(loaded.model, residual_stream(loaded, [text_or_image])[:, 0])
    return shares(skipped, sublayer_outputs(loaded, text_or_image))


def uniformity(residual: Float[np.ndarray, "stage position d_model"]) -> Float[np.ndarray, " stage"]:
    """How much the states X of a stage differ: ‖X − 1 x̄ᵀ‖ / ‖X‖ (Frobenius), x̄ the mean state; 0 if all are equal, 1 if x̄ is 0.

    Dong et al. 2021 show, with another norm, that attention alone drives this number to 0, and that skip connections and
    feed-forwards counteract this.
    """
    centred = residual - residual.mean(axis=1, keepdims=True)
    return np.linalg.norm(centred, axis=(1, 2)) / np.linalg.norm(residual, axis=(1, 2))


def predicted_probability(record: ForwardRecord) -> Float[np.ndarray, " stage"]:
    """Probability, from 0 to 1, of the class predicted at the end, if the classifier is applied to the states of each stage.

    It is the softmax of `logits_by_layer` at the class with the largest of `logits`; only for encoders with classes.
    """
    return answers_of_logits(record.logits_by_layer, "choice")[:, record.logits.argmax()]


def cosine_by_stage(
    residual: Float[np.ndarray, "stage position d_model"],
) -> Float[np.ndarray, "stage stage"]:
    """For each pair of stages, the cosine similarity of a position's states at both stages, averaged over the positions."""
    directions = residual / np.linalg.norm(residual, axis=-1, keepdims=True)
    return np.einsum("apd,bpd->ab", directions, directions) / residual.shape[1]


def digit_states(
    loaded: Loaded, images: UInt8[np.ndarray, "digit height width"]
) -> Float32[np.ndarray, "stage digit d_model"]:
    """State of each image at each stage: that of the class token, or the mean over the patches if the encoder pools the patches."""
    states, config = residual_stream(loaded, list(images)), loaded.config
    return (
        states[:, :, 0] if config.reads_class_token else states[:, :, config.n_before_patches :].mean(axis=2)
    )


def linear_cka(
    first: Float[np.ndarray, "stage example width"],
    second: Float[np.ndarray, "other_stage example other_width"],
) -> Float[np.ndarray, "stage other_stage"]:
    """Linear CKA of each pair of stages: ‖Yᵀ X‖² / (‖Xᵀ X‖ ‖Yᵀ Y‖) in Frobenius norms, X and Y centred over the examples.

    CKA is from 0 to 1 (equal up to rotation, reflection and scale). Kornblith et al. 2019, equation 5 and section 3.2. If
    there are few examples compared with the widths, the CKA of unrelated states is well above 0: compare with `cka_by_chance`.
    NaN at a stage where all examples have the same state.
    """
    first, second = _centred(first), _centred(second)
    cross_norms = [[np.linalg.norm(y.T @ x) ** 2 for y in second] for x in first]
    first_norms, second_norms = (
        np.array([np.linalg.norm(x.T @ x) for x in states]) for states in (first, second)
    )
    with np.errstate(invalid="ignore"):
        return np.array(cross_norms) / np.outer(first_norms, second_norms)


def cka_by_chance(
    first: Float[np.ndarray, "stage example width"],
    second: Float[np.ndarray, "other_stage example other_width"],
) -> float:
    """The largest `linear_cka` of any two stages if the examples of `second` are put in a random order (seed 0)."""
    order = np.random.default_rng(0).permutation(second.shape[1])
    return float(np.nanmax(linear_cka(first, second[:, order])))


def _centred(states: Float[np.ndarray, "stage example width"]) -> Float[np.ndarray, "stage example width"]:
    """The states minus their mean over the examples; exactly 0 at a stage where all are equal, without rounding noise."""
    is_constant = (states == states[:, :1]).all(axis=(1, 2))
    return np.where(is_constant[:, None, None], 0, states - states.mean(axis=1, keepdims=True))
