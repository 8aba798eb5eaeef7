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

MAX_TRIED_POSITIONS = 64  # to hide each position of a longer input in turn would take too long


POOLED_STATE_TITLE = "pooled state (cosine distance)"
DISTANCE_HEADING = "cosine distance of the pooled state"


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer(ABC):
    """Base class of the three kinds of answer to one input without any intervention.

    The argument `answers` of its methods is an array [*interventions, answer] that an experiment returned for this
    answer: logits of the classes, log P of the masked word, or pooled states.
    """

    is_signed: ClassVar[bool] = True  # whether changes have a sign; cosine distances have none
    rounding: ClassVar[float] = ROUNDING  # a change of at most this size is rounding error
    scale_ends: ClassVar[tuple[str, str]] = ("falls", "rises")  # names of the ends of a colour scale
    scale: ClassVar[str]  # what is measured, "the log-odds"; changes of the same scale can be compared

    record: AttentionRecord  # of the input
    noun: str  # in Markdown: "the prediction"
    quoted_answer: str  # as the encoder gives it, as plain text: "“positive”"
    unit: str  # stands after the number of a change: "log-odds of positive"
    change_title: str  # "change of the log-odds of positive, in nats"
    change_title_over_inputs: str  # the same for changes over several inputs
    fall_title: str  # "fall of the log-odds of positive, nats"
    colour_note: str  # what a colour says of hiding a token; {unit} stands for "token" or "patch"
    loss_phrase: str  # in Markdown: the loss whose gradient is the importance of a head
    value_clause: str = ""  # "the encoder says positive (96.7%)", as plain text; "" for a pooled state
    word: MaskedWord | None = None

    @property
    def for_experiments(self) -> AnswerRead:
        """What to pass as `answer` to experiments: the masked word, or LOGITS for a class or a pooled state."""
        return self.word or LOGITS

    @property
    def for_parts(self) -> Explained:
        """What to pass as `answer` to `answer_parts`: the masked word, the index of the class, or None for the pooled state."""
        return self.word

    @abstractmethod
    def changes(self, answers: np.ndarray) -> np.ndarray:
        """Changes [*interventions] of this answer: in nats, positive if it gets more probable; or cosine distances of the pooled
        state.
        """

    @abstractmethod
    def changes_expression(self, record: Expression, answers: Expression) -> Expression:
        """What `changes` returns for the `answers`, as an expression; `record` is that of the input."""

    def falls(self, answers: np.ndarray) -> np.ndarray:
        """Falls [*interventions] of this answer: its changes with the opposite sign, in nats; or cosine distances of
        the pooled state, which have no sign.
        """
        return -self.changes(answers) if self.is_signed else self.changes(answers)

    def falls_expression(self, record: Expression, answers: Expression) -> Expression:
        """What `falls` returns for the `answers`, as an expression; `record` is that of the input."""
        changes = self.changes_expression(record, answers)
        return call(np.negative, changes) if self.is_signed else changes

    @abstractmethod
    def change_to(self, after: LiveSubject) -> float:
        """Change from this answer to that of `after`, the same subject under an intervention; NaN if [MASK] is no
        longer at its position, or if a pooled state is all zeros.
        """

    @abstractmethod
    def change_sentence(self, intervention_clause: str, after: LiveSubject) -> str:
        """Sentence, as plain text, on how this answer changes to that of `after`, the same subject under an
        intervention. It begins with the `intervention_clause`, such as "Without this head".
        """

    def change_details(self, _after: LiveSubject) -> str:
        """Further sentences on the change, such as by how much the log-odds fall, which `change_sentence` leaves out;
        "" if there are none.
        """
        return ""

    @abstractmethod
    def shift_texts(self, mean: float, sd: float | None = None) -> tuple[str, str]:
        """The `mean` of changes as the words before its number and the number, such as ("the prediction shifts by",
        "3.1%"), with ± `sd`, the standard deviation, if that is given.
        """

    @abstractmethod
    def clause_without(self, token: str, answers: np.ndarray) -> str:
        """Clause, as Markdown, on the answer before and after `token` is hidden, such as "P(positive) is 97%; without
        film it is 91% (-1.10 in log-odds)"; `answers` [answer] is the answer without the token.
        """

    @abstractmethod
    def table_texts(self, answers: np.ndarray) -> tuple[str, str]:
        """Heading of a table's column and text of its cell for the answer in `answers` [answer]: ("prediction",
        "positive, 96.7%").
        """


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassAnswer(Answer):
    """One of several classes, measured by its log-odds: the predicted class, or another one given by `class_index`."""

    scale: ClassVar[str] = "the log-odds"
    record: ForwardRecord
    class_index: int
    class_name: str

    @property
    def for_parts(self) -> Explained:
        return self.class_index

    @classmethod
    def of(cls, record: ForwardRecord, class_index: int | None = None) -> "ClassAnswer":
        """The answer of the class with index `class_index`; None for the predicted class."""
        class_index = int(record.logits.argmax()) if class_index is None else class_index
        name = record.class_names[class_index]
        return cls(
            record=record,
            class_index=class_index,
            class_name=name,
            noun="the prediction",
            quoted_answer=f"“{label(name, 14)}”",
            unit=f"log-odds of {name}",
            change_title=f"change of the log-odds of {name}, in nats",
            change_title_over_inputs="change of the log-odds of the predicted class, in nats",
            fall_title=f"fall of the log-odds of {name}, nats",
            colour_note=f"Gold: speaks for “{name}”; purple: against it.",
            loss_phrase="the cross-entropy with the predicted class (Michel et al. take the right one)",
            value_clause=f"the encoder says {name} ({percent(share_below_one(record.probabilities, class_index))})",
        )

    def changes(self, answers: np.ndarray) -> np.ndarray:
        return class_changes(self.record, answers, self.class_index)

    def changes_expression(self, record: Expression, answers: Expression) -> Expression:
        return call(class_changes, record, answers, self.class_index)

    def change_to(self, after: LiveSubject) -> float:
        return float(self.changes(after.record.logits))

    def change_sentence(self, intervention_clause: str, after: LiveSubject) -> str:
        before, changed = self.record.probabilities, after.record.probabilities
        new_class = int(changed.argmax())
        old, new = share_below_one(before, self.class_index), share_below_one(changed, self.class_index)
        former, latter = percent(old), percent(new)
        if new_class != self.class_index:
            new_name, reached = self.record.class_names[new_class], share_below_one(changed, new_class)
            most, latter = format_distinct(reached, new, ".1%")
            return f"{intervention_clause}, the prediction changes from {self.class_name} ({former}) to {new_name} ({most}); {self.class_name} now has {latter}."
        shares = f"{former} before, {latter} after"
        if former == latter:
            shares = f"{former}, as before" if old == new else f"{former} before and after"
        return f"{intervention_clause}, the prediction stays {self.class_name}: {shares}."

    def change_details(self, after: LiveSubject) -> str:
        old, new = (
            float(log_odds(record.logits, self.class_index)) for record in (self.record, after.record)
        )
        shift = float(total_variation(self.record.probabilities, after.record.probabilities))
        return (
            f"Log-odds of {plain(self.class_name)}: {format_number(old, '+.2f')} before, {format_number(new, '+.2f')} after: "
            f"{'falls' if new < old else 'rises'} by {format_number(abs(new - old), '.2f')}. Total variation of the prediction: {format_number(shift, '#.2g')}."
        )

    def shift_texts(self, mean: float, sd: float | None = None) -> tuple[str, str]:
        return "the prediction shifts by", percent(mean) if sd is None else percent_with_error(mean, sd)

    def clause_without(self, token: str, answers: np.ndarray) -> str:
        now, then = (
            percent(share_below_one(answers_of_logits(logits, "choice"), self.class_index))
            for logits in (self.record.logits, answers)
        )
        change = format_number(float(self.changes(answers)), "+.2f")
        return f"P({plain(self.class_name)}) is {now}; without {token} it is {then} ({change} in log-odds)"

    def table_texts(self, answers: np.ndarray) -> tuple[str, str]:
        values = answers_of_logits(answers, "choice")
        if np.isnan(values).any():
            return "prediction", "none: every probability is NaN"
        top = int(values.argmax())
        return "prediction", f"{self.record.class_names[top]}, {percent(share_below_one(values, top), 4)}"


