"""The encoder's answers when single heads, feed-forwards or positions are ablated or patched, as expressions or as arrays, and the
number of forward passes that this takes.
"""

from functools import partial

import numpy as np

from app_pages.subject.as_python import encoder, input_expression, model_input
from app_pages.subject.cache import Checkpoint, cached, loaded, of
from app_pages.subject.stored_results import results_expression
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.stoppable import in_steps, progress, with_progress
from model.atlas.results import HEADS, read_heads
from model.experiments.ablation import (
    AblationKind,
    Means,
    ablate_heads,
    ablate_heads_in_steps,
    ablated,
    stack_answers,
)
from model.experiments.masked_word import AnswerRead, MaskedWord, masked_word, n_answers
from model.experiments.patching import (
    FEED_FORWARD,
    HeadPart,
    PatchedPart,
    patch_feed_forwards,
    patch_heads,
    patch_layer,
    patch_positions_in_steps,
)
from model.experiments.patching_over_pairs import (
    MeanEffects,
    PairError,
    effects_of_patches,
    patch_pairs_in_all_parts,
)
from model.experiments.probabilities import probabilities
from model.inputs import Input, InputLike
from model.record import ForwardRecord

Vectors = tuple[tuple[tuple[float, ...], ...], ...]  # [layer, head, d_v]: can stand in the cache's key
InputPair = tuple[Input, Input, int]  # first input, second input, line of the file


def as_hashable_means(means: Means) -> Vectors:
    """The mean outputs [layer, head, d_v] as nested tuples, which can be part of a cache key."""
    return tuple(tuple(map(tuple, layer)) for layer in means.tolist())


def answers_without_parts(subject: LiveSubject, means: Vectors | None, answer: AnswerRead) -> Expression:
    """Answers [layer, part, answer] when one part of one layer is ablated: each head, then all its heads, then its feed-forward.

    `means` [layer, head, d_v] stand in the place of the outputs of heads, or zeros where they are None. Shows a progress bar if
    that takes long.
    """
    loaded, layers = encoder(subject.checkpoint), range(subject.loaded.config.n_layers)
    inputs = [model_input(subject)]
    stored = results_expression(subject.checkpoint, HEADS, read_heads)
    vectors = None if means is None else stored.z.with_value(partial(_as_array, means))
    heads = call(ablate_heads, loaded, inputs, "zero" if vectors is None else vectors, answer)[0]
    changes = [call(ablated, layers=(layer,), means=vectors) for layer in layers]
    changes += [call(ablated, feed_forwards=(layer,)) for layer in layers]
    values = tuple(change() for change in changes)
    read = partial(of, probabilities, subject.checkpoint, (subject.model_input,), values, answer)
    by_change = call(probabilities, loaded, inputs, changes, answer).with_value(read)[0]
    by_layer = call(call(by_change.reshape, 2, len(layers), -1).transpose, 1, 0, 2)
    heads = heads.with_value(partial(answers_without_each_head, subject, means, answer))
    return named("answers", call(np.concatenate, (heads, by_layer), axis=1))


@cached
def answers_without_each_head(subject: LiveSubject, means: Vectors | None, answer: AnswerRead) -> np.ndarray:
    """Answers [layer, head, answer] when one head is ablated; shows a progress bar if that takes long."""
    config = subject.loaded.config
    ablation: AblationKind = "zero" if means is None else _as_array(means)
    steps = ablate_heads_in_steps(subject.loaded, subject.model_input, ablation, answer)
    n_heads, work_key = config.n_layers * config.n_heads, ("heads", subject, means, answer)
    text = "Taking away one head after the other …"
    steps = with_progress(steps, lambda step: len(step.heads) / n_heads, text, work_key)
    return stack_answers(steps, config)[:, :, 0]


def answers_with_each_part_patched(
    subject: LiveSubject, source: Input, part: HeadPart, answer: AnswerRead
) -> Expression:
    """Answers [layer, part, answer] when one part of one layer is replaced by its activations on the input `source`: the `part`
    of each head, or of each group of heads that share keys and values, and last the feed-forward. Shows a progress bar if that
    takes long.
    """
    name, inputs = subject.checkpoint, (subject.model_input, source)
    layers = range(subject.loaded.config.n_layers)
    steps = [partial(_answers_of_layer, name, *inputs, layer, part, answer) for layer in layers]
    text, work_key = (
        "Patching in one part after the other …",
        ("parts patched", subject, source, part, answer),
    )
    arguments = encoder(name), model_input(subject), input_expression(source), answer
    heads = call(patch_heads, *arguments, part=part)
    joined = call(np.concatenate, [heads, call(patch_feed_forwards, *arguments)[:, None]], axis=1)
    return named("answers", joined, lambda: np.stack(in_steps(steps, text, work_key)))


