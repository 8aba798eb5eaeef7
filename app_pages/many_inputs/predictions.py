"""The prediction for every input of a list, with a number for how surprising it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from app_pages.inputs.input_list import Item
from app_pages.subject import cache, encoders
from app_pages.subject.cache import Checkpoint
from app_pages.subject.subject import encoded_text
from app_pages.toolkit.stoppable import in_steps
from model.config import ModelConfig
from model.evaluate.__main__ import class_of
from model.experiments.answers import answers, token_answers
from model.experiments.probabilities import probabilities
from model.experiments.surprise import binary_entropies, entropies, losses, most_similar_states
from model.inputs import Input, Text
from model.inputs.text import Encoded
from model.measures.difficulty import hardest_first
from viz.builders.number_format import format_number, percent
from viz.builders.token_label import visible

AT_ONCE = 20  # inputs between two movements of the bar
NAMED = 5  # inputs that are left out
SHOWN = 4  # classes or tokens named in a line


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The prediction for one input."""

    number: int  # in the list, from 0
    answer: str
    predicted: int | None = None  # the class, where the answer is one of several
    probability: float | None = None  # of that class
    label: int | None = None  # the right class
    nearest: int | None = None  # the number of the input whose state is most like this one's
    surprise: float = np.nan
    left_out: int = 0  # tokens
    unknown: float = 0.0  # share of the tokens that the vocabulary lacks

    @property
    def right(self) -> bool | None:
        """Whether the predicted class is the right one; None if that is unknown."""
        return None if self.label is None else self.predicted == self.label


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """The predictions for a list, with explanations and notes."""

    lines: tuple[Prediction, ...]
    surprise: str  # what the number of that name is called, "" where there is none
    explained: str  # the same in a sentence
    notes: tuple[str, ...] = field(default=())
    classes: tuple[str, ...] = ()

    def order(self, *, surprising_first: bool) -> list[Prediction]:
        """Predictions in the order of the list, or sorted by decreasing surprise."""
        if not surprising_first:
            return list(self.lines)
        values = np.array([line.surprise for line in self.lines])
        return [self.lines[index] for index in hardest_first(np.arange(len(values)), [values])]

    @property
    def has_unknown(self) -> bool:
        """Whether any text has tokens that the vocabulary lacks."""
        return any(line.unknown for line in self.lines)

    @property
    def n_labelled(self) -> int:
        """Number of inputs whose label is a class of the encoder."""
        return sum(line.label is not None for line in self.lines)

    @property
    def n_right(self) -> int:
        """Number of labelled inputs whose predicted class is their label."""
        return sum(line.right is True for line in self.lines)


@cache.cached
def predict(name: Checkpoint, items: tuple[Item, ...]) -> Predictions:
    """Predictions of an encoder for all items, with a progress bar; its notes count the items that it cannot read."""
    config: ModelConfig = cache.loaded(name).config
    readable, notes, encoded = _readable(name, items, config)
    by_length = sorted(readable, key=lambda number: (len(encoded.get(number, ())), number))
    # By length: inputs of one length share a batch.
    inputs = [readable[number] for number in by_length]
    in_list = sorted(by_length)
    row_of = {number: row for row, number in enumerate(by_length)}
    rows = [row_of[number] for number in in_list]  # of what is computed, in the order of the list
    labels, label_notes = _labels(items, in_list, config)
    lines, surprise, explained = _lines(name, config, inputs, rows, in_list, labels)
    predictions = tuple(
        Prediction(
            number=number,
            left_out=encoded[number].n_left_out if config.is_text else 0,
            unknown=encoded[number].n_unknown / encoded[number].n_read if config.is_text else 0.0,
            **line,
        )
        for number, line in zip(in_list, lines, strict=True)
    )
    if left_out := [line.left_out for line in predictions if line.left_out]:
        amount = (
            f"{min(left_out):,} to {max(left_out):,} tokens"
            if len(left_out) > 1
            else _count(left_out[0], "token")
        )
        notes.append(f"{_count(len(left_out), 'text')} too long for this encoder: {amount} left out.")
    notes += label_notes
    return Predictions(
        lines=predictions,
        surprise=surprise,
        explained=explained,
        notes=tuple(notes),
        classes=config.class_names,
    )


