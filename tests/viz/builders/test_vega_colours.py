import altair as alt
import numpy as np
import pytest

from tests.viz.scene import drawn, scene
from tests.viz.vision import rgb
from viz.builders.figure import data, form
from viz.builders.palette import FALLS, RISES, WEIGHTS, WeightScale, weight_colours
from viz.builders.vega_colours import EVEN, attention_colour, colour, evenly, legend_lines, weight_values


@form
def row(signed: bool) -> alt.LayerChart:
    cells = alt.Chart(data()).mark_rect().encode(x="x:O", color=colour("value", signed=signed))
    return alt.layer(cells)


def fills(values, largest, *, signed=False, dark=False):
    figure = row(signed).with_data({"x": range(len(values)), "value": values}, values={"largest": largest})
    return [cell["fill"] for cell in drawn(figure, dark=dark)[0]]


@pytest.mark.parametrize("dark", [False, True])
def test_vega_draws_the_table_and_mixes_it_in_rgb(dark):
    shares = np.linspace(0, 1, 41)
    expected = weight_colours(1 - shares if dark else shares)
    found = rgb(*fills(0.4 * shares, 0.4, dark=dark))
    assert np.abs(found - expected).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("dark", [False, True])
def test_beyond_the_scale_is_its_end(dark):
    assert rgb(*fills([2.0], 1, dark=dark)).tolist() == rgb(WEIGHTS[0 if dark else -1]).tolist()


def test_a_signed_scale_is_clear_at_zero_and_alike_on_both_sides():
    falls, none, rises = fills([-3.0, 0.0, 3.0], 3, signed=True)
    assert rgb(falls, rises).tolist() == rgb(FALLS, RISES).tolist()
    assert none.endswith(", 0)")


def legend(reach, even):
    chart = alt.Chart().mark_rect().encode(color=attention_colour(reach, even))
    return chart.to_dict()["encoding"]["color"]["legend"]


def test_the_legend_says_where_the_scale_ends_and_what_its_mark_is():
    said = legend("0 to 1", evenly(13))
    assert said["title"] == ["attention weight, 0 to 1", f"{EVEN} same weight for all: 1/13 = 0.077"]
    assert legend_lines("0 to 1", "") == ["attention weight, 0 to 1"]
    assert legend_lines("0 to 1", "", "relevance") == ["relevance, 0 to 1"]
    assert evenly(4, shares=False) == ""
    assert evenly(4, "the allowed keys") == "same weight for all the allowed keys: 1/4 = 0.25"


@pytest.mark.parametrize("n_keys", [0, 1])
def test_of_one_key_or_none_nothing_can_be_spread(n_keys):
    assert evenly(n_keys) == ""
    assert legend("0 to 1", "")["values"] == {"expr": "[0, largest]"}


def test_where_there_is_no_weight_there_is_no_maximum_to_name():
    assert legend("all of them 0", evenly(3))["values"] == {"expr": "[0]"}


@form
def marked(reach: str, even: str) -> alt.LayerChart:
    return alt.layer(alt.Chart(data()).mark_rect().encode(x="x:O", color=attention_colour(reach, even)))


@pytest.mark.parametrize(
    ("largest", "n_keys", "shown"),
    [
        (1.0, 4, {"0": 0, EVEN: 0.25, "1": 1}),
        (1.0, 50, {EVEN: 0.02, "1": 1}),  # a 0 would stand on the mark
        (0.021, 50, {"0": 0, f"{EVEN} 0.021": 1}),
    ],
)
def test_the_evenly_spread_weight_is_marked_on_the_legend(largest, n_keys, shown):
    figure = marked("0 to it", evenly(n_keys)).with_data(
        {"x": [0], "weight": [0.0]}, values=weight_values(WeightScale(largest, "0 to it"), n_keys)
    )
    labels = labelled(figure)
    assert labels.keys() == shown.keys()
    assert [labels[text] for text in shown] == pytest.approx([180 * share for share in shown.values()])


def labelled(figure):
    """Where each label of the legend stands along its 180 pixels."""
    texts = {}

    def walk(item):
        if item.get("role") == "legend-label":
            texts.update({each["text"]: each["x"] for each in item["items"]})
        for each in item.get("items", ()):
            walk(each)

    walk(scene(figure))
    return texts
