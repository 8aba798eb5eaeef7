"""The position of an input on which its answer hangs most, found by hiding one after the other."""

from typing import NamedTuple

from app_pages.subject.cache import cached, of
from app_pages.subject.subject import LiveSubject
from model.capture.intervention import without_keys
from model.experiments.probabilities import probabilities
from model.measures.changes import class_changes, strongest_change

SHORT = 64  # positions: of more it would take too long


class Telling(NamedTuple):
    position: int
    change: float  # of the probability of what was answered; without classes the cosine distance of the pooled state
    turns: bool  # whether another class is answered then


@cached
def telling_position(subject: LiveSubject) -> Telling | None:
    """Of the words or patches; None where there are too many, or none."""
    record = subject.record
    words = record.at("word", "continuation", "patch", "unknown")
    if not words or len(record) > SHORT:
        return None
    answers = of(probabilities, subject.checkpoint, (subject.given,), tuple(map(without_keys, words)))[0]
    if not record.has_classes:
        changes = class_changes(record, answers, None)
        most = strongest_change(changes)
        return Telling(words[most], float(changes[most]), False)
    said = int(record.probabilities.argmax())
    changes = class_changes(record, answers, said)
    most = int(changes.argmin())  # the largest fall: the one that turns the answer, if any does
    return Telling(words[most], float(-changes[most]), int(answers[most].argmax()) != said)