def _readable(
    name: Checkpoint, items: Sequence[Item], config: ModelConfig
) -> tuple[dict[int, Input], list[str], dict[int, Encoded]]:
    """Inputs that the encoder can read, by number; notes on the others; the tokens of the texts, by number."""
    inputs, tokens, unreadable = {}, {}, []
    for number, item in enumerate(items):
        value = item.given(config, reads_pairs=encoders.reads_pairs(name))
        if isinstance(value, Text):
            tokens[number] = encoded_text(name, value)
            value = value if tokens[number].n_read else None
        if value is None:
            unreadable.append(number)
        else:
            inputs[number] = value
    notes = []
    if unreadable:
        reason = "in which the encoder finds no token" if config.is_text else "in which no digit was found"
        count = _count(len(unreadable), "text" if config.is_text else "picture")
        named = [items[number].name or f"number {number + 1:,}" for number in unreadable[:NAMED]]
        listed = ", ".join(named) + (", …" if len(unreadable) > NAMED else "")
        notes.append(f"{count} left out, {reason}: {listed}.")
    n_pairs = sum(bool(item.text and item.text.second) for item in items)
    if n_pairs and not encoders.reads_pairs(name):
        notes.append(f"This encoder reads one text at a time: {_count(n_pairs, 'second part')} left out.")
    return inputs, notes, tokens


def _labels(items: Sequence[Item], numbers: list[int], config: ModelConfig) -> tuple[list[int], list[str]]:
    """Right class of each input, -1 if unknown; notes on labels that cannot be used."""
    class_indices, unknown = [], []
    for number in numbers:
        label = items[number].label
        try:
            class_indices.append(
                class_of(label, config.class_names) if label and config.chooses_class else -1
            )
        except ValueError:
            class_indices.append(-1)
            unknown.append(label)
    notes = []
    if not config.chooses_class and (n := sum(bool(items[number].label) for number in numbers)):
        notes.append(
            f"{_count(n, 'label')} not compared: this encoder does not choose one of several classes."
        )
    if unknown:
        named = ", ".join(f"“{label[:30]}”" for label in list(dict.fromkeys(unknown))[:3])
        classes = ", ".join(config.class_names[:SHOWN]) + (", …" if config.n_classes > SHOWN else "")
        notes.append(
            f"{_count(len(unknown), 'label')} not a class of this encoder ({named}); use {classes}, or a "
            f"number below {config.n_classes:,}."
        )
    return class_indices, notes


Lines = tuple[list[dict], str, str]  # the fields of each line; what the surprise is, and what it means


def _lines(
    name: Checkpoint,
    config: ModelConfig,
    inputs: list[Input],
    rows: list[int],
    numbers: list[int],
    labels: list[int],
) -> Lines:
    if config.chooses_class:
        return _class_lines(
            _in_list_order(probabilities, name, inputs, rows)[:, 0], labels, config.class_names
        )
    if config.n_classes:
        return _multi_label_lines(_in_list_order(answers, name, inputs, rows), config)
    if config.family.token_class_names:
        batches = _batches(token_answers, name, inputs)
        results = [result for batch in batches for result in batch]
        return _token_lines([results[row] for row in rows])
    return _state_lines(_in_list_order(probabilities, name, inputs, rows)[:, 0], numbers)


def _batches(make: Callable, name: Checkpoint, inputs: list[Input]) -> list:
    batches = [tuple(inputs[start : start + AT_ONCE]) for start in range(0, len(inputs), AT_ONCE)]
    steps = [partial(cache.of, make, name, batch) for batch in batches]
    return in_steps(steps, f"Reading {len(inputs):,} inputs …", ("many inputs", name, tuple(inputs)))


