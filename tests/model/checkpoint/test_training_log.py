import numpy as np
import pytest

from model.checkpoint.training_log import logged_values, smooth

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
    assert smooth(logged_values({}, "loss"), 2).empty


def test_neighbours_of_a_phase_are_averaged_and_what_is_left_is_dropped():
    """By hand: steps 0 and 1 of the first phase with losses 4 and 3; step 2 is left alone."""
    means = smooth(logged_values(RUN, "loss"), 2)
    assert means[["phase", "step", "value"]].to_numpy().tolist() == [[0, 0.5, 3.5], [1, 3.5, 2.5]]


def test_a_phase_that_is_shorter_than_a_group_stays():
    means = smooth(logged_values(RUN, "loss"), 3)
    assert means[["step", "value"]].to_numpy().tolist() == [[1, 3], [3.5, 2.5]]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_smoothing_agrees_with_a_loop(n):
    losses = np.random.default_rng(n).random(23)
    run = {
        "recipe": {"phases": [{"task": "a"}]},
        "log": [{"phase": 0, "step": i, "loss": v} for i, v in enumerate(losses)],
    }
    expected = [losses[i : i + n].mean() for i in range(0, 23 - n + 1, n)]
    np.testing.assert_allclose(smooth(logged_values(run, "loss"), n)["value"], expected)
