import altair as alt
import numpy as np
import pandas as pd
import plotly
import pytest
from altair.utils.schemapi import SchemaValidationError

from tests.viz.scene import drawn, whole
from viz.builders.figure import click_on, data, form, value
from viz.compare.stage_maps import norm_heatmap

made = []


@form
def bars(colour: str) -> alt.Chart:
    made.append(colour)
    chart = alt.Chart(data()).mark_bar(color=colour)
    x = alt.X("name:N")
    y = alt.Y("size:Q", scale=alt.Scale(domain=[0, value("largest")]))
    return chart.encode(x=x, y=y).add_params(click_on("bar", "name"))


def figure(colour="red", size=1.0):
    frame = pd.DataFrame({"name": ["a"], "size": [size]})
    return bars(colour).with_data(frame, values={"largest": 2 * size}, height=100, width=40)


def test_a_form_is_made_once_whatever_its_data():
    made.clear()
    bars.cache_clear()
    assert figure(size=1.0).frame["size"][0] != figure(size=3.0).frame["size"][0]
    assert made == ["red"]
    figure("blue")
    assert made == ["red", "blue"]


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


def test_a_form_that_vega_lite_does_not_know_is_refused():
    @form
    def wrong() -> alt.Chart:
        return alt.Chart(data()).mark_bar(color=3)

    with pytest.raises(SchemaValidationError):
        wrong()


def test_figures_show_themselves_in_a_notebook(monkeypatch):
    assert figure()._repr_mimebundle_()
    monkeypatch.setattr(plotly.io.renderers, "default", "plotly_mimetype")
    shown = norm_heatmap(np.eye(1), ["embed"], ["a"], limit=1)._repr_mimebundle_()
    assert set(shown) == {"application/vnd.plotly.v1+json"}


def test_a_value_that_follows_an_element_of_the_page_is_bound_to_it_and_the_other_values_stay():
    chart = alt.Chart(data()).mark_point().encode(x=alt.datum(value("t")))
    figure = form(lambda: chart)().with_data({"x": [1]}, values={"t": 3, "last": 9})
    told = {"name": "t_told", "value": 0, "bind": {"element": ".slider", "event": "moved"}}
    params = figure.following("t", ".slider").specification["params"]
    # Before the element has told a value there is none, which would be no number.
    assert params == [{"name": "last", "value": 9}, told, {"name": "t", "expr": "+t_told || 0"}]
    assert {"name": "t", "value": 3} in figure.specification["params"]