def _in_list_order(make: Callable, name: Checkpoint, inputs: list[Input], rows: list[int]) -> np.ndarray:
    batches = _batches(make, name, inputs)
    return np.concatenate(batches)[rows] if batches else np.empty((0, 1, 1))


def _class_lines(values: np.ndarray, labels: list[int], names: tuple[str, ...]) -> Lines:
    label_indices = np.array(labels, int)
    if not len(label_indices):
        return [], "", ""
    loss, entropy = losses(values, label_indices), entropies(values)
    predicted = values.argmax(axis=1).tolist()
    lines = [
        {
            "answer": names[index],
            "predicted": index,
            "probability": float(row[index]),
            "label": label if label >= 0 else None,
            "surprise": float(nats if label >= 0 else uncertainty),
        }
        for index, row, label, nats, uncertainty in zip(predicted, values, labels, loss, entropy, strict=True)
    ]
    if (label_indices >= 0).all():
        return lines, "loss", "Loss: −ln of the probability of the right class, in nats."
    if (label_indices < 0).all():
        maximum = format_number(float(np.log(len(names))), ".2f")
        explanation = (
            f"Entropy of the predicted probabilities, from 0 (certain) to ln {len(names):,} = {maximum} nats."
        )
        return lines, "entropy", explanation
    explanation = "Loss where the right class is known; otherwise entropy, the loss expected from the encoder's own probabilities. Both in nats."
    return lines, "loss or entropy", explanation


def _multi_label_lines(values: np.ndarray, config: ModelConfig) -> Lines:
    if config.family.answers == "numbers":
        lines = [{"answer": _numbers(row, config.class_names)} for row in values]
        return lines, "", "This encoder predicts numbers (regression), which do not say how certain it is."
    order = np.argsort(-values, axis=1, kind="stable")[:, :SHOWN].tolist()
    lines = [
        {
            "answer": ", ".join(
                f"{config.class_names[index]} {percent(float(row[index]))}" for index in indices
            ),
            "surprise": nats,
        }
        for indices, row, nats in zip(order, values, binary_entropies(values).tolist(), strict=True)
    ]
    return (
        lines,
        "entropy",
        "Multi-label: a probability for each class. The entropy is summed over the classes, in nats.",
    )


def _numbers(row: np.ndarray, names: tuple[str, ...]) -> str:
    if len(row) == 1:
        return format_number(float(row[0]), ".3g")
    named_values = zip(names[:SHOWN], row[:SHOWN], strict=False)
    return ", ".join(f"{name} {format_number(float(value), '.3g')}" for name, value in named_values)


def _token_lines(results: list) -> Lines:
    lines = []
    for result in results:
        names = ", ".join(f"{visible(token)} {name}" for token, name in result.named[:SHOWN])
        rest = f", and {len(result.named) - SHOWN:,} more" if len(result.named) > SHOWN else ""
        lines.append({"answer": f"{names}{rest}" or "the same for all tokens", "surprise": result.entropy})
    return (
        lines,
        "entropy",
        "A class for each token; shown are the tokens whose class is not the most common one. The entropy is the mean over the tokens, in nats.",
    )


def _state_lines(states: np.ndarray, numbers: list[int]) -> Lines:
    size_text = f"{states.shape[-1]:,} numbers"
    if len(states) < 2:
        return (
            [{"answer": size_text} for _ in states],
            "",
            "This encoder has no classes, and with one input there is nothing to compare.",
        )
    nearest, cosines = most_similar_states(states)
    lines = [
        {"answer": size_text, "nearest": numbers[index] if index >= 0 else None, "surprise": 1 - cosine}
        for index, cosine in zip(nearest.tolist(), cosines.tolist(), strict=True)
    ]
    return (
        lines,
        "distance",
        "This encoder has no classes: the distance is 1 − cosine to the most similar state in this list.",
    )


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
