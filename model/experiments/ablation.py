"""Ablation: the answers of an encoder without some heads, layers, feed-forward sublayers or positions.

A head whose ablation changes nothing on one input may still be needed on others.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Float32

from ..capture import evaluation_mode
from ..capture.intervention import Intervention, without_keys
from ..capture.replacements import ReplacedHeads, Replacement, Zeroed
from ..config import ModelConfig
from ..inputs import InputLike
from ..loaded import Loaded
from .batching import batches
from .masked_word import AnswerRead, check_answer, n_answers
from .one_head_changed import (
    HeadAnswers,
    HeadName,
    Replace,
    change_each_head,
    change_each_head_of_input,
    stack_answers,
)

Means = Float[
    np.ndarray, "layer head d_v"
]  # of z: over a data set the mean of the inputs' means, each over its positions
AblationKind = Literal["zero"] | Means  # what replaces the output z of a head


def ablate_heads(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    ablation: AblationKind = "zero",
    answer: AnswerRead = None,
) -> Float32[np.ndarray, "input layer head answer"]:
    """Answers, as `model.experiments.probabilities.probabilities` returns them, with one head ablated at a time.

    The head's output z is replaced at every position by zeros, or by its row of means. Inputs of equal length share a
    batch. Raises as `model.inputs.prepare` and `model.experiments.masked_word.check_answer` do, and ValueError for means of
    another shape than [layer, head, d_v], and another word than "zero".

    >>> from loupe import ablate_heads, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> ablate_heads(encoder, ["A gripping film."]).shape
    (1, 4, 4, 2)
    """
    config, replace = loaded.config, _replacement(loaded, ablation)
    check_answer(loaded, inputs, answer)
    result = np.empty((len(inputs), config.n_layers, config.n_heads, n_answers(config, answer)), np.float32)
    with torch.inference_mode(), evaluation_mode(loaded.model):
        for rows, batch in batches(loaded, inputs):
            answers = stack_answers(change_each_head(loaded.model, batch, replace, answer=answer), config)
            result[rows] = np.moveaxis(answers, 2, 0)
    return result


def ablate_heads_in_steps(
    loaded: Loaded,
    model_input: InputLike,
    ablation: AblationKind = "zero",
    answer: AnswerRead = None,
) -> Iterator[HeadAnswers]:
    """Like `ablate_heads` for one input, but yields results after every few heads, so that the caller can stop early."""
    return change_each_head_of_input(loaded, model_input, _replacement(loaded, ablation), answer)


def _replacement(loaded: Loaded, ablation: AblationKind) -> Replace:
    if isinstance(ablation, str):
        check_ablation(ablation)
        return lambda _, z: torch.zeros_like(z)
    means = torch.as_tensor(_checked_means(ablation, loaded.config)).to(loaded.device)
    return lambda layer, _: means[layer, :, None]


def ablated(
    heads: Sequence[HeadName] = (),
    layers: Sequence[int] = (),
    feed_forwards: Sequence[int] = (),
    positions: Sequence[int] = (),
    means: Means | None = None,
) -> Intervention:
    """An intervention that ablates the given heads, layers, feed-forward sublayers and positions together.

    The output z of `heads`, pairs (layer, head), and of all heads of `layers`, is replaced by zeros, or by each head's row
    of `means`. W_O is still applied, bias included, so ablating a layer is ablating all of its heads. The output of the
    layers `feed_forwards`, second bias included, is always replaced by zeros. `positions` are masked as keys in all layers
    and heads. Raises IndexError if the means lack a head.

    >>> from loupe import ablated, capture, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> record = capture(encoder, "A gripping film.", ablated(heads=[(0, 1)]))
    >>> float(abs(record.z[0, 1]).max())
    0.0
    """
    heads_by_layer: dict[int, set[int]] = {}
    for layer, head in heads:
        heads_by_layer.setdefault(layer, set()).add(head)
    if means is not None:
        heads_by_layer |= {layer: set(range(means.shape[1])) for layer in layers}
    replacements: list[tuple[str, Replacement]] = [
        (f"blocks.{layer}.attention.z", _replace_heads(sorted(head_set), layer, means))
        for layer, head_set in sorted(heads_by_layer.items())
    ]
    if means is None:
        replacements += [(f"blocks.{layer}.attention.z", Zeroed()) for layer in sorted(set(layers))]
    replacements += [(f"blocks.{layer}.feed_forward_out", Zeroed()) for layer in sorted(set(feed_forwards))]
    intervention = Intervention(replacements=tuple(replacements))
    return intervention + without_keys(*sorted(set(positions))) if positions else intervention


def _replace_heads(heads: list[int], layer: int, means: Means | None) -> ReplacedHeads:
    if means is None:
        return ReplacedHeads(tuple(heads))
    return ReplacedHeads(tuple(heads), tuple(tuple(means[layer, head].tolist()) for head in heads))


def check_ablation(ablation: AblationKind) -> None:
    """Raises ValueError for a word other than "zero": means are given as an array, since their data set is not known here."""
    if isinstance(ablation, str) and ablation != "zero":
        raise ValueError(f"an ablation is 'zero' or an array of means [layer, head, d_v], got {ablation!r}")


def _checked_means(means: Means, config: ModelConfig) -> Float32[np.ndarray, "layer head d_v"]:
    """The means as float32. Raises ValueError if their shape is not [layer, head, d_v] of this encoder."""
    expected_shape = (config.n_layers, config.n_heads, config.d_v)
    if means.shape != expected_shape:
        raise ValueError(f"means of z must be of {expected_shape}, [layer, head, d_v], got {means.shape}")
    return np.array(means, np.float32)
