from tests.viz.scene import drawn
from viz.theory.loss_curves import loss_curves

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
