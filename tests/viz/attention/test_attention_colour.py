import altair as alt
import numpy as np
import pandas as pd
import pytest

from viz.attention.attention_colour import attention_colour


def channel(weights, scale):
    colour = attention_colour(np.array(weights), scale, own="this row's maximum")
    return (
        alt.Chart(pd.DataFrame({"weight": weights}))
        .mark_rect()
        .encode(color=colour)
        .to_dict()["encoding"]["color"]
    )


@pytest.mark.parametrize(
    ("scale", "end", "title"),
    [("own", 0.4, "attention weight, 0 to this row's maximum"), ("fixed", 1, "attention weight, 0 to 1")],
)
def test_the_legend_says_where_the_scale_ends(scale, end, title):
    colour = channel([0.1, 0.4], scale)
    assert colour["scale"]["domain"] == [0, end]
    assert colour["legend"]["title"] == title
    assert colour["legend"]["values"] == [0, end]


def test_where_there_is_no_weight_there_is_no_maximum_to_name():
    colour = channel([0.0, 0.0], "own")
    assert colour["legend"]["title"] == "attention weight, all of them 0"
    assert colour["legend"]["values"] == [0]
    assert channel([0.0], "fixed")["legend"]["values"] == [0, 1]
