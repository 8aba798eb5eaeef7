"""The prediction for every input of a list, and how unusual the input is: loss or entropy in nats, or distance to the nearest
other input.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app_pages.inputs.input_list import Item
from app_pages.inputs.read_list import in_list_order, readable_inputs, too_long
from app_pages.subject import cache
from app_pages.subject.cache import Checkpoint
from app_pages.toolkit.markdown import counted, first_names
from model.config import ModelConfig
from model.experiments.answers import (
    answers,
    binary_entropies,
    entropies,
    losses,
    most_similar_states,
    token_answers,
)
from model.experiments.masked_word import LOGITS
from model.experiments.probabilities import probabilities
from model.inputs import Input
from model.inputs.text import Encoded
from model.measures.predicted_classes import class_index_of, hardest_first
from model.record import answers_of_logits
from viz.builders.number_format import format_number, percent, share_below_one
from viz.builders.token_label import visible

MOST_NAMED = 4  # classes or tokens named in a line


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The encoder's prediction for one input of the list, shown as one line of the table.

    `surprise` is the loss (with a label) or the entropy of the prediction, in nats, or, for an encoder without classes, the
    cosine distance to the nearest other input; NaN if there is none.
    """

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
    def is_right(self) -> bool | None:
        """Whether the predicted class is the right one; None where that is not known."""
        return None if self.label is None else self.predicted == self.label


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """An encoder's predictions for the texts or pictures of a list, one line for each that it can read.

    `surprise` names the quantity in the field `surprise` of the lines: "loss", "entropy", "loss or entropy" (loss for labelled
    inputs, entropy for the others), "distance", or "" if there is none.
    """

    lines: tuple[Prediction, ...]
    surprise: str
    explanation: str  # of this quantity, in a sentence
    notes: tuple[str, ...] = field(default=())
    classes: tuple[str, ...] = ()

    def order(self, *, surprising_first: bool, wrong_first: bool = False) -> list[Prediction]:
        """The lines, in the order of the list. With `surprising_first`, labelled inputs come before the others, and each of
        these two groups is sorted from the largest `surprise` to the smallest; with `wrong_first`, wrong predictions come first.
        """
        lines = list(self.lines)
        if surprising_first:
            values = np.array([line.surprise for line in lines])
            lines = [lines[index] for index in hardest_first(np.arange(len(values)), [values])]
            lines.sort(key=lambda line: line.label is None)
        return sorted(lines, key=lambda line: line.is_right is not False) if wrong_first else lines

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the quantities in `surprise`: ("loss", "entropy") for "loss or entropy", () for ""."""
        return tuple(self.surprise.split(" or ")) if self.surprise else ()

    def quantity_of(self, line: Prediction) -> str:
        """Which quantity the number `line.surprise` is: "loss", "entropy" or "distance"."""
        return self.quantities[0 if line.label is not None else -1]

    @property
    def has_unknown(self) -> bool:
        """Whether any text has tokens that the vocabulary lacks."""
        return any(line.unknown for line in self.lines)

    @property
    def n_labelled(self) -> int:
        """How many inputs have a label that is a class of the encoder."""
        return sum(line.label is not None for line in self.lines)

    @property
    def n_right(self) -> int:
        """For how many inputs the predicted class is the label."""
        return sum(line.is_right is True for line in self.lines)


@cache.cached
def predict(name: Checkpoint, items: tuple[Item, ...]) -> Predictions:
    """Predictions of the encoder `name` for all inputs `items`, computed under a progress bar. Their `notes` say which items it cannot
    read, and where its answers differ from those of its original library.
    """
    loaded = cache.loaded(name)
    config: ModelConfig = loaded.config
    readable, notes, encoded = readable_inputs(name, items)
    notes += loaded.notes
    if not readable:
        return Predictions(lines=(), surprise="", explanation="", notes=tuple(notes))
    labels, label_notes = _right_classes(items, list(readable), config)
    lines, surprise, explanation = _answer_lines(name, config, readable, encoded, labels)
    predictions = tuple(
        Prediction(
            number=number,
            left_out=encoded[number].n_left_out if config.is_text else 0,
            unknown=encoded[number].n_unknown / encoded[number].n_read if config.is_text else 0.0,
            **line,
        )
        for number, line in zip(readable, lines, strict=True)
    )
    notes += too_long(line.left_out for line in predictions)
    notes += label_notes
    return Predictions(
        lines=predictions,
        surprise=surprise,
        explanation=explanation,
        notes=tuple(notes),
        classes=config.class_names,
    )


def _right_classes(
    items: Sequence[Item], numbers: list[int], config: ModelConfig
) -> tuple[list[int], list[str]]:
    """Class index of each input's label, -1 if there is none; and notes on labels that are no classes of the encoder."""
    label_classes, unknown = [], []
    for number in numbers:
        label = items[number].label
        try:
            label_classes.append(
                class_index_of(label, config.class_names) if label and config.chooses_class else -1
            )
        except ValueError:
            label_classes.append(-1)
            unknown.append(label)
    notes = []
    if not config.chooses_class and (n := sum(bool(items[number].label) for number in numbers)):
        notes.append(
            f"{counted(n, 'label')} not compared: this encoder does not choose one of several classes."
        )
    if unknown:
        named = ", ".join(f"“{label[:30]}”" for label in list(dict.fromkeys(unknown))[:3])
        classes = first_names(config.class_names, MOST_NAMED)
        notes.append(
            f"{counted(len(unknown), 'label')} not a class of this encoder ({named}); use {classes}, or a "
            f"number below {config.n_classes:,}."
        )
    return label_classes, notes


