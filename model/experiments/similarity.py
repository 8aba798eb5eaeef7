"""Similarity of states: between the stages of one encoder, and between two encoders over many examples."""

import numpy as np
from jaxtyping import Float, Float32, UInt8

from ..loaded import Loaded
from .residual_stream import residual_stream


def cosine_by_stage(
    residual: Float[np.ndarray, "stage position d_model"],
) -> Float[np.ndarray, "stage stage"]:
    """Cosine similarity of the states of a position at two stages, averaged over the positions, for each pair of stages."""
    directions = residual / np.linalg.norm(residual, axis=-1, keepdims=True)
    return np.einsum("apd,bpd->ab", directions, directions) / residual.shape[1]


def digit_states(
    loaded: Loaded, images: UInt8[np.ndarray, "digit height width"]
) -> Float32[np.ndarray, "stage digit d_model"]:
    """State that represents each image, at each stage: that of the class token, or the mean over the patches if the encoder reads those."""
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
    there are few examples compared with the widths, unrelated states come out well above 0: compare with `cka_by_chance`.
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
    """The states minus their mean; exactly 0 where all are equal, since a rounded mean would leave noise to correlate."""
    is_constant = (states == states[:, :1]).all(axis=(1, 2))
    return np.where(is_constant[:, None, None], 0, states - states.mean(axis=1, keepdims=True))
