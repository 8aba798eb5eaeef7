"""Answers (by default class probabilities) to many inputs under many interventions, in as few forward passes as possible."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from ..capture import evaluation_mode
from ..capture.intervention import Intervention
from ..hooks import Watcher, watch
from ..inputs import InputLike
from ..loaded import Loaded
from ..transformer import Transformer
from .batching import answers_from_block, batch_size, batches, chunks, repeated
from .masked_word import AnswerRead, check_answer, n_answers

UNCHANGED = (Intervention(),)


def probabilities(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    interventions: Sequence[Intervention] = UNCHANGED,
    answer: AnswerRead = None,
) -> Float32[np.ndarray, "input intervention answer"]:
    """Class probabilities, from 0 to 1, of each input under each intervention.

    For an encoder that does not choose one of several classes, the pooled state [d_pooled] is returned instead; for a
    masked word as the `answer` of all inputs, log P of it in nats [1]; for "logits" the logits, from which
    `model.measures.changes.log_odds` are precise also near a probability of 0 or 1. Inputs of equal length share a batch, and so
    do interventions whose first changed layer is the same; the layers before it run once. Raises as `model.capture.capture`
    and `model.experiments.masked_word.check_answer` do.

    >>> from loupe import Intervention, load, probabilities, without_keys
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> probabilities(encoder, ["A gripping film."], [Intervention(), without_keys(2)]).shape
    (1, 2, 2)
    """
    check_answer(loaded, inputs, answer)
    result = np.empty((len(inputs), len(interventions), n_answers(loaded.config, answer)), np.float32)
    paddings = [intervention.n_padding(loaded.config) for intervention in interventions]
    with torch.inference_mode(), evaluation_mode(loaded.model):
        for padding in set(paddings):
            columns = [column for column, n_padding in enumerate(paddings) if n_padding == padding]
            interventions_with_padding = {column: interventions[column] for column in columns}
            for rows, batch in batches(loaded, inputs, interventions[columns[0]]):
                for chunk_columns, answers in _answers(
                    loaded.model, batch, interventions_with_padding, answer
                ):
                    result[np.ix_(rows, chunk_columns)] = answers.transpose(0, 1).cpu().numpy()
    return result


def _answers(
    model: Transformer, inputs: Tensor, interventions: dict[int, Intervention], answer: AnswerRead
) -> Iterator[tuple[list[int], Float32[Tensor, "intervention input answer"]]]:
    """Yields, for a few of the `interventions` at a time, their keys in that dict and the answers under them."""

    def first_layer(key: int) -> int:
        return interventions[key].first_layer(model.config)

    mask, x, next_block = model.full_mask(inputs), model.embed(inputs), 0
    chunk_size = max(1, batch_size(model.config, x.shape[1]) // len(inputs))
    for first, keys in groupby(sorted(interventions, key=first_layer), key=first_layer):
        x, next_block = model.run_blocks(x, mask, next_block, max(first, 0)), max(first, 0)
        for chunk in chunks(list(keys), chunk_size):
            chosen = [interventions[key] for key in chunk]
            masks = [intervention.mask(model, inputs) for intervention in chosen]
            watchers = [
                intervention.watchers(model, mask) for intervention, mask in zip(chosen, masks, strict=True)
            ]
            n, all_masks = len(chunk), _stack_masks(masks, inputs)
            with watch(model, _split_watchers(watchers)):
                # below 0 if an intervention changes the embedding
                states = model.embed(repeated(inputs, n)) if first < 0 else repeated(x, n)
                answers = answers_from_block(model, next_block, states, inputs, all_masks, answer)
            yield chunk, answers


def _stack_masks(masks: Sequence[Tensor | None], inputs: Tensor) -> Tensor | None:
    """Concatenates the masks, each expanded to all inputs; None if all masks are None."""
    present_masks = [mask for mask in masks if mask is not None]
    if not present_masks:
        return None
    nothing_masked = torch.ones(1, present_masks[0].shape[1], 1, 1, 1, dtype=torch.bool, device=inputs.device)
    # By numpy: torch's broadcast_shapes imports sympy, 0.3 s.
    shape = np.broadcast_shapes((len(inputs), 1, 1, 1, 1), *(mask.shape for mask in present_masks))
    return torch.cat([(nothing_masked if mask is None else mask).expand(shape) for mask in masks])


def _split_watchers(watchers: Sequence[dict[str, Watcher]]) -> dict[str, Watcher]:
    """Watchers that split a batch into as many equal parts as there are `watchers`, and apply each of these to its part."""

    def watch_parts(name: str, activation: Tensor) -> Tensor:
        changed_parts = []
        for variant_watchers, part in zip(watchers, activation.chunk(len(watchers)), strict=True):
            replacement = variant_watchers[name](part) if name in variant_watchers else None
            changed_parts.append(part if replacement is None else replacement)
        return torch.cat(changed_parts)

    names = {name for variant_watchers in watchers for name in variant_watchers}
    return {name: partial(watch_parts, name) for name in names}