Lines = tuple[list[dict], str, str]  # the fields of each line; what the surprise is, and what it means


def _answer_lines(
    name: Checkpoint,
    config: ModelConfig,
    readable: dict[int, Input],
    encoded: dict[int, Encoded],
    labels: list[int],
) -> Lines:
    if config.chooses_class:
        class_logits = in_list_order(probabilities, name, readable, encoded, answer=LOGITS)
        return _class_lines(np.array(class_logits)[:, 0], labels, config.class_names)
    if config.n_classes:
        return _multi_label_lines(np.array(in_list_order(answers, name, readable, encoded)), config)
    if config.family.token_class_names:
        return _token_lines(in_list_order(token_answers, name, readable, encoded))
    states = in_list_order(probabilities, name, readable, encoded)
    return _state_lines(np.array(states)[:, 0], list(readable))


def _class_lines(logits: np.ndarray, labels: list[int], names: tuple[str, ...]) -> Lines:
    label_array, values = np.array(labels, int), answers_of_logits(logits, "choice")
    loss, entropy = losses(logits, label_array), entropies(values)
    predicted = values.argmax(axis=1).tolist()
    lines = [
        {
            "answer": names[index],
            "predicted": index,
            "probability": share_below_one(row, index),
            "label": label if label >= 0 else None,
            "surprise": float(label_loss if label >= 0 else line_entropy),
        }
        for index, row, label, label_loss, line_entropy in zip(
            predicted, values, labels, loss, entropy, strict=True
        )
    ]
    if (label_array >= 0).all():
        return lines, "loss", "Loss: −ln of the probability of the right class, in nats."
    if (label_array < 0).all():
        largest_entropy = format_number(float(np.log(len(names))), ".2f")
        meaning = f"Uncertainty: entropy of the predicted probabilities, from 0 (certain) to ln {len(names):,} = {largest_entropy} nats."
        return lines, "entropy", meaning
    meaning = (
        "Loss: −ln of the probability of the right class, in nats. Inputs without a label have none: of these, the least certain "
        "come first (entropy of the predicted probabilities)."
    )
    return lines, "loss or entropy", meaning


def _multi_label_lines(values: np.ndarray, config: ModelConfig) -> Lines:
    names = config.class_names
    if config.family.answers == "numbers":
        lines = [{"answer": _numbers_text(row, names)} for row in values]
        return lines, "", "This encoder predicts numbers (regression), which do not say how certain it is."
    order = np.argsort(-values, axis=1, kind="stable")[:, :MOST_NAMED].tolist()
    lines = [
        {
            "answer": ", ".join(
                f"{names[index]} {percent(float(row[index]), brief=True)}" for index in largest
            ),
            "surprise": nats,
        }
        for largest, row, nats in zip(order, values, binary_entropies(values).tolist(), strict=True)
    ]
    meaning = "Multi-label: a probability for each class. The entropy is summed over the classes, in nats."
    return lines, "entropy", meaning


def _numbers_text(row: np.ndarray, names: tuple[str, ...]) -> str:
    if len(row) == 1:
        return format_number(float(row[0]), ".3g")
    shown = zip(names[:MOST_NAMED], row[:MOST_NAMED], strict=False)
    return ", ".join(f"{name} {format_number(float(value), '.3g')}" for name, value in shown)


def _token_lines(results: list) -> Lines:
    lines = []
    for result in results:
        names = ", ".join(f"{visible(token)} {name}" for token, name in result.named[:MOST_NAMED])
        more = f", and {len(result.named) - MOST_NAMED:,} more" if len(result.named) > MOST_NAMED else ""
        lines.append({"answer": f"{names}{more}" or "the same for all tokens", "surprise": result.entropy})
    meaning = "A class for each token; shown are the tokens whose class is not the most common one. The entropy is the mean over the tokens, in nats."
    return lines, "entropy", meaning


def _state_lines(states: np.ndarray, numbers: list[int]) -> Lines:
    size = f"{states.shape[-1]:,} numbers"
    if len(states) < 2:
        meaning = "This encoder has no classes, and with one input there is nothing to compare."
        return [{"answer": size}], "", meaning
    nearest, cosines = most_similar_states(states)
    lines = [
        {"answer": size, "nearest": numbers[index] if index >= 0 else None, "surprise": 1 - cosine}
        for index, cosine in zip(nearest.tolist(), cosines.tolist(), strict=True)
    ]
    meaning = (
        "This encoder has no classes: the distance is 1 − cosine to the most similar state in this list."
    )
    return lines, "distance", meaning
