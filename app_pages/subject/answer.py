"""The kinds of answer that an encoder gives to one input: a class, a word in place of [MASK], or a pooled state.

An answer defines how its change under an intervention is measured (unit and sign), its name, and sentences about the change.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, cast

import numpy as np

from app_pages.subject import cache
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.markdown import plain
from model.capture.intervention import without_keys
from model.experiments.attribution import Explained
from model.experiments.masked_word import LOGITS, AnswerRead, MaskedWord
from model.experiments.probabilities import probabilities
from model.measures.changes import (
    ROUNDING,
    ROUNDING_DISTANCE,
    class_changes,
    cosine_distance,
    log_odds,
    total_variation,
)
from model.record import AttentionRecord, ForwardRecord, answers_of_logits
from viz.builders.number_format import (
    format_distinct,
    format_number,
    percent,
    percent_with_error,
    share_below_one,
)
from viz.builders.token_label import label

MOST_POSITIONS = 64  # of more it would take too long


POOLED = "pooled state (cosine distance)"
DISTANCE = "cosine distance of the pooled state"


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer(ABC):
    """Base class of the three kinds of answer to one input without any intervention.

    The argument `answers` [*interventions, answer] is what experiments return if they are given `for_experiments`.
    """

    signed: ClassVar[bool] = True  # whether changes rise and fall, in nats; a distance does neither
    rounding: ClassVar[float] = ROUNDING  # changes up to this are none
    ends: ClassVar[tuple[str, str]] = ("falls", "rises")  # of a colour scale of changes
    scale: ClassVar[str]  # what is measured: changes on one scale can be compared

    record: AttentionRecord  # of the input
    noun: str  # in Markdown: "the prediction"
    quoted: str  # as the encoder gives it, as plain text: "“positive”"
    unit: str  # behind the number of a change: "log-odds of positive"
    change: str  # as a title: "change of the log-odds of positive, in nats"
    change_of_any: str  # the same over several inputs
    fall: str  # "fall of the log-odds of positive, nats"
    hidden: str  # what colours mean where a token is hidden; {unit} is a token or a patch
    loss: str  # whose gradient tells the importance of a head, in Markdown
    value_clause: str = ""  # what the answer is, as plain text; "" if that has no name
    word: MaskedWord | None = None

    @property
    def for_experiments(self) -> AnswerRead:
        """What to pass as `answer` to experiments: the masked word, or LOGITS for a class or a pooled state."""
        return self.word or LOGITS

    @property
    def for_parts(self) -> Explained:
        """What to pass as `answer` to `answer_parts`: the masked word, or None for the class or pooled state."""
        return self.word

    @abstractmethod
    def changes(self, answers: np.ndarray) -> np.ndarray:
        """Changes [*interventions] of this answer: in nats, positive if it gets more probable; or cosine distances of the pooled
        state.
        """

    @abstractmethod
    def changes_expression(self, record: Expression, answers: Expression) -> Expression:
        """The `changes`, as an expression."""

    def falls(self, answers: np.ndarray) -> np.ndarray:
        """Falls [*interventions] of this answer: in nats, negative if it gets more probable; or cosine distances of the pooled
        state.
        """
        return -self.changes(answers) if self.signed else self.changes(answers)

    def falls_expression(self, record: Expression, answers: Expression) -> Expression:
        """The `falls`, as an expression."""
        changes = self.changes_expression(record, answers)
        return call(np.negative, changes) if self.signed else changes

    @abstractmethod
    def change_to(self, after: LiveSubject) -> float:
        """Change from this answer to that of the subject `after`; NaN if that has no such answer."""

    @abstractmethod
    def change_sentence(self, what: str, after: LiveSubject) -> str:
        """Sentence on how the answer changes in `after`, as plain text. It begins with `what`, a clause that names the
        intervention.
        """

    def more_of_change(self, _after: LiveSubject) -> str:
        """Further sentences on the change, with numbers that `change_sentence` leaves out."""
        return ""

    @abstractmethod
    def shift(self, mean: float, sd: float | None = None) -> tuple[str, str]:
        """Size of a mean change in two texts: the words before the number, and the number, with `sd`, its standard deviation, if
        given.
        """

    @abstractmethod
    def without(self, token: str, answers: np.ndarray) -> str:
        """Clause, as Markdown, with the answer when `token` is hidden, from `answers` [answer]."""

    @abstractmethod
    def in_table(self, answers: np.ndarray) -> tuple[str, str]:
        """Heading and cell text for the answer in `answers` [answer]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassAnswer(Answer):
    """One of several classes, measured by its log-odds: the predicted class, or another one given by `followed`."""

    scale: ClassVar[str] = "the log-odds"
    record: ForwardRecord
    followed: int
    name: str

    @property
    def for_parts(self) -> Explained:
        return self.followed

    @classmethod
    def of(cls, record: ForwardRecord, followed: int | None = None) -> "ClassAnswer":
        """The answer of the class with index `followed`; None for the predicted class."""
        followed = int(record.logits.argmax()) if followed is None else followed
        name = record.class_names[followed]
        return cls(
            record=record,
            followed=followed,
            name=name,
            noun="the prediction",
            quoted=f"“{label(name, 14)}”",
            unit=f"log-odds of {name}",
            change=f"change of the log-odds of {name}, in nats",
            change_of_any="change of the log-odds of the predicted class, in nats",
            fall=f"fall of the log-odds of {name}, nats",
            hidden=f"Gold: speaks for “{name}”; purple: against it.",
            loss="the cross-entropy with the predicted class (Michel et al. take the right one)",
            value_clause=f"the encoder says {name} ({percent(share_below_one(record.probabilities, followed))})",
        )

    def changes(self, answers: np.ndarray) -> np.ndarray:
        return class_changes(self.record, answers, self.followed)

    def changes_expression(self, record: Expression, answers: Expression) -> Expression:
        return call(class_changes, record, answers, self.followed)

    def change_to(self, after: LiveSubject) -> float:
        return float(self.changes(after.record.logits))

    def change_sentence(self, what: str, after: LiveSubject) -> str:
        before, changed = self.record.probabilities, after.record.probabilities
        new_class = int(changed.argmax())
        old, new = share_below_one(before, self.followed), share_below_one(changed, self.followed)
        former, latter = percent(old), percent(new)
        if new_class != self.followed:
            new_name, reached = self.record.class_names[new_class], share_below_one(changed, new_class)
            most, latter = format_distinct(reached, new, ".1%")
            return f"{what}, the prediction changes from {self.name} ({former}) to {new_name} ({most}); {self.name} now has {latter}."
        shares = f"{former} before, {latter} after"
        if former == latter:
            shares = f"{former}, as before" if old == new else f"{former} before and after"
        return f"{what}, the prediction stays {self.name}: {shares}."

    def more_of_change(self, after: LiveSubject) -> str:
        old, new = (float(log_odds(record.logits, self.followed)) for record in (self.record, after.record))
        shift = float(total_variation(self.record.probabilities, after.record.probabilities))
        return (
            f"Log-odds of {plain(self.name)}: {format_number(old, '+.2f')} before, {format_number(new, '+.2f')} after: "
            f"{'falls' if new < old else 'rises'} by {format_number(abs(new - old), '.2f')}. Total variation of the prediction: {format_number(shift, '#.2g')}."
        )

    def shift(self, mean: float, sd: float | None = None) -> tuple[str, str]:
        return "the prediction shifts by", percent(mean) if sd is None else percent_with_error(mean, sd)

    def without(self, token: str, answers: np.ndarray) -> str:
        now, then = (
            percent(share_below_one(answers_of_logits(logits, "choice"), self.followed))
            for logits in (self.record.logits, answers)
        )
        change = format_number(float(self.changes(answers)), "+.2f")
        return f"P({plain(self.name)}) is {now}; without {token} it is {then} ({change} in log-odds)"

    def in_table(self, answers: np.ndarray) -> tuple[str, str]:
        values = answers_of_logits(answers, "choice")
        if np.isnan(values).any():
            return "prediction", "none: every probability is NaN"
        top = int(values.argmax())
        return "prediction", f"{self.record.class_names[top]}, {percent(share_below_one(values, top), 4)}"