@dataclass(frozen=True, kw_only=True, eq=False)
class WordAnswer(Answer):
    """A word in place of [MASK], measured by its log P."""

    scale: ClassVar[str] = "log P"
    log_probability: float  # log P in nats

    @classmethod
    def of(cls, subject: LiveSubject, word: MaskedWord, name: str) -> "WordAnswer":
        """The answer whose log P of this `word` is followed; `name` is how the word is shown, such as "“very” at
        [MASK]".
        """
        log_p, log_p_value = f"log P({name})", _log_probability(subject, word)
        return cls(
            record=subject.record,
            word=word,
            log_probability=log_p_value,
            noun=plain(log_p),
            quoted_answer=name,
            unit=f"nats, {log_p}",
            change_title=f"change of {log_p}, in nats",
            change_title_over_inputs="change of log P(first guess at [MASK]), in nats",
            fall_title=f"fall of {log_p}, nats",
            colour_note=f"Gold: speaks for {name}; purple: against it.",
            loss_phrase=f"−{plain(log_p)}, in nats",
            value_clause=f"{log_p} is {format_number(log_p_value, '+.3f')} nats, P {percent(float(np.exp(log_p_value)), 2)}",
        )

    def changes(self, answers: np.ndarray) -> np.ndarray:
        return np.asarray(answers[..., 0], np.float64) - self.log_probability

    def changes_expression(self, _record: Expression, answers: Expression) -> Expression:
        return call(np.subtract, call(answers[..., 0].astype, "float64"), self.log_probability)

    def change_to(self, after: LiveSubject) -> float:
        assert self.word is not None
        if self.word.position not in after.record.positions_with_role("mask"):
            return np.nan
        return _log_probability(after, self.word) - self.log_probability

    def change_sentence(self, intervention_clause: str, after: LiveSubject) -> str:
        return change_sentence(
            intervention_clause,
            self.quoted_answer,
            self.log_probability,
            self.log_probability + self.change_to(after),
        )

    def shift_texts(self, mean: float, sd: float | None = None) -> tuple[str, str]:
        error = "" if sd is None else f" ± {format_number(sd, '.2f')}"
        return f"{self.noun} changes by", f"{format_number(mean, '+.2f')}{error} nats"

    def clause_without(self, token: str, answers: np.ndarray) -> str:
        then = float(answers[0])
        now, after, change = (
            format_number(number, "+.2f")
            for number in (self.log_probability, then, then - self.log_probability)
        )
        return f"{self.noun} is {now} nats; without {token} it is {after} ({change} nats)"

    def table_texts(self, answers: np.ndarray) -> tuple[str, str]:
        return f"{self.noun} in nats", format_number(float(answers[0]), "+.4g", otherwise="NaN")


