"""`text_on_picture`: which patches of a picture the logit of a text comes from, in CLIP or SigLIP.

The logit of a text is s · cos(u, t) + b: u and t are the pooled states of picture and text, s is the model's learned scale, and b its
bias (CLIP has none). u is a sum of parts of the residual stream (`model.decompositions`); what the heads of all layers read from a patch
is that patch's part of the logit (Gandelsman et al. 2024, "Interpreting CLIP's Image Representation via Text-Based Decomposition").
The rest is one number: what heads read from the class token, the embedding, feed-forwards, biases, and b.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Float32, Float64

from ..capture import activations, evaluation_mode
from ..decompositions.state_parts import POOLING_FEED_FORWARD, divide_among_parts, forward_pass
from ..family_options import AnswerKind
from ..huggingface.inner_encoders import TEXT, VISION, split_path
from ..huggingface.weights import stored_weights
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import Positions, answers_of_logits
from .pooled_state import pooled_length, sum_by_source

POOLING_PATTERN = "attention_pooling.attention.pattern"
MOST_TEXTS = 20  # with a vector for each text, head and patch of a layer, all held at once


@dataclass(frozen=True, slots=True, eq=False)
class TextOnPicture:
    """The logits of several texts for one picture, each divided among the picture's patches."""

    positions: Positions  # of the picture
    maps: Float64[np.ndarray, "text patch"]  # what each patch adds to the text's logit
    elsewhere: Float64[np.ndarray, " text"]  # what no patch carries
    recorded: Float64[
        np.ndarray, " text"
    ]  # the logits, of the pooled states that the forward passes computed
    scale: float  # the model's own, by which cosines are multiplied
    bias: float  # the model's own, added to each product
    kind: AnswerKind  # "choice": CLIP's softmax over the texts; "each": SigLIP's probability for each text
    directions: Float64[np.ndarray, "text d_pooled"]  # pooled states of the texts, of length 1
    pooled_from: Float64[np.ndarray, " patch"] | None  # attention of SigLIP's pooling, mean over its heads

    @property
    def totals(self) -> Float64[np.ndarray, " text"]:
        """The sum of each text's map and its `elsewhere`."""
        return self.maps.sum(axis=1) + self.elsewhere

    @property
    def gap(self) -> float:
        """The largest |`totals` - `recorded`| of all texts."""
        return float(np.abs(self.totals - self.recorded).max())

    @property
    def probabilities(self) -> Float32[np.ndarray, " text"]:
        """Probability of each text: softmax over the texts, or a logistic function for each of them, by `kind`."""
        return answers_of_logits(self.recorded.astype(np.float32), self.kind)

    def falls(self, pooled: Float[np.ndarray, "*pictures d_pooled"]) -> Float64[np.ndarray, "*pictures text"]:
        """`recorded` minus the logits of the texts for other pooled states of pictures, such as those of changed pictures."""
        cosines = pooled @ self.directions.T / np.linalg.norm(pooled, axis=-1, keepdims=True)
        return self.recorded - self.scale * cosines - self.bias


def text_on_picture(
    pictures: Loaded,
    texts: Loaded,
    picture: InputLike,
    sentences: Sequence[str],
    *,
    progress: Callable[[float], None] | None = None,
) -> TextOnPicture:
    """What each patch of a `picture` adds to the logit of each of the `sentences`.

    `pictures` and `texts` are the two encoders of one folder: `load("my-clip/vision_model")` and `load("my-clip/text_model")`. All
    divisors are held constant as in `answer_parts`. `progress` is called with the share of the work that is done, 0 to 1. Raises
    ValueError for any other two encoders, for fewer than 1 and more than 20 sentences, and as `model.inputs.prepare` does.

    >>> from loupe import text_on_picture
    >>> text_on_picture(pictures, texts, picture, ["a cat", "a dog"]).maps.shape  # doctest: +SKIP
    (2, 49)
    """
    scale, bias, kind = _logit_scale_and_bias(pictures, texts)
    if not 1 <= len(sentences) <= MOST_TEXTS:
        raise ValueError(f"1 to {MOST_TEXTS} sentences are compared with a picture, got {len(sentences)}")
    directions = []
    for number, sentence in enumerate(sentences, start=1):
        t = activations(texts, [sentence], ["logits"])["logits"][0]
        directions.append(t / pooled_length(texts, t))
        if progress is not None:
            progress(number / (len(sentences) + 1))  # the picture takes about as long as a sentence
    model, n_layers = pictures.model, pictures.config.n_layers
    forward = forward_pass(
        pictures, picture, n_layers, (POOLING_FEED_FORWARD, POOLING_PATTERN, "logits"), by_token=True
    )
    with torch.inference_mode(False), torch.no_grad(), evaluation_mode(model):
        pooled = forward.activations["logits"].clone()  # of an encoder without classes it is the pooled state
        factors = scale * torch.stack(directions).to(pooled) / pooled_length(pictures, pooled)
        parts, values = divide_among_parts(
            forward, n_layers, lambda x: factors @ model.pool(model.final_norm(x)[None], forward.inputs)[0]
        )
    shares = sum_by_source(parts, values, len(forward.positions)).T
    weights = forward.activations.get(POOLING_PATTERN)
    return TextOnPicture(
        forward.positions,
        maps=shares[:, forward.positions.patches],
        elsewhere=np.delete(shares, forward.positions.patches, axis=1).sum(axis=1) + bias,
        recorded=(factors @ pooled).double().cpu().numpy() + bias,
        scale=scale,
        bias=bias,
        kind=kind,
        directions=torch.stack(directions).double().cpu().numpy(),
        pooled_from=None if weights is None else weights[:, 0].mean(dim=0).double().cpu().numpy(),
    )


def _logit_scale_and_bias(pictures: Loaded, texts: Loaded) -> tuple[float, float, AnswerKind]:
    """Scale s and bias b of the logits, and how logits become probabilities: "choice" (softmax) or "each" (logistic function)."""
    (folder, first), (other, second) = (split_path(loaded.folder or Path()) for loaded in (pictures, texts))
    is_pair = folder == other and (first, second) == (VISION, TEXT)
    if not is_pair or pictures.config.d_pooled != texts.config.d_pooled:
        raise ValueError(
            f"{pictures.name} and {texts.name} are not the {VISION} and the {TEXT} of one folder, with vectors of one width"
        )
    stored, endings = stored_weights(folder), ("logit_scale", "logit_bias")
    names = [
        name for name, shape in stored.shapes.items() if name.endswith(endings) and math.prod(shape) == 1
    ]
    numbers = {name.rpartition(".")[2]: float(tensor.item()) for name, tensor in stored.tensors(names)}
    if "logit_scale" not in numbers:
        raise ValueError(f"{folder.name} has no logit_scale, the number by which its logits are multiplied")
    kind: AnswerKind = "each" if "logit_bias" in numbers else "choice"
    return math.exp(numbers["logit_scale"]), numbers.get("logit_bias", 0.0), kind
