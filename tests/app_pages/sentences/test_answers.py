"""Answers, shares and counts: sentences against numbers."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from app_pages.many_inputs import accuracy, predictions
from app_pages.show import prediction
from app_pages.subject.answer import change_sentence, whole_answer
from app_pages.subject.two_sides import similarity
from app_pages.toolkit.markdown import beginning, counted
from app_pages.training import player
from app_pages.training import tasks as training_tasks
from tests.app_pages.sentences.turns import Row, answer, row, table
from viz.builders.number_format import format_distinct, percent, percent_with_error, share_below_one


def verdict(what: str, before: Any, after: Any) -> str:
    return whole_answer(before).change_sentence(what, SimpleNamespace(record=after))


def film(*accuracy: float, steps: tuple[int, ...] = (0, 1)) -> Any:
    return SimpleNamespace(
        tasks=("sentiment",),
        run_step=np.array(steps),
        accuracy=np.array(accuracy),
        phase=np.zeros(len(steps), int),
    )


LOGITS = np.array([[0.2, 0.8], [0.6, 0.4]])


TABLE: dict[str, list[Row]] = {
    "the prediction before and after": [
        row(
            "the same number",
            lambda: verdict("So", answer(0.25, 0.75), answer(0.25, 0.75)),
            "stays good: 75.0 %, as before.",
        ),
        row(
            "rounds to the same",
            lambda: verdict("So", answer(0.25, 0.75), answer(0.249999, 0.750001)),
            "75.0 % before and after",
            never=("as before",),
        ),
        row(
            "another number",
            lambda: verdict("So", answer(0.25, 0.75), answer(0.4, 0.6)),
            "75.0 % before, 60.0 % after",
        ),
        row(
            "saturated",
            lambda: verdict("So", answer(1e-9, 1.0), answer(1e-12, 1.0)),
            "over 99.9 %",
            never=("100.0 %", "changes"),
        ),
        row("nothing else is left", lambda: verdict("So", answer(0, 1), answer(0, 1)), "100.0 %, as before"),
        row(
            "another class",
            lambda: verdict("So", answer(0.2, 0.8), answer(0.7, 0.3)),
            "changes from good (80.0 %) to bad (70.0 %); good now has 30.0 %",
        ),
        row(
            "nearly a tie",
            lambda: verdict("So", answer(0.2, 0.8), answer(0.500004, 0.499996)),
            "to bad (50.0004 %); good now has 49.9996 %",
        ),
        row(
            "no classes",
            lambda: verdict("So", answer(pooled=(1, 0)), answer(pooled=(0, 1))),
            "cosine distance of 1;",
        ),
        row(
            "no change",
            lambda: verdict("So", answer(pooled=(1, 2)), answer(pooled=(1, 2))),
            "stays as it is",
            never=("changes",),
        ),
        row(
            "rounding",
            lambda: verdict("So", answer(pooled=(1, 2)), answer(pooled=(1.0001, 2.0002))),
            "stays as it is",
        ),
        row(
            "a state of zeros",
            lambda: verdict("So", answer(pooled=(1, 2)), answer(pooled=(0, 0))),
            "no direction",
            never=("–", "nan"),
        ),
    ],
    "the similarity of two embeddings": [
        row(
            "equal", lambda: similarity(answer(pooled=(1, 2)), answer(pooled=(2, 4))), "embeddings: 1.000 (1:"
        ),
        row(
            "nearly equal",
            lambda: similarity(answer(pooled=(1, 0)), answer(pooled=(1, 0.01))),
            "embeddings: 0.99995",
        ),
        row(
            "opposite",
            lambda: similarity(answer(pooled=(1, 0)), answer(pooled=(-1, 0))),
            "embeddings: −1.000",
        ),
        row(
            "a state of zeros",
            lambda: similarity(answer(pooled=(1, 0)), answer(pooled=(0, 0))),
            "no cosine similarity",
        ),
    ],
    "a share as a percentage": [
        row("none", lambda: percent(0.0), "0.0 %", never=("under",)),
        row("nearly none", lambda: percent(0.0004), "under 0.1 %"),
        row("nearly all", lambda: percent(0.9996), "over 99.9 %"),
        row("all", lambda: percent(1.0), "100.0 %", never=("over",)),
        row(
            "rounded to 1 in single precision",
            lambda: percent(share_below_one(np.array([1.0, 1e-9], np.float32), 0)),
            "over 99.9 %",
        ),
        row("an error that rounds to 0", lambda: percent_with_error(0.9996, 0.0004), "99.96 ± 0.04 %"),
        row(
            "two that print alike",
            lambda: " and ".join(format_distinct(0.55123, 0.5511, ".0%")),
            "55.12 % and 55.11 %",
        ),
    ],
    "the answer on one line": [
        row("right", lambda: prediction.answer_in_words(answer(0.2, 0.8), 1), "good 80.0 %, correct"),
        row("wrong", lambda: prediction.answer_in_words(answer(0.2, 0.8), 0), "wrong: it is bad"),
        row(
            "no label",
            lambda: prediction.answer_in_words(answer(0.2, 0.8), None),
            "good 80.0 %",
            never=("correct",),
        ),
        row(
            "saturated",
            lambda: prediction.answer_in_words(answer(1e-9, 1.0), None),
            ">99.9 %",
            never=("100",),
        ),
        row("a tie", lambda: prediction.answer_in_words(answer(0.5, 0.5), 0), "bad 50.0 %, correct"),
        row("no classes", lambda: f"[{prediction.answer_in_words(answer(), None)}]", "[]"),
        row(
            "a label that the encoder lacks",
            lambda: prediction.answer_in_words(answer(0.2, 0.8), 7),
            "wrong: it is 7",
        ),
    ],
    "a training run": [
        row("not measured", lambda: training_tasks._result_text({}), "not measured"),
        row(
            "measured",
            lambda: training_tasks._result_text({"figures": {"accuracy": 0.9, "n": 100, "data": "digits"}}),
            "90.00 ± 3.00 % of 100",
        ),
        row(
            "nearly all right",
            lambda: training_tasks._result_text(
                {"figures": {"accuracy": 0.99999, "n": 10**8, "data": "digits"}}
            ),
            "99.99900 ± 0.00003 %",
        ),
        row("one run", lambda: player._alignment([film(0.1, 0.2)]), "Accuracy is of", never=("Both", "gap")),
        row(
            "equal steps",
            lambda: player._alignment([film(0.1, 0.2), film(0.1, 0.2)]),
            "at the same training step",
        ),
        row(
            "other steps",
            lambda: player._alignment([film(0.1, 0.2), film(0.1, 0.2, steps=(0, 5))]),
            "the same share",
        ),
        row("a gap", lambda: player._alignment([film(0.1, math.nan)]), "was not measured"),
        row(
            "an accuracy that is missing",
            lambda: player._accuracy_text(film(0.1, math.nan), 1),
            "not measured",
        ),
        row("an accuracy of nearly 1", lambda: player._accuracy_text(film(0.9999, 0.1), 0), ">99.9 %"),
    ],
    "counts and lists": [
        row("one", lambda: counted(1, "layer"), "1 layer", never=("layers",)),
        row("none", lambda: counted(0, "layer"), "0 layers"),
        row("as many as fit", lambda: beginning(["a", "b"], 2), "a, b", never=("…",)),
        row("more", lambda: beginning(["a", "b", "c"], 2), "a, b, …"),
    ],
    "the accuracy over a list": [
        row("too few", lambda: accuracy.accuracy_text(9, 9), "too few for a percentage (n = 9)"),
        row("enough", lambda: accuracy.accuracy_text(8, 10), "accuracy **80.0 %**"),
        row("all right", lambda: accuracy.accuracy_text(2500, 2500), "**100.0 %**"),
        row(
            "all right but one",
            lambda: accuracy.accuracy_text(2499, 2500),
            "**over 99.9 %**",
            never=("100.0",),
        ),
        row("none right", lambda: accuracy.accuracy_text(0, 20), "**0.0 %**"),
        row(
            "one class with too few",
            lambda: accuracy._class_table(np.array([[9, 0], [0, 10]]), ("a", "b")),
            "| a | 9 of 9 | too few |",
            "| b | 10 of 10 | 100.0 %",
        ),
        row(
            "a class without labels",
            lambda: accuracy._class_table(np.array([[9, 1], [0, 0]]), ("a", "b")),
            "| a | 9 of 10 | 90.0 %",
            never=("| b",),
        ),
    ],
    "how hard an input is": [
        row(
            "all labels are known",
            lambda: predictions._class_lines(LOGITS, [0, 1], ("a", "b"))[2],
            "Loss:",
            never=("entropy",),
        ),
        row(
            "none is known",
            lambda: predictions._class_lines(LOGITS, [-1, -1], ("a", "b"))[2],
            "Uncertainty: entropy",
            "ln 2 = 0.69 nats",
        ),
        row(
            "some are known",
            lambda: predictions._class_lines(LOGITS, [0, -1], ("a", "b"))[2],
            "Inputs without a label have none",
            "the least certain come first",
        ),
        row(
            "one input alone", lambda: predictions._state_lines(np.ones((1, 3)), [0])[2], "nothing to compare"
        ),
        row("two inputs", lambda: predictions._state_lines(np.eye(2), [0, 1])[2], "most similar state"),
    ],
    "log P of a masked word before and after": [
        row(
            "no change",
            lambda: change_sentence("So", "“a”", -0.954, -0.954),
            "stays as it is: −0.954 nats",
            never=("rises", "falls"),
        ),
        row(
            "rounding",
            lambda: change_sentence("So", "“a”", -0.954, -0.9539998),
            "stays as it is",
            never=("rises",),
        ),
        row(
            "it rises",
            lambda: change_sentence("So", "“a”", -1.0, -0.5),
            "rises: from −1.000 to −0.500 nats, +0.500 nats",
        ),
        row("it falls", lambda: change_sentence("So", "“a”", -0.5, -1.0), "falls", "−0.500 nats."),
        row(
            "a little",
            lambda: change_sentence("So", "“a”", -0.5, -0.4999),
            "rises: from −0.5000 to −0.4999 nats",
            "+0.0001 nats",
        ),
        row(
            "nearly certain",
            lambda: change_sentence("So", "“a”", -1e-7, -1e-3),
            "P over 99.99 % before",
            never=("100.00",),
        ),
        row(
            "hopeless",
            lambda: change_sentence("So", "“a”", -30.0, -40.0),
            "P under 0.01 % before, under 0.01 % after",
        ),
    ],
}


@table(TABLE)
def test_it_says_what_the_numbers_say(turn):
    turn.check()
