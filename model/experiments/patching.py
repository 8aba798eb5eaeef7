"""Activation patching: the answers to one input with activations replaced by those of another input, the source.

If an activation carries the difference between the two inputs, the answer moves towards that of the source (Vig et al.
2020, "causal mediation analysis"; Meng et al. 2022, "causal tracing"; Heimersheim & Nanda 2024 on how to read it).

Each position of the input is paired with one of the source. If both have the same length, equal positions are paired.
Otherwise the tokens with which both begin, and those with which both end, are paired; the tokens in between are paired in
order until those of one input are used up. Positions without a partner are never replaced.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from ..capture import evaluation_mode
from ..config import ModelConfig
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..transformer import Transformer
from .batching import (
    answers_from_block,
    answers_of_changed_heads,
    answers_of_final_states,
    batch_size,
    chunks,
    repeated,
    run_layer,
)
from .masked_word import AnswerRead, check_answer, n_answers
from .residual_stream import residual_stream

HeadPart = Literal["z", "q", "k", "v"]  # output, queries, keys and values
PatchedPart = Literal["z", "q", "k", "v", "feed-forward"]
FEED_FORWARD: Literal["feed-forward"] = "feed-forward"
_HOOKS: dict[PatchedPart, str] = {
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
    """Pairs positions of the input with positions of the source, by the rule in the docstring of `model.experiments.patching`.

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
    answer: AnswerRead = None,
    *,
    part: HeadPart = "z",
) -> Float32[np.ndarray, "layer head answer"]:
    """Answers, as `model.experiments.probabilities.probabilities` returns them, with `part` of one head at a time from the source.

    `part` is the head's output z, or its queries q, keys k or values v, as at the hook points of these names: with rotary
    positions after the rotation, with disentangled attention without the vectors of relative positions. Keys or values that
    several heads share are replaced together, so the head axis is shorter (`n_parts`). Positions without a partner in the
    source keep their own activations. Raises as `model.inputs.prepare` and
    `model.experiments.masked_word.check_answer` do, and ValueError for another part.

    >>> from loupe import load, patch_heads
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> patch_heads(encoder, "A gripping film.", "A dull film.", part="v").shape
    (4, 4, 2)
    """
    layers = range(loaded.config.n_layers)
    return np.stack(list(_patch_layers(loaded, model_input, source, layers, part, answer)))


def patch_feed_forwards(
    loaded: Loaded, model_input: InputLike, source: InputLike, answer: AnswerRead = None
) -> Float32[np.ndarray, "layer answer"]:
    """Like `patch_heads`, with the output of one layer's feed-forward at a time, before it is added to the residual stream.

    >>> from loupe import load, patch_feed_forwards
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> patch_feed_forwards(encoder, "A gripping film.", "A dull film.").shape
    (4, 2)
    """
    layers = range(loaded.config.n_layers)
    return np.stack(list(_patch_layers(loaded, model_input, source, layers, FEED_FORWARD, answer)))[:, 0]


def n_parts(config: ModelConfig, part: PatchedPart) -> int:
    """Number of activations that `patch_layer` replaces one at a time: 1 feed-forward, else heads, or groups that share k or v."""
    if part == FEED_FORWARD:
        return 1
    n_key_heads = config.family.parts.n_key_heads if part in ("k", "v") else None
    return n_key_heads or config.n_heads


def patch_layer(
    loaded: Loaded,
    model_input: InputLike,
    source: InputLike,
    layer: int,
    part: PatchedPart,
    answer: AnswerRead = None,
) -> Float32[np.ndarray, "part answer"]:
    """The row of `patch_heads`, or of `patch_feed_forwards`, for one layer; `part` says which activation is replaced."""
    (answers,) = _patch_layers(loaded, model_input, source, range(layer, layer + 1), part, answer)
    return answers


