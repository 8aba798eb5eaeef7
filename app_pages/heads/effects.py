"""What is measured when a part is changed: the answers, and how far each is from the one before."""

from collections.abc import Iterator

import numpy as np

from app_pages.controls.knock_out import about, is_quick
from app_pages.subject.cache import Checkpoint, cached, loaded, of
from app_pages.subject.state import record
from app_pages.toolkit import stoppable
from app_pages.toolkit.stoppable import as_they_come
from model.experiments.ablation import Means, ablated, ablated_heads
from model.experiments.one_head_changed import Answers
from model.experiments.patching import patched_heads, patched_positions
from model.experiments.probabilities import probabilities
from model.inputs import Input
from model.measures.changes import changes_of_class
from model.record import ForwardRecord

POOLED = "pooled state (cosine distance)"  # what changes where there are no classes

Vectors = tuple[tuple[tuple[float, ...], ...], ...]  # [layer, head, d_v]: can stand in the cache's key


def followed(before: ForwardRecord) -> int | None:
    """The class whose log-odds are followed, the predicted one; None where there are no classes."""
    return int(before.logits.argmax()) if before.has_classes else None


def what_changes(before: ForwardRecord) -> str:
    at = followed(before)
    return POOLED if at is None else f"change of the log-odds of {before.class_names[at]}"


def changes(before: ForwardRecord, answers: np.ndarray) -> np.ndarray:
    """Of answers [..., answer] from the one `before`: `changes_of_class` of the predicted class, NaN where there is none."""
    flat = answers.reshape(-1, answers.shape[-1])
    return changes_of_class(before, flat, followed(before)).reshape(answers.shape[:-1])


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
    steps = ablated_heads(loaded(name), given, "zero" if means is None else _array(means))
    return _together(name, steps, "Taking away one head after the other …", ("heads", name, given, means))


@cached
def each_head_patched(name: Checkpoint, given: Input, source: Input) -> np.ndarray:
    """Answers [layer, head, answer] with each head alone as it is for `source`."""
    steps = patched_heads(loaded(name), given, source)
    return _together(
        name, steps, "Patching in one head after the other …", ("heads patched", name, given, source)
    )


@cached
def each_position_patched(name: Checkpoint, given: Input, source: Input) -> np.ndarray:
    """Answers [stage, position, answer]; NaN where a position has no partner."""
    before = record(name, given)
    n_stages, n = len(before.stages), len(before)
    found = None
    steps = patched_positions(loaded(name), given, source)
    text, what = "Patching in one position after the other …", ("positions patched", name, given, source)
    for part in as_they_come(steps, lambda part: len(part.positions) / (n_stages * n), text, what):
        if found is None:
            found = np.full((n_stages, n, part.answers.shape[-1]), np.nan, np.float32)
        found[part.stage, part.positions] = part.answers
    return found


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


def _together(name: Checkpoint, steps: Iterator[Answers], text: str, what: tuple) -> np.ndarray:
    config, found = loaded(name).config, None
    for layer, heads, answers in as_they_come(
        steps, lambda part: len(part.heads) / (config.n_layers * config.n_heads), text, what
    ):
        if found is None:
            found = np.empty((config.n_layers, config.n_heads, answers.shape[-1]), np.float32)
        found[layer, heads] = answers[:, 0].cpu().numpy()
    return found


def _array(means: Vectors | None) -> Means | None:
    return None if means is None else np.array(means, np.float32)
