"""Activation patching: the answers to one input with activations replaced by those of another input, the source.

If an activation carries the difference between the two inputs, the answer moves towards that of the source (Vig et al.
2020, "causal mediation analysis"; Meng et al. 2022, "causal tracing"; Heimersheim & Nanda 2024 on how to read it).

Each position of the input is paired with one of the source. If both have the same length, equal positions are paired.
Otherwise the tokens with which both begin, and those with which both end, are paired; the tokens in between are paired in
order until those of one input are used up. Positions without a partner are never replaced.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from ..capture import activations, evaluation_mode
from ..config import ModelConfig
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..transformer import Transformer
from .batching import answers_from, batch_size, chunks, read_answers, repeated
from .masked_word import MaskedWord, check_answer, n_answers

HeadPart = Literal["z", "q", "k", "v"]  # output, queries, keys and values
Part = Literal["z", "q", "k", "v", "feed-forward"]
FEED_FORWARD: Literal["feed-forward"] = "feed-forward"
_HOOKS: dict[Part, str] = {
    "z": "attention.z",
    "q": "attention.q",
    "k": "attention.k",
    "v": "attention.v",
    FEED_FORWARD: "feed_forward_out",
}


class Pairs(NamedTuple):
    """Positions of the input, in order, and the positions of the source with which they are paired."""

    input: tuple[int, ...]
    source: tuple[int, ...]


def pair_positions(loaded: Loaded, model_input: InputLike, source: InputLike) -> Pairs:
    """Pairs positions of the input with positions of the source, as this module's docstring says.

    Raises as `model.inputs.prepare` does.
    """
    (inputs, positions), (source_inputs, source_positions) = (
        prepare(loaded, model_input),
        prepare(loaded, source),
    )
    n, n_source = len(positions), len(source_positions)
    if n == n_source:
        return Pairs(tuple(range(n)), tuple(range(n)))
    ids, source_ids = inputs[0].tolist(), source_inputs[0].tolist()
    min_length = min(n, n_source)
    n_first = next((index for index in range(min_length) if ids[index] != source_ids[index]), min_length)
    n_uncompared = min_length - n_first
    n_last = next(
        (index for index in range(n_uncompared) if ids[-1 - index] != source_ids[-1 - index]), n_uncompared
    )
    first_pairs = range(min_length - n_last)
    return Pairs((*first_pairs, *range(n - n_last, n)), (*first_pairs, *range(n_source - n_last, n_source)))


def patch_heads(
    loaded: Loaded,
    model_input: InputLike,
    source: InputLike,
    answer: MaskedWord | None = None,
    *,
    part: HeadPart = "z",
) -> Float32[np.ndarray, "layer head answer"]:
    """Answers, as `model.experiments.probabilities.probabilities` returns them, with one `part` of one head from the source.

    `part` is the head's output z, or its queries q, keys k or values v as the hook points of these names give them: of
    encoders with rotary positions after the rotation, of those with disentangled attention without the vectors of relative
    positions. Keys and values that several heads share (`n_parts`) are one part, so there are fewer of them than heads.
    Positions without a partner keep their own. Raises as `model.inputs.prepare` and
    `model.experiments.masked_word.check_answer` do, and ValueError for another part.

    >>> from loupe import load, patch_heads
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> patch_heads(encoder, "A gripping film.", "A dull film.", part="v").shape
    (4, 4, 2)
    """
    return _patch_layers(loaded, model_input, source, part, answer)


def patch_feed_forwards(
    loaded: Loaded, model_input: InputLike, source: InputLike, answer: MaskedWord | None = None
) -> Float32[np.ndarray, "layer answer"]:
    """Like `patch_heads`, with what one layer's feed-forward puts out, before it is added to the residual stream."""
    return _patch_layers(loaded, model_input, source, FEED_FORWARD, answer)[:, 0]


def _patch_layers(
    loaded: Loaded, model_input: InputLike, source: InputLike, part: Part, answer: MaskedWord | None
) -> Float32[np.ndarray, "layer part answer"]:
    layers = range(loaded.config.n_layers)
    return np.stack([patch_layer(loaded, model_input, source, layer, part, answer) for layer in layers])


def n_parts(config: ModelConfig, part: Part) -> int:
    """Number of parts of this kind in a layer: 1 feed-forward, a `part` of each head, or keys or values of each group."""
    if part == FEED_FORWARD:
        return 1
    n_key_heads = config.family.parts.n_key_heads if part in ("k", "v") else None
    return n_key_heads or config.n_heads