def _patch_layers(
    loaded: Loaded,
    model_input: InputLike,
    source: InputLike,
    layers: range,
    part: PatchedPart,
    answer: AnswerRead,
) -> Iterator[Float32[np.ndarray, "part answer"]]:
    """Yields the answers of `patch_layer` for each of the consecutive `layers`.

    The q, k and v of a head change its own z alone. So attention runs once with those of all heads replaced, and each variant
    takes from it the z of one head, or of the heads that share a key or value.
    """
    if part not in _HOOKS:
        raise ValueError(f"a part is one of {', '.join(_HOOKS)}, got {part!r}")
    model, pairs = loaded.model, pair_positions(loaded, model_input, source)
    check_answer(loaded, [model_input], answer)
    inputs, source_inputs = (prepare(loaded, text_or_image)[0] for text_or_image in (model_input, source))
    with torch.inference_mode(), evaluation_mode(model):
        mask, source_mask = model.full_mask(inputs), model.full_mask(source_inputs)
        x = model.run_blocks(model.embed(inputs), mask, 0, layers.start)
        source_x = model.run_blocks(model.embed(source_inputs), source_mask, 0, layers.start)
        for layer in layers:
            source_part, next_source_x = run_layer(model, source_x, source_mask, layer, _HOOKS[part])

            def replace(activation: Tensor, source_part: Tensor = source_part) -> Tensor:
                activation = activation.clone()
                activation[..., list(pairs.input), :] = source_part[..., list(pairs.source), :]
                return activation

            z, next_x = run_layer(model, x, mask, layer, _HOOKS["z"])
            with watch(model, {f"blocks.{layer}.{_HOOKS[part]}": replace}):
                patched_z, patched_x = run_layer(model, x, mask, layer, _HOOKS["z"])
            if part == FEED_FORWARD:
                result = answers_from_block(model, layer + 1, patched_x, inputs, mask, answer)[:, 0]
            else:
                groups = np.arange(model.config.n_heads).reshape(n_parts(model.config, part), -1).tolist()
                steps = answers_of_changed_heads(model, layer, x, z, patched_z, groups, inputs, mask, answer)
                result = torch.cat([answers for _, answers in steps])[:, 0]
            yield result.cpu().numpy()
            x, source_x = next_x, next_source_x


class StageAnswers(NamedTuple):
    """Answers for several positions at one stage; `answers[i]` is the answer with the state of `positions[i]` replaced."""

    stage: int
    positions: list[int]
    answers: Float32[np.ndarray, "position answer"]


def patch_positions(
    loaded: Loaded, model_input: InputLike, source: InputLike, answer: AnswerRead = None
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
    loaded: Loaded, model_input: InputLike, source: InputLike, answer: AnswerRead = None
) -> Iterator[StageAnswers]:
    """Like `patch_positions`, but yields results after each batch of positions, so that the caller can stop early."""
    model, pairs = loaded.model, pair_positions(loaded, model_input, source)
    inputs = prepare(loaded, model_input)[0]
    check_answer(loaded, [model_input], answer)
    states, source_states = (
        torch.from_numpy(residual_stream(loaded, [text_or_image])[:, 0]).to(loaded.device)
        for text_or_image in (model_input, source)
    )
    chunk_size = batch_size(loaded.config, states.shape[1])
    for stage in range(len(states)):
        # Where both states are equal, as in the embedding of all but the changed words, the answer is the unpatched one.
        is_equal = (states[stage, list(pairs.input)] == source_states[stage, list(pairs.source)]).all(dim=-1)
        equal_positions = [pairs.input[index] for index in is_equal.nonzero().flatten().tolist()]
        if equal_positions:
            with torch.inference_mode(), evaluation_mode(model):
                unpatched_answer = answers_of_final_states(model, states[-1:], inputs, answer).cpu().numpy()
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


def _answers_from_stage(
    model: Transformer,
    stage: int,
    states: Float[Tensor, "stage position d_model"],
    patched: Float[Tensor, "variant position d_model"],
    inputs: Tensor,
    answer: AnswerRead,
) -> Float[Tensor, "variant answer"]:
    """Answers with each of the `patched` states in place of those at `stage`; `states` is the residual stream without patches."""
    layer, is_post = divmod(stage - 1, 2) if stage else (-1, 1)
    if not is_post:  # what attention returns does not matter then; the block's input does, in B2T
        block_input = repeated(states[stage - 1 : stage], len(patched))
        with watch(model, {f"blocks.{layer}.resid_mid": lambda _: patched}):
            patched = model.blocks[layer].after_attention(block_input, torch.zeros_like(block_input))
    return answers_from_block(model, layer + 1, patched, inputs, model.full_mask(inputs), answer)[:, 0]
