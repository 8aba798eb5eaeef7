import pytest

from tests.viz.scene import drawn
from viz.theory.warmup_accuracies import RunResult, warmup_accuracies

RUNS = [
    RunResult("pre-LN", 0.001, 0, 0.9, "0.9 %, of 1,000 digits"),
    RunResult("pre-LN", 0.01, 0, 0.4),
    RunResult("post-LN", 0.001, 30, None),
]


def test_a_cell_is_an_accuracy_or_says_that_the_run_diverged() -> None:
    _, texts, _ = drawn(warmup_accuracies(RUNS), width=500)
    assert [text["text"] for text in texts] == ["90\u2009%", "40\u2009%", "diverged"]
    assert texts[0]["y"] == texts[1]["y"] < texts[2]["y"]
    assert texts[0]["x"] == texts[2]["x"] < texts[1]["x"]


def test_rows_are_placements_and_warm_ups_in_the_order_of_the_runs() -> None:
    figure = warmup_accuracies(RUNS)
    assert figure.frame["warmup"].tolist() == ["pre-LN, no warm-up"] * 2 + ["post-LN, 30 steps"]
    assert figure.frame["error"].tolist() == ["0.9 %, of 1,000 digits", "", ""]


@pytest.mark.parametrize("dark", [False, True])
def test_text_reads_on_every_cell(dark: bool) -> None:
    _, texts, _ = drawn(warmup_accuracies(RUNS), width=500, dark=dark)
    assert [text["fill"] for text in texts[:2]] == (["black", "white"] if dark else ["white", "black"])


def test_no_runs_make_an_empty_grid() -> None:
    assert not any(drawn(warmup_accuracies([])))