def patch_layer(
    loaded: Loaded,
    model_input: InputLike,
    source: InputLike,
    layer: int,
    part: Part,
    answer: MaskedWord | None = None,
) -> Float32[np.ndarray, "part answer"]:
    """Answers with one part of one layer from the source: `patch_heads` or `patch_feed_forwards` of this layer alone."""
    if part not in _HOOKS:
        raise ValueError(f"a part is one of {', '.join(_HOOKS)}, got {part!r}")
    model, config, pairs = loaded.model, loaded.config, pair_positions(loaded, model_input, source)
    check_answer(loaded, [model_input], answer)
    inputs, source_inputs = (prepare(loaded, text_or_image)[0] for text_or_image in (model_input, source))
    name, n = f"blocks.{layer}.{_HOOKS[part]}", n_parts(config, part)
    n_heads_of_part = config.n_heads // n
    outputs: list[Tensor] = []
    results = []
    with torch.inference_mode(), evaluation_mode(model):
        source_states = model.embed(source_inputs)
        with watch(model, {name: outputs.append}):
            model.run_blocks(source_states, model.full_mask(source_inputs), 0, layer + 1)
        source_output = outputs[-1][0, ..., list(pairs.source), :]
        mask = model.full_mask(inputs)
        states = model.run_blocks(model.embed(inputs), mask, 0, layer)
        for chunk in chunks(range(n), batch_size(config, states.shape[1])):

            def replace(activation: Tensor, chunk: Sequence[int] = chunk) -> Tensor:
                activation = activation.clone()
                for variant, index in enumerate(chunk):
                    if part == FEED_FORWARD:
                        activation[variant, list(pairs.input)] = source_output
                    else:
                        for head in range(index * n_heads_of_part, (index + 1) * n_heads_of_part):
                            activation[variant, head, list(pairs.input)] = source_output[head]
                return activation

            chunk_mask = None if mask is None else repeated(mask, len(chunk))
            with watch(model, {name: replace}):
                patched = model.run_blocks(repeated(states, len(chunk)), chunk_mask, layer, layer + 1)
            results.append(answers_from(model, layer + 1, patched, inputs, mask, answer)[:, 0])
    return torch.cat(results).cpu().numpy()


class StageAnswers(NamedTuple):
    """Answers with the state of one position replaced at a time, for several positions at one stage."""

    stage: int
    positions: list[int]
    answers: Float32[np.ndarray, "position answer"]


def patch_positions(
    loaded: Loaded, model_input: InputLike, source: InputLike, answer: MaskedWord | None = None
) -> Float32[np.ndarray, "stage position answer"]:
    """Answers when the state of one position, at one stage of the residual stream (embed, L0 mid, L0 post, …), is replaced.

    It is replaced by the state of the paired position of the source (`pair_positions`); the answers of positions that are
    in no pair are NaN. Raises as `model.inputs.prepare` and `model.experiments.masked_word.check_answer` do.

    >>> from loupe import load, patch_positions
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> patch_positions(encoder, "A gripping film.", "A boring film.").shape
    (9, 6, 2)
    """
    n = len(prepare(loaded, model_input)[1])
    shape = (1 + 2 * loaded.config.n_layers, n, n_answers(loaded.config, answer))
    result = np.full(shape, np.nan, np.float32)
    for stage, positions, answers in patch_positions_in_steps(loaded, model_input, source, answer):
        result[stage, positions] = answers
    return result


def patch_positions_in_steps(
    loaded: Loaded, model_input: InputLike, source: InputLike, answer: MaskedWord | None = None
) -> Iterator[StageAnswers]:
    """Like `patch_positions`, but yields results after each batch of positions, so that the caller can stop early."""
    model, pairs = loaded.model, pair_positions(loaded, model_input, source)
    inputs = prepare(loaded, model_input)[0]
    check_answer(loaded, [model_input], answer)
    states, source_states = (_residual(loaded, text_or_image) for text_or_image in (model_input, source))
    chunk_size = batch_size(loaded.config, states.shape[1])
    for stage in range(len(states)):
        # Where both states are equal, as in the embedding of all but the changed words, the answer is the unpatched one.
        is_equal = (states[stage, list(pairs.input)] == source_states[stage, list(pairs.source)]).all(dim=-1)
        equal_positions = [pairs.input[index] for index in is_equal.nonzero().flatten().tolist()]
        if equal_positions:
            with torch.inference_mode(), evaluation_mode(model):
                unpatched_answer = read_answers(model, states[-1:], inputs, answer).cpu().numpy()
            yield StageAnswers(
                stage, equal_positions, np.repeat(unpatched_answer, len(equal_positions), axis=0)
            )
        for chunk in chunks((~is_equal).nonzero().flatten().tolist(), chunk_size):
            positions = [pairs.input[index] for index in chunk]
            with torch.inference_mode(), evaluation_mode(model):
                patched = repeated(states[stage : stage + 1], len(chunk))
                patched[range(len(chunk)), positions] = source_states[
                    stage, [pairs.source[index] for index in chunk]
                ]
                answers = _answers_from_stage(model, stage, states, patched, inputs, answer)
            yield StageAnswers(stage, positions, answers.cpu().numpy())


def _residual(loaded: Loaded, model_input: InputLike) -> Float[Tensor, "stage position d_model"]:
    """The residual stream of one input at every stage."""
    names = ["embedding.output"]
    for layer in range(loaded.config.n_layers):
        names += [f"blocks.{layer}.resid_mid", f"blocks.{layer}.resid_post"]
    return torch.cat(list(activations(loaded, [model_input], names).values()))


def _answers_from_stage(
    model: Transformer,
    stage: int,
    states: Float[Tensor, "stage position d_model"],
    patched: Float[Tensor, "variant position d_model"],
    inputs: Tensor,
    answer: MaskedWord | None,
) -> Float[Tensor, "variant answer"]:
    """Answers with each of the `patched` states in place of those at `stage`; `states` is the unchanged residual stream."""
    layer, is_post = divmod(stage - 1, 2) if stage else (-1, 1)
    if not is_post:  # what attention returns does not matter then; the block's input does, in B2T
        block_input = repeated(states[stage - 1 : stage], len(patched))
        with watch(model, {f"blocks.{layer}.resid_mid": lambda _: patched}):
            patched = model.blocks[layer].after_attention(block_input, torch.zeros_like(block_input))
    return answers_from(model, layer + 1, patched, inputs, model.full_mask(inputs), answer)[:, 0]
