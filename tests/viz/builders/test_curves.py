import altair as alt
import pytest

from tests.viz.scene import drawn
from viz.builders.chart import Column, chart, lines
from viz.builders.curves import (
    CHOSEN,
    encodings_by_kind,
    long_columns,
    probability_axis,
    rule,
)
from viz.builders.figure import VegaFigure, tip
from viz.builders.palette import ACCENT

SERIES = {"a": ((0, 1, 2), (0.0, 0.5, 1.0)), "b": ((0, 1), (1.0, 1.0))}
CHANNELS = {"color": ("#112233", "#445566"), "shape": ("circle", "square"), "strokeDash": ([1, 0], [5, 4])}


def figure(pointed: bool = True) -> VegaFigure:
    x, y = alt.X("at:Q"), alt.Y("probability:Q", title="probability", **probability_axis())
    layers = lines(
        {"x": x, "y": y, **encodings_by_kind("kind:N", ("a", "b"), **CHANNELS)},
        [tip("at:Q")],
        {"strokeWidth": 3},
        {"size": 40} if pointed else None,
    )
    columns = long_columns(SERIES, Column("kind", ()), Column("at", ()), Column("probability", ()))
    frames = {CHOSEN: {"at": [1]}}
    return chart(columns, *layers, rule("at"), frames=frames, description="", height=100)


def test_series_become_a_row_a_value():
    kind, x, y = long_columns(SERIES, Column("kind", ()), Column("at", ()), Column("value", (), "v"))
    assert kind.values.tolist() == ["a", "a", "a", "b", "b"]
    assert (x.values.tolist(), y.values.tolist()) == ([0, 1, 2, 0, 1], [0, 0.5, 1, 1, 1])
    assert (y.name, y.title) == ("value", "v")


def test_kinds_differ_in_every_channel_and_have_one_legend():
    channels = {
        name: channel.to_dict()
        for name, channel in encodings_by_kind("kind:N", ("a", "b"), **CHANNELS).items()
    }
    assert {name: channel["scale"]["range"] for name, channel in channels.items()} == {
        name: list(values) for name, values in CHANNELS.items()
    }
    assert all(channel["legend"] == channels["color"]["legend"] for channel in channels.values())


def test_fewer_kinds_than_colours_take_the_first():
    scale = encodings_by_kind("kind:N", ("a",), color=CHANNELS["color"])["color"].to_dict()["scale"]
    assert (scale["domain"], scale["range"]) == (["a"], ["#112233"])


def test_points_stand_at_their_values_on_the_whole_axis_of_probabilities():
    points, _ = drawn(figure(), width=200)
    assert [point["y"] for point in points] == [100, 50, 0, 0, 0]
    assert len({point["shape"] for point in points}) == 2


@pytest.mark.parametrize(("pointed", "layers"), [(True, [False, True]), (False, [True])])
def test_the_pointer_is_told_about_points_or_where_there_are_none_about_lines(pointed, layers):
    drawn_layers = figure(pointed).specification["layer"][:-1]
    assert ["tooltip" in layer["encoding"] for layer in drawn_layers] == layers


def test_the_rule_stands_at_the_chosen_place():
    points, ruled = drawn(figure(), width=200)
    assert [item["stroke"] for item in ruled] == [ACCENT]
    assert ruled[0]["x"] == points[1]["x"]
