import altair as alt
import pandas as pd

from tests.viz.scene import drawn, whole
from viz.figure import data, form
from viz.inside.heading import heading
from viz.theme import FIT, INK


@form
def filled() -> alt.LayerChart:
    rect = alt.Chart(data()).mark_rect().encode(y=alt.value(0), y2=alt.value("height"))
    return alt.layer(rect).properties(autosize=FIT)


def titled(name, reading):
    return filled().of(pd.DataFrame({"a": [1]}), height=200, title=heading(name, reading))


def test_what_stands_below_the_name_reads_on_either_theme():
    title = whole(titled("Entropy", "0 to 1"))["title"]
    assert (title["text"], title["subtitle"]) == ("Entropy", ["0 to 1"])
    assert title["subtitleColor"] == INK.to_dict()


def test_the_plot_keeps_its_height_under_a_heading():
    ((rect,),) = drawn(titled("a", "b"), width=300)
    assert rect["height"] == 200
