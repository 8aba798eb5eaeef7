import altair as alt
import numpy as np
import pytest

from tests.viz.scene import drawn, whole
from viz.builders.chart import Column, chart, layer
from viz.builders.figure import value


def figure(size=1.0):
    y = alt.Y("size:Q", scale=alt.Scale(domain=[0, value("largest")]))
    columns = [Column("name", ["a"]), Column("size", [size])]
    bars = layer("bar", {"x": "name:N", "y": y}, click=("bar", "name"))
    return chart(
        columns, bars, values={"largest": 2 * size}, autosize=None, height=100, width=40, description="Sizes"
    )


def test_the_specification_holds_no_data_and_the_whole_does():
    assert "datasets" not in figure().specification
    assert figure().specification["data"] == {"name": "frame"}
    assert whole(figure())["datasets"] == {"frame": [{"name": "a", "size": 1.0}]}


def test_values_reach_the_chart():
    spec = whole(figure(size=3.0))
    assert {"name": "largest", "value": 6.0} in spec["params"]
    assert any(parameter["name"] == "bar" and "select" in parameter for parameter in spec["params"])
    (heights,) = ([bar["height"] for bar in layer] for layer in drawn(figure(size=3.0)))
    assert heights == [50]  # half of the axis, which ends at the value


def test_one_figure_does_not_change_another():
    first = figure(size=1.0)
    figure(size=3.0)
    assert whole(first)["params"] != whole(figure(size=3.0))["params"]


def test_a_figure_is_a_chart_of_altair_as_well():
    made = figure(3.0).chart().to_dict()
    assert {name: made[name] for name in whole(figure(3.0))} == whole(figure(3.0))


def test_numbers_that_are_not_finite_are_none_in_the_columns():
    assert figure(np.inf).columns == {"frame": {"name": ["a"], "size": [None]}}


@pytest.mark.parametrize(
    ("properties", "takes_width"),
    [
        ({"autosize": {"type": "fit-x", "contains": "padding"}}, True),
        ({"autosize": None}, True),
        ({"autosize": None, "width": 40}, False),
        ({"autosize": "pad"}, False),
        ({"autosize": "pad", "width": 40, "usermeta": {"stretches": True}}, True),
    ],
)
def test_a_chart_takes_the_width_of_the_page_or_has_its_own(properties, takes_width):
    assert chart([Column("x", [1])], layer("point", {}), **properties).takes_width == takes_width


def test_a_value_that_follows_an_element_of_the_page_is_bound_to_it_and_the_other_values_stay():
    point = layer("point", {"x": alt.datum(value("t"))})
    figure = chart([Column("x", [1])], point, values={"t": 3, "last": 9})
    moved = {"name": "t_told", "value": 0, "bind": {"element": ".slider", "event": "moved"}}
    params = figure.following("t", ".slider").specification["params"]
    # Before the element has told a value there is none, which would be no number.
    assert params == [{"name": "last", "value": 9}, moved, {"name": "t", "expr": "+t_told || 0"}]
    assert {"name": "t", "value": 3} in figure.specification["params"]
