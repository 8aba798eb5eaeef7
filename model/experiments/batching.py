"""Batches of inputs of equal length, and answers to variants of a batch, computed from any layer onwards."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import torch
from jaxtyping import Float
from torch import Tensor

from ..capture.intervention import Intervention
from ..config import ModelConfig
from ..inputs import InputLike
from ..loaded import Loaded
from ..masks import FullMask
from ..transformer import Transformer
from .masked_word import MaskedWord, log_probability

NUMBERS_AT_ONCE = 2**22  # attention weights of one layer, or hidden units, that are in memory together


def batch_size(config: ModelConfig, n_positions: int) -> int:
    """Number of inputs of `n_positions` positions that are run in one batch, at least 1."""
    return max(1, NUMBERS_AT_ONCE // (n_positions * max(config.n_heads * n_positions, config.d_ff)))


def chunks(items: Sequence[int], size: int) -> Iterator[list[int]]:
    """Splits the items into lists of `size`; the last one may be shorter."""
    return (list(items[start : start + size]) for start in range(0, len(items), size))


def batches(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    intervention: Intervention | None = None,
    *,
    n_layers_held: int = 1,
) -> Iterator[tuple[list[int], Tensor]]:
    """Yields batches of inputs of equal length, short inputs first: the indices of the inputs, and their input tensor.

    The tensors include the padding of the intervention. `n_layers_held` is the number of layers whose activations are kept
    in memory; batches are smaller by that factor. Raises as `model.inputs.prepare` does.
    """
    intervention = intervention or Intervention()
    prepared = [intervention.prepare(loaded, model_input) for model_input in inputs]

    def length(index: int) -> int:
        return len(prepared[index][1])

    for n_positions, indices in groupby(sorted(range(len(inputs)), key=length), key=length):
        for chunk in chunks(list(indices), max(1, batch_size(loaded.config, n_positions) // n_layers_held)):
            yield chunk, torch.cat([prepared[index][0] for index in chunk])


def repeated(batch: Tensor, n: int) -> Tensor:
    """Repeats the whole batch `n` times along its first axis."""
    return batch.repeat(n, *(1,) * (batch.ndim - 1))


def answers_from(
    model: Transformer,
    first: int,
    states: Float[Tensor, "variant_and_input position d_model"],
    inputs: Tensor,
    mask: FullMask | None,
    answer: MaskedWord | None = None,
) -> Float[Tensor, "variant input answer"]:
    """Answers to several variants of the same inputs, computed from the states that enter block `first`.

    `states` holds all inputs of the first variant, then all of the second, and so on. `mask` has one entry for each input,
    which all variants share, or one for each of `states`. The answers are those of `read_answers`.
    """
    n_variants = len(states) // len(inputs)
    if mask is not None and len(mask) != len(states):
        mask = repeated(mask, n_variants)
    states = model.run_blocks(states, mask, first)
    answers = read_answers(model, states, repeated(inputs, n_variants), answer)
    return answers.unflatten(0, (n_variants, len(inputs)))


def read_answers(
    model: Transformer,
    states: Float[Tensor, "input position d_model"],
    inputs: Tensor,
    answer: MaskedWord | None = None,
) -> Float[Tensor, "input answer"]:
    """Answers computed from the states after the last block: log P of the masked word `answer` in nats, or, if it is None,
    class probabilities, or pooled states if the encoder chooses no class.
    """
    states = model.final_norm(states)
    if answer is not None:
        return log_probability(model, states, answer)
    if model.config.chooses_class:
        return model.logits(model.classify(states, inputs)).softmax(dim=-1)
    return model.pool(states, inputs)