def _answers_of_layer(
    checkpoint: Checkpoint,
    first: InputLike,
    source: InputLike,
    layer: int,
    part: HeadPart,
    answer: AnswerRead,
) -> np.ndarray:
    """Answers [part, answer] to `first` when each part of `layer` is replaced by its activations on `source`, the feed-forward
    last; cached.
    """
    parts: tuple[PatchedPart, ...] = (part, FEED_FORWARD)
    return np.concatenate([of(patch_layer, checkpoint, first, source, layer, kind, answer) for kind in parts])


def effects_over_pairs(
    checkpoint: Checkpoint,
    pairs: tuple[InputPair, ...],
    part: HeadPart,
    measured_word: str | None,
    *,
    normalised: bool,
) -> Expression:
    """`MeanEffects` [layer, part] of patching over pairs, the feed-forward last; shows a progress bar if that takes long.

    The effect is on log P of `measured_word` in place of [MASK] ("" for the first guess of each pair) or, if it is None, on the
    predicted class or the pooled state; `normalised`, it is a share of the way to the answer to the second input. The value
    raises ValueError, which names the line, for a pair that cannot be read, and if no pair is left.
    """
    inputs = [(input_expression(first), input_expression(second)) for first, second, _ in pairs]
    arguments = encoder(checkpoint), named("pairs", inputs), part, measured_word
    read = partial(_effects_over_pairs, checkpoint, pairs, part, measured_word, normalised=normalised)
    return named("effects", call(patch_pairs_in_all_parts, *arguments, normalised=normalised), read)


@cached
def _effects_over_pairs(
    checkpoint: Checkpoint,
    pairs: tuple[InputPair, ...],
    part: HeadPart,
    measured_word: str | None,
    *,
    normalised: bool,
) -> MeanEffects:
    def patch(first: InputLike, second: InputLike, layer: int, answer: AnswerRead) -> np.ndarray:
        return _answers_of_layer(checkpoint, first, second, layer, part, answer)

    def word_of(first: InputLike) -> MaskedWord:
        return of(masked_word, checkpoint, first, measured_word or None)

    answer_of = None if measured_word is None else word_of
    work_key = ("pairs patched", checkpoint, pairs, part, measured_word, normalised)
    try:
        with progress("Patching one pair after the other …", work_key) as step:
            inputs = [(first, second) for first, second, _ in pairs]
            return effects_of_patches(
                loaded(checkpoint), inputs, patch, normalised=normalised, answer_of=answer_of, progress=step
            )
    except PairError as error:
        line = pairs[error.index][2]
        raise ValueError(f"The pair in line {line:,} cannot be read: {error.__cause__}.") from error
    except ValueError as error:
        reason = str(error)
        raise ValueError(f"{reason[0].upper()}{reason[1:]}: choose “change”.") from error


@cached
def answers_with_each_position_patched(subject: LiveSubject, source: Input, answer: AnswerRead) -> np.ndarray:
    """Answers [stage, position, answer] when one position's residual state at one stage is replaced by that of the position of
    `source` with which it is paired; NaN where a position has no pair.
    """
    before = subject.record
    n_stages, n = len(before.stages), len(before)
    result = np.full((n_stages, n, n_answers(before.config, answer)), np.nan, np.float32)
    steps = patch_positions_in_steps(subject.loaded, subject.model_input, source, answer)
    text = "Patching in one position after the other …"
    work_key = ("positions patched", subject, source, answer)
    for step in with_progress(steps, lambda step: len(step.positions) / (n_stages * n), text, work_key):
        result[step.stage, step.positions] = step.answers
    return result


def n_forwards_of_heads(before: ForwardRecord) -> int:
    """Approximate number of forward passes to ablate or patch each head in turn: a change in one layer reruns only the layers
    after it.
    """
    n_layers, n_heads, *_ = before.pattern.shape
    return -(-n_heads * n_layers // 2)


def n_forwards_of_positions(before: ForwardRecord) -> int:
    """Approximate number of forward passes to patch each position at each stage in turn."""
    return -(-len(before.stages) * len(before) // 2)


def _as_array(means: Vectors) -> Means:
    return np.array(means, np.float32)
