import altair as alt

from tests.viz.scene import drawn
from viz.inside.heading import FIT, heading
from viz.theme import INK


def test_what_stands_below_the_name_reads_on_either_theme():
    title = heading("Entropy", "0 to 1").to_dict()
    assert (title["text"], title["subtitle"]) == ("Entropy", "0 to 1")
    assert title["subtitleColor"] == INK.to_dict()


def test_the_plot_keeps_its_height_under_a_heading():
    chart = alt.Chart(alt.Data(values=[{"a": 1}])).mark_rect(y=0, y2=alt.expr("height"))
    (rect,) = drawn(alt.layer(chart).properties(height=200, autosize=FIT, title=heading("a", "b")), width=300)
    assert rect[0]["height"] == 200