@dataclass(frozen=True, kw_only=True, eq=False)
class WordAnswer(Answer):
    """A word in place of [MASK], measured by its log P."""

    scale: ClassVar[str] = "log P"
    value: float  # log P in nats

    @classmethod
    def of(cls, subject: LiveSubject, word: MaskedWord, name: str) -> "WordAnswer":
        """The answer that is this `word`, with the display `name`, such as "“very” at [MASK]"."""
        log_p, value = f"log P({name})", _log_probability(subject, word)
        return cls(
            record=subject.record,
            word=word,
            value=value,
            noun=plain(log_p),
            quoted=name,
            unit=f"nats, {log_p}",
            change=f"change of {log_p}, in nats",
            change_of_any="change of log P(first guess at [MASK]), in nats",
            fall=f"fall of {log_p}, nats",
            hidden=f"Gold: speaks for {name}; purple: against it.",
            loss=f"−{plain(log_p)}, in nats",
            value_clause=f"{log_p} is {format_number(value, '+.3f')} nats, P {percent(float(np.exp(value)), 2)}",
        )

    def changes(self, answers: np.ndarray) -> np.ndarray:
        return np.asarray(answers[..., 0], np.float64) - self.value

    def changes_expression(self, _record: Expression, answers: Expression) -> Expression:
        return call(np.subtract, call(answers[..., 0].astype, "float64"), self.value)

    def change_to(self, after: LiveSubject) -> float:
        assert self.word is not None
        if self.word.position not in after.record.positions_with_role("mask"):
            return np.nan
        return _log_probability(after, self.word) - self.value

    def change_sentence(self, what: str, after: LiveSubject) -> str:
        return change_sentence(what, self.quoted, self.value, self.value + self.change_to(after))

    def shift(self, mean: float, sd: float | None = None) -> tuple[str, str]:
        error = "" if sd is None else f" ± {format_number(sd, '.2f')}"
        return f"{self.noun} changes by", f"{format_number(mean, '+.2f')}{error} nats"

    def without(self, token: str, answers: np.ndarray) -> str:
        then = float(answers[0])
        now, after, change = (
            format_number(number, "+.2f") for number in (self.value, then, then - self.value)
        )
        return f"{self.noun} is {now} nats; without {token} it is {after} ({change} nats)"

    def in_table(self, answers: np.ndarray) -> tuple[str, str]:
        return f"{self.noun} in nats", format_number(float(answers[0]), "+.4g", otherwise="NaN")


