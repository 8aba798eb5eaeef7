import numpy as np
import pytest

from tests.viz.scene import drawn, items, scene
from tests.viz.vision import rgb
from viz.builders.chart import Column, chart, layer
from viz.builders.palette import FALLS, RISES, TO_ONE, WEIGHTS, WeightScale, weight_colours, weight_scale
from viz.builders.vega_colours import EVEN, attention_colour, colour, weight_legend


def fills(values, largest, *, signed=False, dark=False):
    cells = layer("rect", {"x": "x:O", "color": colour("value", signed=signed)})
    columns = [Column("x", range(len(values))), Column("value", values)]
    figure = chart(columns, cells, values={"largest": largest}, autosize=None)
    return [cell["fill"] for cell in drawn(figure, dark=dark)[0]]


@pytest.mark.parametrize("dark", [False, True])
def test_vega_draws_the_table_and_mixes_it_in_rgb(dark):
    shares = np.linspace(0, 1, 41)
    expected = weight_colours(1 - shares if dark else shares)
    result = rgb(*fills(0.4 * shares, 0.4, dark=dark))
    assert np.abs(result - expected).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("dark", [False, True])
def test_beyond_the_scale_is_its_end(dark):
    assert rgb(*fills([2.0], 1, dark=dark)).tolist() == rgb(WEIGHTS[0 if dark else -1]).tolist()


def test_a_signed_scale_is_clear_at_zero_and_alike_on_both_sides():
    falls, none, rises = fills([-3.0, 0.0, 3.0], 3, signed=True)
    assert rgb(falls, rises).tolist() == rgb(FALLS, RISES).tolist()
    assert none.endswith(", 0)")


def test_the_legend_says_where_the_scale_ends_and_what_its_mark_is():
    assert weight_legend(TO_ONE, 13).title == (
        "attention weight, 0 to 1",
        f"{EVEN} same weight for all: 1/13 = 0.077",
    )
    relevance = WeightScale(0.5, "0 to the maximum", "relevance", shares=False)
    assert weight_legend(relevance, 4).title == ("relevance, 0 to the maximum",)
    of_allowed = weight_legend(TO_ONE, 4, "the allowed keys").title[1]
    assert of_allowed == f"{EVEN} same weight for all the allowed keys: 1/4 = 0.25"


@pytest.mark.parametrize("n_keys", [0, 1])
def test_of_one_key_or_none_nothing_can_be_spread(n_keys):
    legend = weight_legend(TO_ONE, n_keys)
    assert legend.title == ("attention weight, 0 to 1",)
    assert legend.ticks == {0: "", 1: ""}


def test_where_there_is_no_weight_there_is_no_maximum_to_name():
    assert weight_legend(weight_scale("own", "the maximum", np.zeros((2, 3))), 3).ticks == {0: ""}


def test_a_mark_beyond_the_scale_is_left_out():
    assert weight_legend(WeightScale(0.1, "0 to it"), 4).ticks == {0: "", 0.1: ""}


@pytest.mark.parametrize(
    ("largest", "n_keys", "shown"),
    [
        # In a line of their own, where no number stands on the mark.
        (1.0, 4, {("", "0"): 0, EVEN: 0.25, ("", "1"): 1}),
        (1.0, 50, {("", "0"): 0, EVEN: 0.02, ("", "1"): 1}),
        (0.021, 50, {("", "0"): 0, EVEN: 0.02 / 0.021, ("", "0.021"): 1}),
        (0.02, 50, {"0": 0, f"{EVEN} 0.02": 1}),
    ],
)
def test_the_evenly_spread_weight_is_marked_on_the_legend(largest, n_keys, shown):
    legend = weight_legend(WeightScale(largest, "0 to it"), n_keys)
    cells = layer("rect", {"x": "x:O", "color": attention_colour(legend.title)})
    columns = [Column("x", [0]), Column("weight", [0.0])]
    figure = chart(columns, cells, values=legend.values, autosize=None)
    labels = {
        label["text"] if isinstance(label["text"], str) else tuple(label["text"]): label["x"]
        for mark in items(scene(figure))
        if mark.get("role") == "legend-label"
        for label in mark["items"]
    }
    assert labels.keys() == shown.keys()
    assert [labels[text] for text in shown] == pytest.approx([180 * share for share in shown.values()])
