"""Answers and counts: sentences against numbers."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from app_pages.many_inputs import accuracy, predictions
from app_pages.show import prediction
from app_pages.subject import two_sides
from app_pages.subject.answer import change_sentence, whole_answer
from app_pages.toolkit.markdown import counted, first_names
from app_pages.training import player
from app_pages.training import tasks as training_tasks
from tests.app_pages.sentences.turns import Row, answer, row, table


def change(before: Any, after: Any) -> str:
    return whole_answer(before).change_sentence("So", SimpleNamespace(record=after))


def verdict(before: tuple[float, ...], after: tuple[float, ...]) -> str:
    """What is said of the probabilities of bad and good before and after a change."""
    return change(answer(*before), answer(*after))


def moved(before: tuple[float, ...], after: tuple[float, ...]) -> str:
    """What is said of the pooled states before and after a change."""
    return change(answer(pooled=before), answer(pooled=after))


def similarity(first: tuple[float, ...], second: tuple[float, ...]) -> str:
    return two_sides.similarity_sentence(answer(pooled=first), answer(pooled=second))


def in_words(label: int | None, *probabilities: float) -> str:
    return f"[{prediction.answer_in_words(answer(*probabilities), label)}]"


def log_p(before: float, after: float) -> str:
    return change_sentence("So", "“a”", before, after)


def result(**figures: Any) -> str:
    return training_tasks._result_text({"figures": figures | {"data": "digits"}} if figures else {})


def film(*accuracy: float, steps: tuple[int, ...] = (0, 1)) -> Any:
    return SimpleNamespace(
        tasks=("sentiment",),
        run_step=np.array(steps),
        accuracy=np.array(accuracy),
        phase=np.zeros(len(steps), int),
    )


def hardness(*labels: int) -> str:
    """What is said of the order of two inputs with these labels, -1 for an unknown one."""
    return predictions._class_lines(np.array([[0.2, 0.8], [0.6, 0.4]]), [*labels], ("a", "b"))[2]


TABLE: dict[str, list[Row]] = {
    "the prediction before and after": [
        row("the same number", lambda: verdict((0.25, 0.75), (0.25, 0.75)), "stays good: 75.0 %, as before."),
        row(
            "rounds to the same",
            lambda: verdict((0.25, 0.75), (0.249999, 0.750001)),
            "75.0 % before and after",
            never=("as before",),
        ),
        row("another number", lambda: verdict((0.25, 0.75), (0.4, 0.6)), "75.0 % before, 60.0 % after"),
        row(
            "saturated",
            lambda: verdict((1e-9, 1.0), (1e-12, 1.0)),
            "over 99.9 %",
            never=("100.0 %", "changes"),
        ),
        row("nothing else is left", lambda: verdict((0, 1), (0, 1)), "100.0 %, as before"),
        row(
            "another class",
            lambda: verdict((0.2, 0.8), (0.7, 0.3)),
            "changes from good (80.0 %) to bad (70.0 %); good now has 30.0 %",
        ),
        row(
            "nearly a tie",
            lambda: verdict((0.2, 0.8), (0.500004, 0.499996)),
            "to bad (50.0004 %); good now has 49.9996 %",
        ),
        row("no classes", lambda: moved((1, 0), (0, 1)), "cosine distance of 1; the encoder has no classes."),
        row("no change", lambda: moved((1, 2), (1, 2)), "stays as it is", never=("changes",)),
        row("rounding", lambda: moved((1, 2), (1.0001, 2.0002)), "stays as it is"),
        row("a state of zeros", lambda: moved((1, 2), (0, 0)), "no direction", never=("–", "nan")),
    ],
    "the similarity of two embeddings": [
        row("equal", lambda: similarity((1, 2), (2, 4)), "embeddings: 1.000 (1:"),
        row("nearly equal", lambda: similarity((1, 0), (1, 0.01)), "embeddings: 0.99995"),
        row("opposite", lambda: similarity((1, 0), (-1, 0)), "embeddings: −1.000"),
        row("a state of zeros", lambda: similarity((1, 0), (0, 0)), "no cosine similarity"),
    ],
    "the answer on one line": [
        row("right", lambda: in_words(1, 0.2, 0.8), "good 80.0 %, correct"),
        row("wrong", lambda: in_words(0, 0.2, 0.8), "wrong: it is bad"),
        row("no label", lambda: in_words(None, 0.2, 0.8), "good 80.0 %", never=("correct",)),
        row("saturated", lambda: in_words(None, 1e-9, 1.0), ">99.9 %", never=("100",)),
        row("a tie", lambda: in_words(0, 0.5, 0.5), "bad 50.0 %, correct"),
        row("no classes", lambda: in_words(None), "[]"),
        row("a label that the encoder lacks", lambda: in_words(7, 0.2, 0.8), "wrong: it is 7"),
    ],
    "a training run": [
        row("not measured", lambda: result(), "not measured"),
        row("measured", lambda: result(accuracy=0.9, n=100), "90.00 ± 3.00 % of 100"),
        row("nearly all right", lambda: result(accuracy=0.99999, n=10**8), "99.99900 ± 0.00003 %"),
        row("one run", lambda: player._alignment([film(0.1, 0.2)]), "Accuracy is of", never=("Both", "gap")),
        row("equal steps", lambda: player._alignment([film(0.1, 0.2)] * 2), "at the same training step"),
        row(
            "other steps",
            lambda: player._alignment([film(0.1, 0.2), film(0.1, 0.2, steps=(0, 5))]),
            "the same share",
        ),
        row("a gap", lambda: player._alignment([film(0.1, math.nan)]), "was not measured"),
        row("no accuracy", lambda: player._accuracy_text(film(0.1, math.nan), 1), "not measured"),
        row("an accuracy of nearly 1", lambda: player._accuracy_text(film(0.9999, 0.1), 0), ">99.9 %"),
    ],
    "counts and lists": [
        row("one", lambda: counted(1, "layer"), "1 layer", never=("layers",)),
        row("none", lambda: counted(0, "layer"), "0 layers"),
        row("as many as fit", lambda: first_names(["a", "b"], 2), "a, b", never=("…",)),
        row("more", lambda: first_names(["a", "b", "c"], 2), "a, b, …"),
    ],
    "the accuracy over a list": [
        row("all right", lambda: accuracy.accuracy_text(2500, 2500), "**100.0 %**"),
        row("all but one", lambda: accuracy.accuracy_text(2499, 2500), "**over 99.9 %**", never=("100.0",)),
        row("none right", lambda: accuracy.accuracy_text(0, 20), "**0.0 %**"),
    ],
    "how hard an input is": [
        row("all labels are known", lambda: hardness(0, 1), "Loss:", never=("entropy",)),
        row("none is known", lambda: hardness(-1, -1), "Uncertainty: entropy", "ln 2 = 0.69 nats"),
        row(
            "some are known",
            lambda: hardness(0, -1),
            "Inputs without a label have none",
            "the least certain come first",
        ),
        row("one alone", lambda: predictions._state_lines(np.ones((1, 3)), [0])[2], "nothing to compare"),
        row("two inputs", lambda: predictions._state_lines(np.eye(2), [0, 1])[2], "most similar state"),
    ],
    "log P of a masked word before and after": [
        row("no change", lambda: log_p(-0.954, -0.954), "as it is: −0.954 nats", never=("rises", "falls")),
        row("rounding", lambda: log_p(-0.954, -0.9539998), "stays as it is", never=("rises",)),
        row("it rises", lambda: log_p(-1.0, -0.5), "rises: from −1.000 to −0.500 nats, +0.500 nats"),
        row("it falls", lambda: log_p(-0.5, -1.0), "falls", "−0.500 nats."),
        row("a little", lambda: log_p(-0.5, -0.4999), "from −0.5000 to −0.4999 nats", "+0.0001 nats"),
        row("nearly certain", lambda: log_p(-1e-7, -1e-3), "P over 99.99 % before", never=("100.00",)),
        row("hopeless", lambda: log_p(-30.0, -40.0), "P under 0.01 % before, under 0.01 % after"),
    ],
}


@table(TABLE)
def test_it_says_what_the_numbers_say(turn):
    turn.check()