@dataclass(frozen=True, kw_only=True, eq=False)
class StateAnswer(Answer):
    """The pooled state of an encoder that chooses no class, measured by how far its direction turns (cosine distance)."""

    signed: ClassVar[bool] = False
    rounding: ClassVar[float] = ROUNDING_DISTANCE
    ends: ClassVar[tuple[str, str]] = ("as before", "furthest")
    scale: ClassVar[str] = "the cosine distance"

    noun: str = "the pooled state"
    quoted: str = "the answer"
    unit: str = "cosine distance"
    change: str = POOLED
    change_of_any: str = POOLED
    fall: str = "cosine distance"
    hidden: str = "The darker a {unit}, the further the pooled state moves without it (cosine distance)."
    loss: str = r"$\ln |p|$ of the pooled state $p$"
    reason: str = "the encoder has no classes"  # why the pooled state is measured

    def changes(self, answers: np.ndarray) -> np.ndarray:
        return cosine_distance(cast(ForwardRecord, self.record).pooled, answers)

    def changes_expression(self, record: Expression, answers: Expression) -> Expression:
        return call(cosine_distance, record.pooled, answers)

    def change_to(self, after: LiveSubject) -> float:
        return float(self.changes(after.record.pooled))

    def change_sentence(self, what: str, after: LiveSubject) -> str:
        distance = self.change_to(after)
        if np.isnan(distance):
            clause = "the pooled state becomes, or was, all zeros, which have no direction"
        elif distance <= ROUNDING_DISTANCE:
            clause = "the pooled state stays as it is"
        else:
            clause = f"the pooled state changes by a cosine distance of {format_number(distance, '.2g')}"
        return f"{what}, {clause}; {self.reason}."

    def shift(self, mean: float, sd: float | None = None) -> tuple[str, str]:
        error = "" if sd is None else f" ± {format_number(sd, '.1g')}"
        return "the pooled state turns by a cosine distance of", f"{format_number(mean, '.2g')}{error}"

    def without(self, token: str, answers: np.ndarray) -> str:
        return (
            f"without {token} the pooled state moves by {format_number(float(self.changes(answers)), '.2g')}"
        )

    def in_table(self, answers: np.ndarray) -> tuple[str, str]:
        return DISTANCE, format_number(float(self.changes(answers)), ".4g", otherwise="NaN")


