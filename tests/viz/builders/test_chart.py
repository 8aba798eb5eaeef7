import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.chart import Column, chart, dots, layer
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


@pytest.mark.parametrize("index", [0, 1])
def test_the_selected_dot_is_larger(index: int) -> None:
    selected = np.arange(2) == index
    figure = chart(
        COLUMNS, dots(POINT, COLUMNS, ("row", "n"), sizes=(90, 10)), drawing={"selected": selected}
    )
    ((one, other),) = drawn(figure, width=300)
    assert [one["size"], other["size"]] == ([90, 10] if index == 0 else [10, 90])
