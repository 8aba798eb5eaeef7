import pytest

from tests.viz.scene import drawn, whole
from viz.builders.palette import MASKED
from viz.builders.theme import DARK_INK
from viz.theory.warmup_figures import loss_curves, warmup_grid

CURVES = {0: ((0, 1, 2), (2.0, 5.0, None)), 10: ((0, 1, 2), (2.0, 1.5, 1.0))}


def colours(runs: dict) -> dict:
    return loss_curves(runs, highest=3, title="pre-LN").specification["encoding"]["color"]["scale"]


def test_a_line_a_warm_up_that_ends_where_the_run_diverged():
    figure = loss_curves(CURVES, highest=3, title="pre-LN")
    assert list(figure.frame.itertuples(index=False, name=None)) == [
        ("none", 0, 2.0),
        ("none", 1, 5.0),
        ("10 steps", 0, 2.0),
        ("10 steps", 1, 1.5),
        ("10 steps", 2, 1.0),
    ]


def test_the_legend_begins_with_the_shortest_warm_up():
    backwards = dict(reversed(CURVES.items()))
    scale = colours(backwards)
    assert scale["domain"] == ["none", "10 steps"]
    assert len(set(scale["range"])) == 2


def test_many_warm_ups_have_a_colour_each():
    many = dict.fromkeys(range(0, 60, 10), ((0,), (1.0,)))
    assert len(set(colours(many)["range"])) == 6


def test_the_axis_ends_at_the_highest_loss():
    spec = loss_curves(CURVES, highest=3, title="").specification
    assert spec["encoding"]["y"]["scale"]["domain"] == [0, {"expr": "highest"}]
    assert spec["params"] == [{"name": "highest", "value": 3}]


def test_no_runs_make_an_empty_chart():
    assert not any(drawn(loss_curves({}, highest=3, title="")))


CELLS = [(1e-3, 0, 0.5, 0.9), (1e-2, 0, None, None), (1e-3, 100, 2.0, None)]
AXES = {"rates": (1e-3, 1e-2), "warmups": (0, 100), "highest": 2.0, "title": "post-LN"}


def test_a_cell_says_its_loss_and_accuracy_or_that_the_run_diverged():
    (faint, strong), (diverged,), texts, _ = drawn(warmup_grid(CELLS, **AXES), width=500)
    assert [text["text"] for text in texts] == ["0.50\n90.0\u2009%", "diverged", "2.00"]
    assert diverged["fill"] == MASKED
    assert len({rect["fill"] for rect in (faint, strong, diverged)}) == 3
    assert (faint["x"], faint["y"]) == (strong["x"], pytest.approx(strong["y"] - 46, abs=4))
    assert diverged["x"] > faint["x"]


@pytest.mark.parametrize("dark", [False, True])
def test_text_reads_on_every_cell(dark):
    _, _, (faint, diverged, strong), _ = drawn(warmup_grid(CELLS, **AXES), width=500, dark=dark)
    assert faint["fill"] == ("white" if dark else "black")
    assert strong["fill"] == ("black" if dark else "white")
    assert diverged["fill"] == DARK_INK


def test_cells_that_are_not_there_yet_leave_the_others_where_they_are():
    (first, *_), *_ = drawn(warmup_grid(CELLS, **AXES), width=500)
    (alone,), *_ = drawn(warmup_grid(CELLS[:1], **AXES), width=500)
    assert [alone[place] for place in ("x", "y", "width")] == pytest.approx(
        [first[place] for place in ("x", "y", "width")], abs=1
    )


def test_hover_gives_the_accuracy_where_it_was_measured():
    said = warmup_grid(CELLS, **AXES).frame["accuracy"]
    assert said.tolist() == ["90.0\u2009%", "not measured", "not measured"]


def test_the_title_says_what_the_numbers_are():
    assert whole(warmup_grid(CELLS, **AXES))["title"] == "post-LN: final loss, accuracy"


def test_no_runs_make_an_empty_grid():
    assert not any(drawn(warmup_grid([], **AXES)))


def test_the_error_of_an_accuracy_is_told():
    errors = ("0.9 %, of 1,000 digits", "", "")
    assert warmup_grid(CELLS, errors=errors, **AXES).frame["error"].tolist() == list(errors)
    assert warmup_grid(CELLS, **AXES).frame["error"].tolist() == ["", "", ""]
