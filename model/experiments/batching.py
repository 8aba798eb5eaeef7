"""Batches of inputs of equal length, and answers computed from the states that enter any layer.

A variant of a batch is the same inputs with states that an experiment has changed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import torch
from jaxtyping import Float
from torch import Tensor

from ..capture.intervention import Intervention
from ..config import ModelConfig
from ..hooks import hook_points, is_watched, watch
from ..inputs import InputLike
from ..loaded import Loaded
from ..masks import FullMask
from ..transformer import Transformer
from .masked_word import LOGITS, AnswerRead, MaskedWord, log_probability

# Numbers read off the states behind the final norm, [input position d_model], and the inputs that these are of.
OutputOfStates = Callable[[Tensor, Tensor], Float[Tensor, "input answer"]]
NUMBERS_AT_ONCE = 2**22  # attention weights of one layer, or hidden units, that are in memory together
# Batches of changed heads are a quarter of the usual size: an eighth faster at 256 tokens, elsewhere the same.
_FRACTION = 4


def batch_size(config: ModelConfig, n_positions: int) -> int:
    """Number of inputs of `n_positions` positions that are run in one batch, at least 1."""
    return max(1, NUMBERS_AT_ONCE // (n_positions * max(config.n_heads * n_positions, config.d_ff)))


def chunks(items: Sequence[int], size: int) -> Iterator[list[int]]:
    """Splits the items into lists of `size`; the last one may be shorter."""
    return (list(items[start : start + size]) for start in range(0, len(items), size))


def batches_of_equal_length(
    config: ModelConfig, lengths: Sequence[int], n_layers_held: int = 1
) -> Iterator[list[int]]:
    """Yields the indices of inputs in batches of equal length, the longest first, so that memory does not grow later.

    `lengths` holds the number of positions of each input. `n_layers_held` is the number of layers whose activations are kept in
    memory; batches are smaller by that factor.
    """

    def length(index: int) -> int:
        return lengths[index]

    for n_positions, indices in groupby(sorted(range(len(lengths)), key=length, reverse=True), key=length):
        yield from chunks(list(indices), max(1, batch_size(config, n_positions) // n_layers_held))


def batches(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    intervention: Intervention | None = None,
    *,
    n_layers_held: int = 1,
) -> Iterator[tuple[list[int], Tensor]]:
    """Yields batches of inputs of equal length: the indices of the inputs, and their input tensor.

    The tensors include the padding of the intervention. `n_layers_held` is that of `batches_of_equal_length`. Raises as
    `model.inputs.prepare` does.
    """
    intervention = intervention or Intervention()
    prepared = [intervention.prepare(loaded, model_input) for model_input in inputs]
    lengths = [len(positions) for _, positions in prepared]
    for indices in batches_of_equal_length(loaded.config, lengths, n_layers_held):
        yield indices, torch.cat([prepared[index][0] for index in indices])


def repeated(batch: Tensor, n: int) -> Tensor:
    """Repeats the whole batch `n` times along its first axis."""
    return batch.repeat(n, *(1,) * (batch.ndim - 1))


def answers_from_block(
    model: Transformer,
    first: int,
    states: Float[Tensor, "variant_and_input position d_model"],
    inputs: Tensor,
    mask: FullMask | None,
    answer: AnswerRead | OutputOfStates = None,
) -> Float[Tensor, "variant input answer"]:
    """Answers to several variants of the same `inputs`, computed from the `states` that enter block `first`.

    `states` holds all inputs of the first variant, then all inputs of the second, and so on. The batch axis of `mask` is as
    long as that of `inputs`, for all variants alike, or as that of `states`. The answers are those of `answers_of_final_states`.
    """
    n_variants, last = len(states) // len(inputs), model.config.n_layers - 1
    if first <= last:
        if mask is not None and len(mask) != len(states):
            mask = repeated(mask, n_variants)
        states = model.run_blocks(states, mask, first, last)
        attended = model.blocks[last].attend(states, None if mask is None else mask[:, last])
        return answers_after_attention(model, last, states, attended, inputs, mask, answer)
    answers = answers_of_final_states(model, states, repeated(inputs, n_variants), answer)
    return answers.unflatten(0, (n_variants, len(inputs)))


def answers_after_attention(
    model: Transformer,
    layer: int,
    x: Float[Tensor, "variant_and_input position d_model"],
    attended: Float[Tensor, "variant_and_input position d_model"],
    inputs: Tensor,
    mask: FullMask | None,
    answer: AnswerRead | OutputOfStates = None,
) -> Float[Tensor, "variant input answer"]:
    """Like `answers_from_block`, computed from the input `x` of block `layer` and the output `attended` of its attention.

    In the last block, if the answer depends on the state of one position alone, such as the class token's, the feed-forward
    is computed for this position alone, unless an activation behind the attention is watched.
    """
    position = _only_position_read(model, answer) if layer == model.config.n_layers - 1 else None
    if position is not None and not is_watched(model, _points_after_attention(model, layer)):
        x, attended = x[:, position, None], attended[:, position, None]
        inputs = inputs[:, position, None] if model.config.is_text else inputs
        answer = replace(answer, position=0) if isinstance(answer, MaskedWord) else answer
    states = model.blocks[layer].after_attention(x, attended)
    return answers_from_block(model, layer + 1, states, inputs, mask, answer)


def run_layer(
    model: Transformer, x: Tensor, mask: FullMask | None, layer: int, name: str
) -> tuple[Tensor, Float[Tensor, "input position d_model"]]:
    """The activation of `layer` at its hook point `name`, such as "attention.z", for the layer's input `x`; and the layer's output."""
    activations: list[Tensor] = []
    with watch(model, {f"blocks.{layer}.{name}": activations.append}):
        output = model.run_blocks(x, mask, layer, layer + 1)
    return activations[0], output


def answers_of_changed_heads(
    model: Transformer,
    layer: int,
    x: Float[Tensor, "input position d_model"],
    z: Float[Tensor, "input head position d_v"],
    changed_z: Tensor,
    groups: Sequence[Sequence[int]],
    inputs: Tensor,
    mask: FullMask | None,
    answer: AnswerRead | OutputOfStates = None,
) -> Iterator[tuple[list[int], Float[Tensor, "group input answer"]]]:
    """Yields, for a few `groups` of heads at a time, their indices and the answers with `changed_z` in place of the heads' output `z`.

    `x` is the input of block `layer`; `changed_z` is broadcast to `z`. Attention is not computed again: replacing z_h by z'_h adds
    (z'_h − z_h) W_O^h to its output.
    """
    attention, config = model.blocks[layer].attention, model.config
    attention_output, difference = attention.project(z), changed_z - z
    # the rows of W_O that belong to a head: [head, d_v, d_model]
    weights = attention.w_o.weight.T.unflatten(0, (config.n_heads, -1))
    chunk_size = max(1, batch_size(config, x.shape[1]) // (_FRACTION * len(inputs)))
    for chunk in chunks(range(len(groups)), chunk_size):
        changes = (sum(difference[:, head] @ weights[head] for head in groups[index]) for index in chunk)
        changed_outputs = torch.cat([attention_output + change for change in changes])
        yield (
            chunk,
            answers_after_attention(
                model, layer, repeated(x, len(chunk)), changed_outputs, inputs, mask, answer
            ),
        )


def _only_position_read(model: Transformer, answer: AnswerRead | OutputOfStates) -> int | None:
    """The only position on whose final state the answer depends, such as the class token's; None if it depends on several."""
    if isinstance(answer, MaskedWord):
        return answer.position
    if callable(answer):
        return None
    family = model.config.family
    reads_others = (
        *(family.pools_patches, family.pools_patches_alone, family.attention_pooling, family.two_classifiers),
        *(family.pools_token is not None, bool(family.sentence_poolings)),
    )
    return 0 if model.config.pooling == "class" and not any(reads_others) else None


def _points_after_attention(model: Transformer, layer: int) -> Iterator[str]:
    """Names of the hook points of a block through which states pass once its attention is computed."""
    before = tuple(f"blocks.{layer}.{part}" for part in ("attention_in", "attention."))
    return (
        name
        for name in hook_points(model)
        if name.startswith(f"blocks.{layer}.") and not name.startswith(before)
    )


def answers_of_final_states(
    model: Transformer,
    states: Float[Tensor, "input position d_model"],
    inputs: Tensor,
    answer: AnswerRead | OutputOfStates = None,
) -> Float[Tensor, "input answer"]:
    """Answers computed from the states after the last block, of the kind that `answer` says.

    For a masked word log P in nats; for LOGITS logits; for None class probabilities. An encoder that chooses no class gives
    pooled states instead of logits or probabilities. A function is called with (states, inputs) and returns the answers.
    """
    states = model.final_norm(states)
    if callable(answer):
        return answer(states, inputs)
    if isinstance(answer, MaskedWord):
        return log_probability(model, states, answer)
    if model.config.chooses_class:
        logits = model.logits(model.classify(states, inputs))
        return logits if answer == LOGITS else logits.softmax(dim=-1)
    return model.pool(states, inputs)
