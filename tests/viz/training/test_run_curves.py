import numpy as np
import pandas as pd
import pytest

from tests.viz.scene import scene
from viz.training.run_curves import recorded_values, run_curves, shades, with_error_columns

RUNS = {"pre": "#112233", "post": "#445566"}
TABLE = pd.DataFrame(
    {"step": [0, 9, 0, 9], "value": [2.0, 1.0, 3.0, None], "run": ["pre", "pre", "post", "post"]}
)


@pytest.mark.parametrize(("log_x", "shown"), [(True, {1, 10}), (False, {0, 9})])
def test_a_logarithmic_axis_begins_at_one(log_x, shown):
    figure = run_curves(TABLE, y_title="loss", runs=RUNS, log_x=log_x)
    assert set(figure.frame["shown"]) == shown
    assert "shown" not in TABLE


def test_further_columns_stand_in_the_tooltip():
    chart = run_curves(TABLE.assign(seed=7), y_title="loss", runs=RUNS)
    tooltips = [tooltip["field"] for tooltip in chart.specification["layer"][1]["encoding"]["tooltip"]]
    assert tooltips == ["run", "step", "seed", "value"]


TASKS = ["hidden words"] * 2 + ["reviews"] * 2 + ["hidden words"]
RUN = pd.DataFrame({"step": [0, 2, 50, 60, 90], "value": [9.0, 8, 1, 1, 7], "task": TASKS})


def test_a_line_ends_where_a_task_does_and_each_task_is_a_named_band():
    table = pd.concat([RUN.assign(run="pre"), RUN.assign(run="post")])
    chart = run_curves(table, y_title="loss", runs=RUNS, log_x=True)
    assert chart.frame["stretch"].tolist() == [1, 1, 2, 2, 3] * 2
    assert chart.frames["bands"].to_dict("records") == [
        {"name": "1 hidden words", "shown": 1, "until": 51, "number": "1", "label": "1", "label_at": 1},
        {"name": "2 reviews", "shown": 51, "until": 91, "number": "2", "label": "2", "label_at": 51},
        {"name": "3 hidden words", "shown": 91, "until": 91, "number": "3", "label": "3", "label_at": 91},
    ]
    drawing = str(scene(chart, width=400))
    assert "'2 reviews'" not in drawing  # on a logarithmic axis there is room for its number alone
    assert "'2'" in drawing
    assert "'2 reviews'" in str(scene(run_curves(table, y_title="loss", runs=RUNS), width=400))


@pytest.mark.parametrize("tasks", [["a", "a", "b", "b", "b"], ["a"] * 5])
def test_tasks_that_differ_between_runs_have_no_bands(tasks):
    table = pd.concat([RUN.assign(run="pre"), RUN.assign(run="post", task=tasks)])
    assert run_curves(table, y_title="loss", runs=RUNS).frames["bands"].empty


def test_a_single_task_needs_no_band():
    table = RUN.assign(run="pre", task="reviews")
    assert run_curves(table, y_title="loss", runs=RUNS).frames["bands"].empty


def test_a_run_keeps_its_colour_where_it_is_drawn_alone():
    chart = run_curves(TABLE[TABLE["run"] == "post"], y_title="loss", runs=RUNS)
    colour = chart.specification["layer"][1]["encoding"]["color"]
    assert dict(zip(colour["scale"]["domain"], colour["scale"]["range"], strict=True))["post"] == "#445566"
    assert colour["legend"]["values"] == ["post"]
    assert chart.specification["description"] == "loss over the steps of training, of post."


@pytest.mark.parametrize("n", [1, 2, 5, 13])
def test_lines_have_a_colour_each(n):
    assert len(set(shades(n))) == n


def test_step_0_is_no_thousand():
    table = TABLE.assign(step=[0, 60_000] * 2)
    drawing = str(scene(run_curves(table, y_title="loss", runs=RUNS), width=400))
    assert "'60k'" in drawing
    assert "'0k'" not in drawing


def test_recorded_values_are_a_row_for_each_moment_and_line():
    values, steps = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 5000])
    table = recorded_values(values, "pre", steps, ["digits", "sentences"])
    assert table.columns.tolist() == ["step", "value", "line", "run", "training step", "task"]
    assert table["value"].tolist() == [1, 2, 3, 4]
    assert table.iloc[2].tolist() == [1, 3.0, 0, "pre", "5,000", "sentences"]


def test_an_accuracy_on_the_way_says_of_how_many_examples_it_is():
    table = pd.DataFrame({"step": [0, 1], "value": [0.5, 0.5], "n": [10, None]})
    result = with_error_columns(table)
    assert result["examples"].tolist() == ["10", "not known"]
    assert result["standard error"].tolist() == ["15.8\u2009%", "not known"]
    assert with_error_columns(table[:0]).columns.tolist() == ["step", "value", "examples", "standard error"]
