import altair as alt
import pandas as pd
import pytest
from PIL import ImageColor

from tests.viz.scene import drawn, whole
from viz.builders.figure import data, form
from viz.builders.theme import FIT, INK, heading_with_reading


def luminance(colour):
    channels = (value / 255 for value in ImageColor.getrgb(colour))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("dark", "page"), [(True, "#0e1117"), (False, "#ffffff")])
def test_ink_reads_on_the_page(dark, page):
    text = alt.Chart(pd.DataFrame({"a": ["a"]})).mark_text(color=INK).encode(text="a:N")
    ((item,),) = drawn(alt.layer(text), dark=dark)
    lower, higher = sorted([luminance(item["fill"]), luminance(page)])
    assert (higher + 0.05) / (lower + 0.05) > 12  # WCAG asks for 4.5, and for 7 at its strictest


@form
def filled() -> alt.LayerChart:
    rect = alt.Chart(data()).mark_rect().encode(y=alt.value(0), y2=alt.value("height"))
    return alt.layer(rect).properties(autosize=FIT)


def titled(name, reading):
    return filled().with_data(pd.DataFrame({"a": [1]}), height=200, title=heading_with_reading(name, reading))


def test_what_stands_below_the_name_reads_on_either_theme():
    title = whole(titled("Entropy", "0 to 1"))["title"]
    assert (title["text"], title["subtitle"]) == ("Entropy", ["0 to 1"])
    assert title["subtitleColor"] == INK.to_dict()


def test_the_plot_keeps_its_height_under_a_heading():
    ((rect,),) = drawn(titled("a", "b"), width=300)
    assert rect["height"] == 200