def whole_answer(record: AttentionRecord) -> ClassAnswer | StateAnswer:
    """The answer to the whole input, not to one masked word. For a record that holds only attention it is an unknown pooled
    state.
    """
    if record.has_classes:
        return ClassAnswer.of(cast(ForwardRecord, record))
    if isinstance(record, ForwardRecord) and len(record.logits):
        # Numbers, or a separate probability for each class: they are shown, and experiments measure the pooled state.
        return StateAnswer(record=record, reason="the encoder chooses no single class")
    return StateAnswer(record=record)


def change_sentence(what: str, name: str, old: float, new: float) -> str:
    """Sentence, as plain text, on the change of log P of the masked word called `name` from `old` to `new`, in nats; changes
    below `ROUNDING` count as none.
    """
    if abs(new - old) <= ROUNDING:
        return f"{what}, log P({name}) stays as it is: {format_number(old, '+.3f')} nats, P {percent(float(np.exp(old)), 2)}."
    direction = "falls" if new < old else "rises"
    numbers = " to ".join(format_distinct(old, new, "+.3f"))
    shares = f"P {percent(float(np.exp(old)), 2)} before, {percent(float(np.exp(new)), 2)} after"
    return f"{what}, log P({name}) {direction}: from {numbers} nats, {format_number(new - old, '+.3f' if abs(new - old) >= 0.0005 else '+.2g')} nats. {shares}."


def _log_probability(subject: LiveSubject, word: MaskedWord) -> float:
    """log P of `word` in nats in the forward pass of `subject`, including its intervention."""
    inputs, interventions = (subject.model_input,), (subject.intervention,)
    return float(cache.of(probabilities, subject.checkpoint, inputs, interventions, word)[0, 0, 0])


class InfluentialPosition(NamedTuple):
    """A position, how the answer changes when it is hidden from all queries, and whether the predicted class does."""

    position: int
    change: float  # fall of the predicted class's log-odds; without classes the cosine distance of the pooled state
    changes_class: bool  # whether another class is predicted then


@cached
def most_influential_position(subject: LiveSubject) -> InfluentialPosition | None:
    """The word or patch whose hiding changes the answer most; None if there is none, or too many to try."""
    record = subject.record
    positions = record.positions_with_role("word", "continuation", "patch", "unknown")
    if not positions or len(record) > MOST_POSITIONS:
        return None
    interventions = tuple(map(without_keys, positions))
    answers = cache.of(probabilities, subject.checkpoint, (subject.model_input,), interventions, LOGITS)[0]
    falls = whole_answer(record).falls(answers)
    index = int(falls.argmax())  # the largest fall: the one that changes the class, if any does
    predicted = record.predicted_class
    is_other = predicted is not None and int(answers[index].argmax()) != predicted
    return InfluentialPosition(positions[index], float(falls[index]), is_other)
