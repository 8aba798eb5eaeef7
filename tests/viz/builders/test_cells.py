import altair as alt
import pandas as pd
import pytest
import vl_convert

from tests.viz.scene import scene
from tests.viz.vision import contrast
from viz.builders.cells import casing_layer, frame_layers, head_axis
from viz.builders.chart import Column, chart
from viz.builders.palette import ACCENT
from viz.builders.theme import CASING


def test_each_number_carries_its_letter():
    chart = (
        alt.Chart(pd.DataFrame({"layer": [0, 1, 2]}))
        .mark_rect()
        .encode(y=alt.Y("layer:O", axis=head_axis("L", orient="left")))
    )
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert all(f">{name}<" in svg for name in ("L0", "L1", "L2"))


def lines(*layers, dark, **columns):
    figure = chart([Column(name, values) for name, values in columns.items()], *layers, width=100, height=100)
    view = scene(figure, dark=dark)["items"][0]
    return [item for mark in view["items"] if mark["role"] == "mark" for item in mark["items"]]


@pytest.mark.parametrize("dark", [True, False])
def test_a_frame_stands_out_from_its_casing_on_every_colour_of_a_weight(dark):
    under, frame = lines(*frame_layers({}, "frame", 2), dark=dark, a=[1])
    assert (frame["stroke"], frame["strokeWidth"]) == (ACCENT, 2)
    assert contrast(frame["stroke"], under["stroke"]) >= 3
    assert under["strokeWidth"] == 2 + CASING


def test_only_what_is_selected_has_a_casing():
    unders = lines(casing_layer({"x": "selected:N"}, 3), dark=False, selected=[False, True])
    assert [item["strokeOpacity"] for item in unders] == [0, 1]
