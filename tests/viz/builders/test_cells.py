import altair as alt
import pandas as pd
import pytest
import vl_convert

from tests.viz.scene import scene
from tests.viz.vision import contrast
from viz.builders.cells import casing, chosen_frame, head_axis
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


def lines(*layers, dark):
    view = scene(alt.layer(*layers).properties(width=100, height=100), dark=dark)["items"][0]
    return [item for mark in view["items"] if mark["role"] == "mark" for item in mark["items"]]


@pytest.mark.parametrize("dark", [True, False])
def test_a_frame_stands_out_from_its_casing_on_every_colour_of_a_weight(dark):
    under, frame = lines(*chosen_frame(alt.Chart(pd.DataFrame({"a": [1]})), 2), dark=dark)
    assert (frame["stroke"], frame["strokeWidth"]) == (ACCENT, 2)
    assert contrast(frame["stroke"], under["stroke"]) >= 3
    assert under["strokeWidth"] == 2 + CASING


def test_only_what_is_selected_has_a_casing():
    base = alt.Chart(pd.DataFrame({"selected": [False, True]})).encode(x="selected:N")
    unders = lines(casing(base, 3), dark=False)
    assert [item["strokeOpacity"] for item in unders] == [0, 1]
