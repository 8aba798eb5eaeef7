import altair as alt
import pandas as pd
import plotly.graph_objects as go
import pytest
import vl_convert

from tests.viz.scene import drawn, items, whole
from tests.viz.vision import contrast
from viz.builders.chart import Column, chart, layer
from viz.builders.palette import ACCENT
from viz.builders.theme import (
    DARK_LABEL,
    INK,
    LIGHT_LABEL,
    file_config,
    heading_with_reading,
    in_theme,
    page_config,
)


@pytest.mark.parametrize(("dark", "page"), [(True, "#0e1117"), (False, "#ffffff")])
def test_ink_reads_on_the_page(dark, page):
    text = alt.Chart(pd.DataFrame({"a": ["a"]})).mark_text(color=INK).encode(text="a:N")
    ((item,),) = drawn(alt.layer(text), dark=dark)
    assert contrast(item["fill"], page) > 12  # WCAG asks for 4.5, and for 7 at its strictest


def titled(name, reading):
    rect = layer("rect", {"y": alt.value(0), "y2": alt.value("height")})
    return chart([Column("a", [1])], rect, height=200, title=heading_with_reading(name, reading))


def test_what_stands_below_the_name_reads_on_either_theme():
    title = whole(titled("Entropy", "0 to 1"))["title"]
    assert (title["text"], title["subtitle"]) == ("Entropy", ["0 to 1"])
    assert title["subtitleColor"] == INK.to_dict()


def test_the_plot_keeps_its_height_under_a_heading():
    ((rect,),) = drawn(titled("a", "b"), width=300)
    assert rect["height"] == 200


def test_axes_and_legends_read_on_either_page():
    assert contrast(DARK_LABEL, "#ffffff") > 6
    assert contrast(LIGHT_LABEL, "#0e1117") > 6
    chart = alt.Chart(pd.DataFrame({"a": ["a"]})).mark_bar().encode(x="a:N").to_dict()
    for page, ink in (("#ffffff", DARK_LABEL), ("#0e1117", LIGHT_LABEL)):
        chart["config"] = page_config() | {"background": page}
        assert f'fill="{ink}"' in vl_convert.vegalite_to_svg(chart)


def test_a_frame_on_a_page_has_a_line_under_it_and_another_line_none():
    lines = [{"color": ACCENT, "width": 2}, {"color": "#787d87", "width": 1}]
    figure = go.Figure().update_layout(
        shapes=[{"type": "rect", "x0": 0, "x1": 1, "y0": 0, "y1": 1, "line": line} for line in lines]
    )
    under, frame, other = in_theme(figure).layout.shapes
    assert (frame.line.color, other.line.color) == (ACCENT, "#787d87")
    assert under.line.width > frame.line.width
    assert (under.x0, under.x1) == (frame.x0, frame.x1)


@pytest.mark.parametrize("config", [page_config(), file_config("light")])
def test_the_first_and_the_last_label_stand_at_their_ticks(config):
    chart = (
        alt.Chart(pd.DataFrame({"a": [0, 100]}))
        .mark_point()
        .encode(x=alt.X("a:Q", scale=alt.Scale(nice=False)))
    )
    scenegraph = vl_convert.vegalite_to_scenegraph(chart.to_dict() | {"config": config, "width": 200})
    labels = [item for item in items(scenegraph["scenegraph"]) if item.get("text") in ("0", "100")]
    assert {item["text"]: (item["x"], item["align"]) for item in labels} == {
        "0": (0, "center"),
        "100": (200, "center"),
    }
