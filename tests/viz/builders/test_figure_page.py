import base64
import gzip
import json
from html.parser import HTMLParser

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from tests.viz.builders.test_figure import figure
from tests.viz.export.offline_parts import VEGA, Parts
from viz.builders.chart import Column, chart, layer
from viz.builders.figure_page import json_block, vega_bundle
from viz.builders.palette import WEIGHTS
from viz.compare.stage_curves import norm_heatmap

pytestmark = pytest.mark.usefixtures("without_vega")


class Frames(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.frames = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        assert tag == "iframe"  # alone in the cell
        self.frames.append(dict(attrs))


def frame(figure):
    (attributes,) = Frames(figure._repr_html_()).frames
    return attributes


def data(figure):
    return Parts(frame(figure)["srcdoc"].encode()).data()


def library(figure):
    return gzip.decompress(base64.b64decode(data(figure)["library"])).decode()


def heatmap(values=None, name="a"):
    return norm_heatmap(np.eye(1) if values is None else values, ["embed"], [name], limit=1)


def test_the_cell_has_a_frame_with_all_that_draws_the_figure():
    assert library(figure()) == VEGA
    assert library(heatmap()) == get_plotlyjs()
    for shown in (figure(), heatmap()):
        parts = Parts(frame(shown)["srcdoc"].encode())
        assert not [of for tag, of in parts.elements if "src" in of or "href" in of]
        assert frame(shown)["title"] == shown.description


def test_a_frame_is_the_same_in_any_encoding():
    html = heatmap(name="naïve")._repr_html_()
    assert html.isascii()
    assert "naïve" in data(heatmap(name="naïve"))["plotly"]["data"][0]["x"]


def test_a_chart_comes_with_its_data_and_a_look_for_light_and_for_dark():
    vega = data(figure(3.0))["vega"]
    assert vega["specification"] == figure(3.0).specification
    assert vega["columns"] == {"frame": {"name": ["a"], "size": [3.0]}}
    assert {theme: config["background"] for theme, config in vega["configs"].items()} == {
        "light": WEIGHTS[0],
        "dark": WEIGHTS[-1],
    }


def test_the_colours_of_weights_begin_with_that_of_the_page():
    shown = data(heatmap())
    (trace,) = shown["plotly"]["data"]
    assert "colorscale" not in trace
    scales = {
        theme: [colour for _, colour in template["data"]["heatmap"][0]["colorscale"]]
        for theme, template in shown["templates"].items()
    }
    assert scales == {"light": list(WEIGHTS), "dark": list(WEIGHTS[::-1])}


def test_words_of_others_are_text():
    name = "</script><script>alert(1)</script>&@@script@@\"'"
    for shown in (
        heatmap(name=name),
        chart([Column("name", [name])], layer("text", {"text": "name:N"}), description=name),
    ):
        parts = Parts(frame(shown)["srcdoc"].encode())
        assert [tag for tag, _ in parts.elements].count("script") == 2
    assert data(shown)["vega"]["columns"]["frame"]["name"] == [name]


def test_a_block_of_data_holds_arrays_as_lists_and_nothing_that_ends_it():
    block = json_block({"a": np.arange(2), "b": "</script>&\ud800"})
    assert json.loads(block) == {"a": [0, 1], "b": "</script>&\ud800"}
    assert not set("<>&") & set(block)


def test_the_script_draws_charts_and_may_stand_in_a_page():
    script = vega_bundle()
    assert "window.embedChart=" in script
    assert not [end for end in ("</script", "<script", "<!--") if end in script.lower()]
