import altair as alt
import numpy as np
import pytest

from viz.colours import attention_colour, reach


def legend(of):
    return alt.Chart().mark_rect().encode(color=attention_colour(of)).to_dict()["encoding"]["color"]["legend"]


@pytest.mark.parametrize(("scale", "end"), [("own", "0 to this row's maximum"), ("fixed", "0 to 1")])
def test_the_legend_says_where_the_scale_ends(scale, end):
    found = reach(np.array([0.1, 0.4]), scale, own="this row's maximum")
    assert found == end
    assert legend(found)["title"] == f"attention weight, {end}"
    assert legend(found)["values"] == {"expr": "[0, largest]"}


def test_where_there_is_no_weight_there_is_no_maximum_to_name():
    found = reach(np.zeros(2), "own", own="this row's maximum")
    assert legend(found)["title"] == "attention weight, all of them 0"
    assert legend(found)["values"] == {"expr": "[0]"}
    assert reach(np.zeros(1), "fixed", own="it") == "0 to 1"
