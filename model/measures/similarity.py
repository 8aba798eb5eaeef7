"""How alike states are: of one encoder at its stages, and of two encoders over many examples."""

import numpy as np
import torch
from jaxtyping import Float, Float32, UInt8
from torch import Tensor

from model.capture import evaluating
from model.checkpoint import Loaded
from model.digits import to_input
from model.hooks import watch
from model.inputs import InputLike, prepare


def cosine_by_stage(
    residual: Float[np.ndarray, "stage position d_model"],
) -> Float[np.ndarray, "stage stage"]:
    """Mean over tokens of cos(x_i at one stage, x_i at another)."""
    directions = residual / np.linalg.norm(residual, axis=-1, keepdims=True)
    return np.einsum("apd,bpd->ab", directions, directions) / residual.shape[1]


def digit_states(
    loaded: Loaded, images: UInt8[np.ndarray, "digit height width"]
) -> Float32[np.ndarray, "stage digit d_model"]:
    """The residual stream of each image: of its class token, or the mean over its patches where it has none."""
    states = _residual(loaded, to_input(images, loaded.config).to(loaded.device))
    pooled = states[:, :, 0] if loaded.config.pooling == "class" else states.mean(dim=2)
    return pooled.cpu().numpy()


def text_states(loaded: Loaded, text: InputLike) -> Float32[np.ndarray, "stage position d_model"]:
    """The residual stream of a text, token by token."""
    inputs, _ = prepare(loaded, text)
    return _residual(loaded, inputs)[:, 0].cpu().numpy()


def _residual(loaded: Loaded, inputs: Tensor) -> Float[Tensor, "stage example position d_model"]:
    """Stages in the order of `ForwardRecord.stages`: that in which a forward passes them."""
    names = ["embedding.output"]
    names += [
        f"blocks.{layer}.resid_{part}" for layer in range(loaded.config.n_layers) for part in ("mid", "post")
    ]
    seen: list[Tensor] = []
    with (
        torch.inference_mode(),
        evaluating(loaded.model),
        watch(loaded.model, dict.fromkeys(names, seen.append)),
    ):
        loaded.model(inputs)
    return torch.stack(seen)


def linear_cka(
    first: Float[np.ndarray, "stage example width"],
    second: Float[np.ndarray, "other_stage example other_width"],
) -> Float[np.ndarray, "stage other_stage"]:
    """‖Yᵀ X‖² / (‖Xᵀ X‖ ‖Yᵀ Y‖) in Frobenius norms, X and Y centred over the examples, for each pair of stages.

    From 0 to 1 (equal up to rotation, reflection and one scale). Kornblith et al. 2019, equation 5 and
    section 3.2. With few examples for the widths, states that have nothing to do with each other come out
    well above 0: set a pairing by chance beside it. NaN at a stage where all examples have one state.
    """
    first, second = _centred(first), _centred(second)
    cross = [[np.linalg.norm(y.T @ x) ** 2 for y in second] for x in first]
    own = [[np.linalg.norm(x.T @ x) for x in states] for states in (first, second)]
    with np.errstate(invalid="ignore"):
        return np.array(cross) / np.outer(*own)


def _centred(states: Float[np.ndarray, "stage example width"]) -> Float[np.ndarray, "stage example width"]:
    """Less their mean; exactly 0 where all are alike, since a rounded mean would leave noise to correlate."""
    alike = (states == states[:, :1]).all(axis=(1, 2))
    return np.where(alike[:, None, None], 0, states - states.mean(axis=1, keepdims=True))
