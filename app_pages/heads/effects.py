"""What is measured when a part is changed: the answers, and how far each is from the one before."""

from collections.abc import Iterator

import numpy as np

from app_pages.controls.knock_out import about, is_quick
from app_pages.subject.cache import Checkpoint, cached, loaded, of
from app_pages.subject.state import record
from app_pages.toolkit import stoppable
from app_pages.toolkit.stoppable import as_they_come
from model.experiments.ablation import Means, ablate_heads_in_steps, ablated
from model.experiments.one_head_changed import HeadAnswers, collect
from model.experiments.patching import patch_heads_in_steps, patch_positions_in_steps
from model.experiments.probabilities import probabilities
from model.inputs import Input
from model.record import ForwardRecord

POOLED = "pooled state (cosine distance)"  # what changes where there are no classes

Vectors = tuple[tuple[tuple[float, ...], ...], ...]  # [layer, head, d_v]: can stand in the cache's key


def what_changes(before: ForwardRecord) -> str:
    predicted = before.predicted_class
    return POOLED if predicted is None else f"change of the log-odds of {before.class_names[predicted]}"


def as_vectors(means: Means) -> Vectors:
    return tuple(tuple(map(tuple, layer)) for layer in means.tolist())


@cached
def each_part(name: Checkpoint, given: Input, means: Vectors | None) -> np.ndarray:
    """Answers [layer, head, then all heads, then feed-forward, answer] with each part alone ablated."""
    heads = each_head(name, given, means)
    config, vectors = loaded(name).config, _array(means)
    wholes = [ablated(layers=(layer,), means=vectors) for layer in range(config.n_layers)]
    wholes += [ablated(feed_forwards=(layer,)) for layer in range(config.n_layers)]
    rest = of(probabilities, name, (given,), tuple(wholes))[0]
    return np.concatenate((heads, rest.reshape(2, config.n_layers, -1).transpose(1, 0, 2)), axis=1)


@cached
def each_head(name: Checkpoint, given: Input, means: Vectors | None) -> np.ndarray:
    """Answers [layer, head, answer] with each head alone ablated, and a bar where that takes longer."""
    steps = ablate_heads_in_steps(loaded(name), given, "zero" if means is None else _array(means))
    return _together(name, steps, "Taking away one head after the other …", ("heads", name, given, means))


@cached
def each_head_patched(name: Checkpoint, given: Input, source: Input) -> np.ndarray:
    """Answers [layer, head, answer] with each head alone as it is for `source`."""
    steps = patch_heads_in_steps(loaded(name), given, source)
    return _together(
        name, steps, "Patching in one head after the other …", ("heads patched", name, given, source)
    )


@cached
def each_position_patched(name: Checkpoint, given: Input, source: Input) -> np.ndarray:
    """Answers [stage, position, answer]; NaN where a position has no partner."""
    before = record(name, given)
    n_stages, n = len(before.stages), len(before)
    result = np.full((n_stages, n, before.config.n_answers), np.nan, np.float32)
    steps = patch_positions_in_steps(loaded(name), given, source)
    text, what = "Patching in one position after the other …", ("positions patched", name, given, source)
    for step in as_they_come(steps, lambda step: len(step.positions) / (n_stages * n), text, what):
        result[step.stage, step.positions] = step.answers
    return result


def forwards_of_heads(before: ForwardRecord) -> int:
    """About how many forwards all heads of all layers take: of those behind a layer, and half of its own."""
    n_layers, n_heads, *_ = before.pattern.shape
    return -(-n_heads * n_layers // 2)


def forwards_of_positions(before: ForwardRecord) -> int:
    """The same of all positions at all stages."""
    return -(-len(before.stages) * len(before) // 2)


def wanted(what: tuple, name: Checkpoint, given: Input, n_forwards: int, label: str, key: str) -> bool:
    """Whether to work `what` out now: so many forwards take half a second or less, it was done before, or the button here is
    pressed. What is done afterwards stands inside `until_done(what)`.
    """
    is_short = is_quick(name, given, n_forwards)
    return stoppable.wanted(what, f"{label}, {about(name, given, n_forwards)}", key, is_short=is_short)


def _together(name: Checkpoint, steps: Iterator[HeadAnswers], text: str, what: tuple) -> np.ndarray:
    config = loaded(name).config
    n_heads = config.n_layers * config.n_heads
    steps = as_they_come(steps, lambda step: len(step.heads) / n_heads, text, what)
    return collect(steps, config)[:, :, 0]


def _array(means: Vectors | None) -> Means | None:
    return None if means is None else np.array(means, np.float32)
