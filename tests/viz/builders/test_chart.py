import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.chart import Column, Rows, chart, dots, layer, selection
from viz.export.figure_csv import table

POINT = {"x": "n:Q", "y": "share:Q"}
COLUMNS = [
    Column("n", np.array([[3, 1]]), "count"),
    Column("share", np.array([[0.5, 0.25]], np.float32), "", ".1%", "share of all"),
    Column("name", ["b", "a"], None),
    Column("note", ["x", "y"], in_file=None),
]


def test_a_column_is_said_once() -> None:
    figure = chart(COLUMNS, layer("point", POINT | {"tooltip": COLUMNS}), drawing={"selected": [True, False]})
    assert table(figure).to_dict("list") == {"n": [3, 1], "share of all": [0.5, 0.25], "name": ["b", "a"]}
    (marks,) = figure.specification["layer"]
    assert marks["encoding"]["tooltip"] == [
        {"field": "n", "type": "quantitative", "title": "count"},
        {"field": "share", "type": "quantitative", "format": ".1%"},
        {"field": "note", "type": "nominal"},
    ]


def test_the_last_rows_lie_on_the_others() -> None:
    figure = chart(COLUMNS, layer("point", POINT), last=np.array([[True, False]]))
    assert figure.frame["name"].tolist() == ["a", "b"]


def test_a_click_selects_fields_of_its_own_layer() -> None:
    figure = chart(COLUMNS, layer("rule", POINT), None, layer("point", POINT, click=("row", "n", "name")))
    (param,) = figure.specification["params"]
    assert (param["name"], param["select"]["fields"]) == ("row", ["n", "name"])
    assert param["views"] == [figure.specification["layer"][1]["name"]]


def test_marks_of_a_condition_with_further_columns() -> None:
    doubled = layer(
        "point",
        POINT | {"x": "twice:Q", "description": "twice:N"},
        where="datum.share < 0.4",
        calculate={"twice": "2 * datum.n"},
    )
    ((point,),) = drawn(chart(COLUMNS, doubled), width=300)
    assert point["description"] == 2


def test_several_layers_show_the_same_rows() -> None:
    rows = Rows().where("datum.share < 0.4").calculate(twice="2 * datum.n", more="datum.twice + 1")
    marks = [layer(mark, POINT | {"description": "more:N"}, rows) for mark in ("point", "square")]
    points, squares = drawn(chart(COLUMNS, *marks), width=300)
    assert [mark["description"] for mark in (*points, *squares)] == [3, 3]


def test_a_layer_sets_what_is_clicked_and_what_is_pointed_at() -> None:
    over = selection("over", "n", on="pointerover", clear="pointerout")
    point = layer("point", POINT, click=("row", "n"), selections=[over])
    further = {"name": "twice", "expr": "2 * end"}
    params = chart(COLUMNS, point, params=[further], values={"end": 4}).specification["params"]
    assert [param["name"] for param in params] == ["row", "over", "twice", "end"]
    assert [param["select"].get("on") for param in params[:2]] == [None, "pointerover"]
    assert params[0]["views"] == params[1]["views"]


@pytest.mark.parametrize("index", [0, 1])
def test_the_selected_dot_is_larger(index: int) -> None:
    selected = np.arange(2) == index
    figure = chart(
        COLUMNS, dots(POINT, COLUMNS, ("row", "n"), sizes=(90, 10)), drawing={"selected": selected}
    )
    ((one, other),) = drawn(figure, width=300)
    assert [one["size"], other["size"]] == ([90, 10] if index == 0 else [10, 90])