@dataclass(frozen=True, kw_only=True, eq=False)
class StateAnswer(Answer):
    """The pooled state of an encoder that chooses no class, measured by how far its direction turns (cosine distance)."""

    is_signed: ClassVar[bool] = False
    rounding: ClassVar[float] = ROUNDING_DISTANCE
    scale_ends: ClassVar[tuple[str, str]] = ("as before", "furthest")
    scale: ClassVar[str] = "the cosine distance"

    noun: str = "the pooled state"
    quoted_answer: str = "the answer"
    unit: str = "cosine distance"
    change_title: str = POOLED_STATE_TITLE
    change_title_over_inputs: str = POOLED_STATE_TITLE
    fall_title: str = "cosine distance"
    colour_note: str = "The darker a {unit}, the further the pooled state moves without it (cosine distance)."
    loss_phrase: str = r"$\ln |p|$ of the pooled state $p$"
    reason: str = "the encoder has no classes"  # why the pooled state is measured

    def changes(self, answers: np.ndarray) -> np.ndarray:
        return cosine_distance(cast(ForwardRecord, self.record).pooled, answers)

    def changes_expression(self, record: Expression, answers: Expression) -> Expression:
        return call(cosine_distance, record.pooled, answers)

    def change_to(self, after: LiveSubject) -> float:
        return float(self.changes(after.record.pooled))

    def change_sentence(self, intervention_clause: str, after: LiveSubject) -> str:
        distance = self.change_to(after)
        if np.isnan(distance):
            clause = "the pooled state becomes, or was, all zeros, which have no direction"
        elif distance <= ROUNDING_DISTANCE:
            clause = "the pooled state stays as it is"
        else:
            clause = f"the pooled state changes by a cosine distance of {format_number(distance, '.2g')}"
        return f"{intervention_clause}, {clause}; {self.reason}."

    def shift_texts(self, mean: float, sd: float | None = None) -> tuple[str, str]:
        error = "" if sd is None else f" ± {format_number(sd, '.1g')}"
        return "the pooled state turns by a cosine distance of", f"{format_number(mean, '.2g')}{error}"

    def clause_without(self, token: str, answers: np.ndarray) -> str:
        return (
            f"without {token} the pooled state moves by {format_number(float(self.changes(answers)), '.2g')}"
        )

    def table_texts(self, answers: np.ndarray) -> tuple[str, str]:
        return DISTANCE_HEADING, format_number(float(self.changes(answers)), ".4g", otherwise="NaN")


