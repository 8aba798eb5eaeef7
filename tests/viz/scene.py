"""What an Altair chart draws, item by item, as Vega lays it out: for tests of places and colours."""

import altair as alt
import vl_convert


def drawn(chart: alt.LayerChart, *, width: int | None = None, dark: bool = False) -> list[list[dict]]:
    """The items of each layer, from the bottom; `width` and the theme as Streamlit would hand them over."""
    spec = chart.to_dict()
    spec["config"] = {"background": "#0e1117" if dark else "#ffffff"}
    if width is not None:
        spec["width"] = width
    scene = vl_convert.vegalite_to_scenegraph(spec)
    view = scene["scenegraph"]["items"][0]
    return [mark["items"] for mark in view["items"] if mark["role"] == "mark"]
