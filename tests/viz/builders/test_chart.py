import altair as alt
import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.chart import (
    CHOSEN,
    Column,
    Rows,
    chart,
    dots,
    encodings_by_kind,
    layer,
    lines,
    long_columns,
    point_selection,
    probability_axis,
    vertical_line,
)
from viz.builders.figure import VegaFigure, tip
from viz.builders.palette import ACCENT
from viz.export.save import numbers_table

POINT = {"x": "n:Q", "y": "share:Q"}
COLUMNS = [
    Column("n", np.array([[3, 1]]), "count"),
    Column("share", np.array([[0.5, 0.25]], np.float32), "", ".1%", "share of all"),
    Column("name", ["b", "a"], None),
    Column("note", ["x", "y"], in_file=None),
]
SERIES = {"a": ((0, 1, 2), (0.0, 0.5, 1.0)), "b": ((0, 1), (1.0, 1.0))}
CHANNELS = {"color": ("#112233", "#445566"), "shape": ("circle", "square"), "strokeDash": ([1, 0], [5, 4])}


def test_a_column_is_said_once():
    figure = chart(COLUMNS, layer("point", POINT | {"tooltip": COLUMNS}), drawing={"selected": [True, False]})
    assert numbers_table(figure).to_dict("list") == {
        "n": [3, 1],
        "share of all": [0.5, 0.25],
        "name": ["b", "a"],
    }
    (marks,) = figure.specification["layer"]
    assert marks["encoding"]["tooltip"] == [
        {"field": "n", "type": "quantitative", "title": "count"},
        {"field": "share", "type": "quantitative", "format": ".1%"},
        {"field": "note", "type": "nominal"},
    ]


def test_the_last_rows_lie_on_the_others():
    figure = chart(COLUMNS, layer("point", POINT), last=np.array([[True, False]]))
    assert figure.frame["name"].tolist() == ["a", "b"]


def test_a_click_selects_fields_of_its_own_layer():
    figure = chart(COLUMNS, layer("rule", POINT), None, layer("point", POINT, click=("row", "n", "name")))
    (param,) = figure.specification["params"]
    assert (param["name"], param["select"]["fields"]) == ("row", ["n", "name"])
    assert param["views"] == [figure.specification["layer"][1]["name"]]


def test_marks_of_a_condition_with_further_columns():
    doubled = layer(
        "point",
        POINT | {"x": "twice:Q", "description": "twice:N"},
        where="datum.share < 0.4",
        calculate={"twice": "2 * datum.n"},
    )
    ((point,),) = drawn(chart(COLUMNS, doubled), width=300)
    assert point["description"] == 2


def test_several_layers_show_the_same_rows():
    rows = Rows().where("datum.share < 0.4").calculate(twice="2 * datum.n", more="datum.twice + 1")
    marks = [layer(mark, POINT | {"description": "more:N"}, rows) for mark in ("point", "square")]
    points, squares = drawn(chart(COLUMNS, *marks), width=300)
    assert [mark["description"] for mark in (*points, *squares)] == [3, 3]


def test_a_layer_sets_what_is_clicked_and_what_is_pointed_at():
    over = point_selection("over", "n", on="pointerover", clear="pointerout")
    point = layer("point", POINT, click=("row", "n"), selections=[over])
    further = {"name": "twice", "expr": "2 * end"}
    params = chart(COLUMNS, point, params=[further], values={"end": 4}).specification["params"]
    assert [param["name"] for param in params] == ["row", "over", "twice", "end"]
    assert [param["select"].get("on") for param in params[:2]] == [None, "pointerover"]
    assert params[0]["views"] == params[1]["views"]


@pytest.mark.parametrize("index", [0, 1])
def test_the_selected_dot_is_larger(index):
    selected = np.arange(2) == index
    figure = chart(
        COLUMNS, dots(POINT, COLUMNS, ("row", "n"), sizes=(90, 10)), drawing={"selected": selected}
    )
    ((one, other),) = drawn(figure, width=300)
    assert [one["size"], other["size"]] == ([90, 10] if index == 0 else [10, 90])


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
    return chart(columns, *layers, vertical_line("at"), frames=frames, description="", height=100)


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
