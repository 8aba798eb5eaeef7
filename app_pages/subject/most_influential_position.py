"""The input position on which the answer depends most, found by hiding one position after the other."""

from typing import NamedTuple

from app_pages.subject.answer import whole_answer
from app_pages.subject.cache import cached, of
from app_pages.subject.subject import LiveSubject
from model.capture.intervention import without_keys
from model.experiments.masked_word import LOGITS
from model.experiments.probabilities import probabilities

MOST_POSITIONS = 64  # of more it would take too long


class InfluentialPosition(NamedTuple):
    """A position, and how the answer changes when it is hidden from all queries."""

    position: int
    change: float  # fall of the predicted class's log-odds; without classes the cosine distance of the pooled state
    changes_class: bool  # whether another class is predicted then


@cached
def most_influential_position(subject: LiveSubject) -> InfluentialPosition | None:
    """The word or patch on which the answer depends most; None if there are none, or too many to try."""
    record = subject.record
    positions = record.positions_with_role("word", "continuation", "patch", "unknown")
    if not positions or len(record) > MOST_POSITIONS:
        return None
    interventions = tuple(map(without_keys, positions))
    answers = of(probabilities, subject.checkpoint, (subject.model_input,), interventions, LOGITS)[0]
    falls = whole_answer(record).falls(answers)
    index = int(falls.argmax())  # the largest fall: the one that changes the class, if any does
    predicted = record.predicted_class
    is_other = predicted is not None and int(answers[index].argmax()) != predicted
    return InfluentialPosition(positions[index], float(falls[index]), is_other)
