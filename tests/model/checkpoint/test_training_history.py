import math

import numpy as np
import pytest

from model.checkpoint.training_history import check_history, phase_offsets, tasks
from model.checkpoint.training_log import averaged_rows, logged_values

WHOLE = {
    "figures": {"n": 10, "accuracy": 0.5, "loss": 0.7, "data": "ten texts"},
    "recipe": {"phases": [{"task": "digits", "epochs": 3}], "published": None, "seed": 1},
    "probes": ["test digit 3"],
    "log": [{"phase": 0, "step": 0, "loss": 2.3, "gradient_norm": float("nan")}],
    "evaluations": [{"phase": 0, "step": 1, "n": 10, "accuracy": 0.5, "loss": 0.7}],
    "note": {"anything": ["else"]},
}


@pytest.mark.parametrize("history", [WHOLE, {}, {"recipe": {}}, {"log": []}], ids=["whole", *"123"])
def test_what_is_told_may_be_much_or_nothing(history):
    check_history(history)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"figures": {"accuracy": 0.5}}, "figures: n is missing"),
        ({"figures": WHOLE["figures"] | {"n": "ten"}}, "figures n must be a whole number, got 'ten'"),
        ({"recipe": "by heart"}, "recipe must be an object, got 'by heart'"),
        ({"recipe": {"phases": [{}]}}, "recipe phases 0: task is missing"),
        ({"probes": [3]}, "probes 0 must be text, got 3"),
        ({"log": [WHOLE["log"][0], {"step": 1}]}, "log 1: phase is missing"),
        ({"log": [[0, 1]]}, r"log 0 must be an object, got \[0, 1\]"),
        ({"log": {"0": 2.3}}, "log must be a list, got {'0': 2.3}"),
        ({"evaluations": [{"phase": 1, "step": 1}]}, "evaluations tells of more than the 1 phases"),
    ],
    ids=str,
)
def test_what_the_pages_could_not_read_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        check_history(WHOLE | changes)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"phase": 0}, "log 2: step is missing"),
        ({"phase": 0, "step": -1}, "log 2 step must be a whole number >= 0, got -1"),
        ({"phase": 0, "step": 1, "loss": "low"}, "log 2 must be a number, got {.*'loss': 'low'"),
        ({"phase": 0, "step": 1, "loss": 1e301}, r"log 2 holds a number beyond 1e\+300"),
        ({"phase": 0, "step": 1.5}, "log 2 step must be a whole number, got 1.5"),
        ({"phase": 0, "step": 1, "loss": math.inf}, r"log 2 holds a number beyond 1e\+300"),
        ({"phase": 0, "step": 1, "loss": 10**400}, "log 2: Number out of range, got {.*'loss': 1000"),
        ({"phase": 0, "step": 1, "loss": None}, "log 2 must be a number, got {.*'loss': None"),
    ],
    ids=str,
)
def test_of_many_rows_the_first_odd_one_is_named(row, sentence):
    good = {"phase": 0, "step": 3, "loss": math.nan}  # no loss may be known
    with pytest.raises(ValueError, match=f"^{sentence}"):
        check_history(WHOLE | {"log": [good, good, row, row]})


def test_the_sentence_does_not_quote_a_book():
    with pytest.raises(ValueError, match=r"^figures must be an object, got ") as error:
        check_history({"figures": "long " * 10_000})
    assert len(str(error.value)) < 300


def test_tasks_and_first_steps_of_phases():
    run = {"recipe": {"phases": [{"task": "digits"}, {"task": "gently changed digits"}]}}
    assert tasks(run) == ("digits", "gently changed digits")
    assert tasks({}) == ()
    assert phase_offsets([3, 2, 4]).tolist() == [0, 3, 5]


# Two phases of 3 and 2 steps
RUN = {
    "recipe": {"phases": [{"task": "digits"}, {"task": "gently changed digits"}]},
    "log": [
        {"phase": phase, "step": step, "loss": 4.0 - phase - step}
        for phase, n in enumerate((3, 2))
        for step in range(n)
    ],
    "evaluations": [
        {"phase": 0, "step": 1, "accuracy": 0.25},
        {"phase": 0, "step": 2, "accuracy": 0.5},
        {"phase": 1, "step": 1},
    ],
}


def test_steps_are_counted_from_the_beginning_of_the_run():
    table = logged_values(RUN, "loss")
    assert table["step"].tolist() == [0, 1, 2, 3, 4]
    assert table["value"].tolist() == [4, 3, 2, 3, 2]
    assert table["phase"].tolist() == [0, 0, 0, 1, 1]


def test_entries_that_do_not_tell_the_value_are_left_out():
    assert logged_values(RUN, "accuracy", "evaluations")[["step", "value"]].to_numpy().tolist() == [
        [1, 0.25],
        [2, 0.5],
    ]
    assert logged_values(RUN, "gradient_norm").empty
    assert averaged_rows(logged_values({}, "loss"), 2).empty


def test_neighbours_of_a_phase_are_averaged_and_what_is_left_is_dropped():
    """By hand: steps 0 and 1 of the first phase with losses 4 and 3; step 2 is left alone."""
    means = averaged_rows(logged_values(RUN, "loss"), 2)
    assert means[["phase", "step", "value"]].to_numpy().tolist() == [[0, 0.5, 3.5], [1, 3.5, 2.5]]


def test_a_phase_that_is_shorter_than_a_group_stays():
    means = averaged_rows(logged_values(RUN, "loss"), 3)
    assert means[["step", "value"]].to_numpy().tolist() == [[1, 3], [3.5, 2.5]]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_smoothing_agrees_with_a_loop(n):
    losses = np.random.default_rng(n).random(23)
    run = {
        "recipe": {"phases": [{"task": "a"}]},
        "log": [{"phase": 0, "step": i, "loss": v} for i, v in enumerate(losses)],
    }
    expected = [losses[i : i + n].mean() for i in range(0, 23 - n + 1, n)]
    np.testing.assert_allclose(averaged_rows(logged_values(run, "loss"), n)["value"], expected)
