import altair as alt
import pandas as pd
import vl_convert

from viz.builders.cells import head_axis


def test_each_number_carries_its_letter():
    chart = (
        alt.Chart(pd.DataFrame({"layer": [0, 1, 2]}))
        .mark_rect()
        .encode(y=alt.Y("layer:O", axis=head_axis("L", orient="left")))
    )
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert all(f">{name}<" in svg for name in ("L0", "L1", "L2"))