def whole_answer(record: AttentionRecord) -> ClassAnswer | StateAnswer:
    """The answer to the whole input, not to one masked word: the predicted class if the encoder chooses one, else the
    pooled state. For a record that holds only attention it is a pooled state whose value is unknown.
    """
    if record.has_classes:
        return ClassAnswer.of(cast(ForwardRecord, record))
    if isinstance(record, ForwardRecord) and len(record.logits):
        # Numbers, or a separate probability for each class: they are shown, and experiments measure the pooled state.
        return StateAnswer(record=record, reason="the encoder chooses no single class")
    return StateAnswer(record=record)


def change_sentence(intervention_clause: str, name: str, old: float, new: float) -> str:
    """Sentence, as plain text, on the change of log P of the masked word called `name` from `old` to `new`, in nats; changes
    below `ROUNDING` count as none.
    """
    if abs(new - old) <= ROUNDING:
        return f"{intervention_clause}, log P({name}) stays as it is: {format_number(old, '+.3f')} nats, P {percent(float(np.exp(old)), 2)}."
    direction = "falls" if new < old else "rises"
    numbers = " to ".join(format_distinct(old, new, "+.3f"))
    shares = f"P {percent(float(np.exp(old)), 2)} before, {percent(float(np.exp(new)), 2)} after"
    return f"{intervention_clause}, log P({name}) {direction}: from {numbers} nats, {format_number(new - old, '+.3f' if abs(new - old) >= 0.0005 else '+.2g')} nats. {shares}."


def _log_probability(subject: LiveSubject, word: MaskedWord) -> float:
    """log P of `word` in nats in the forward pass of `subject`, including its intervention."""
    inputs, interventions = (subject.model_input,), (subject.intervention,)
    return float(cache.of(probabilities, subject.checkpoint, inputs, interventions, word)[0, 0, 0])


class InfluentialPosition(NamedTuple):
    """A position, and how the answer changes when that position is hidden from all queries."""

    position: int
    change: float  # fall of the predicted class's log-odds; without classes the cosine distance of the pooled state
    changes_class: bool  # whether another class is predicted without it


@cached
def most_influential_position(subject: LiveSubject) -> InfluentialPosition | None:
    """The word or patch without which the answer changes most; None if there is none, or if the input has more than
    `MAX_TRIED_POSITIONS` positions.
    """
    record = subject.record
    positions = record.positions_with_role("word", "continuation", "patch", "unknown")
    if not positions or len(record) > MAX_TRIED_POSITIONS:
        return None
    interventions = tuple(map(without_keys, positions))
    answers = cache.of(probabilities, subject.checkpoint, (subject.model_input,), interventions, LOGITS)[0]
    falls = whole_answer(record).falls(answers)
    index = int(falls.argmax())  # the largest fall: the one that changes the class, if any does
    predicted = record.predicted_class
    is_other = predicted is not None and int(answers[index].argmax()) != predicted
    return InfluentialPosition(positions[index], float(falls[index]), is_other)
