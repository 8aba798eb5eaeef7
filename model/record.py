"""The one thing that pages and figures pass around: what an encoder did with one input."""

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Float32

from model.config import ModelConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardRecord:
    """One forward pass of one example: no batch axis, read-only numpy arrays, float32 at natural scale.

    `residual` holds the state carried forward in both placements (in post-LN that is after the norm):
    after the embedding, then after each attention (mid) and each feed-forward (post).
    """

    config: ModelConfig
    tokens: tuple[str, ...]  # "[CLS]", "great", "r2c5"
    mask: Bool[np.ndarray, "layer head query key"]  # True = may attend
    scores: Float32[np.ndarray, "layer head query key"]  # q kᵀ / sqrt(d_k), before the mask
    pattern: Float32[np.ndarray, "layer head query key"]
    q: Float32[np.ndarray, "layer head query d_k"]
    k: Float32[np.ndarray, "layer head key d_k"]
    v: Float32[np.ndarray, "layer head key d_v"]
    z: Float32[np.ndarray, "layer head query d_v"]
    residual: Float32[np.ndarray, "stage query d_model"]
    logits_by_layer: Float32[np.ndarray, "stage class"]
    logits: Float32[np.ndarray, " class"]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def patch_grid(self) -> tuple[int, int] | None:
        return self.config.patch_grid

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.config.class_names

    @property
    def has_class_token(self) -> bool:
        return self.config.pooling == "class"

    @property
    def probabilities(self) -> Float32[np.ndarray, " class"]:
        """Softmax of the logits."""
        weights = np.exp(self.logits - self.logits.max())
        return weights / weights.sum()

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the first axis of `residual` and `logits_by_layer`: embed, L0 mid, L0 post, ..."""
        layers = range(self.config.n_layers)
        return ("embed", *(f"L{layer} {part}" for layer in layers for part in ("mid", "post")))
