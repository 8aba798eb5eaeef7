"""A colour is a weight: figures that are compared share one scale, and each placement of the norm has its own hue."""

import json

import numpy as np
import plotly.io
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.subject.subject import LiveSubject
from tests.app_pages.charts import described
from tests.app_pages.linked import charts, linked, tokens
from tests.slow import one_of_each
from viz.builders.palette import POST_LN, PRE_LN

TEXT = "not great film"
OWN, TO_ONE = "to own maximum", "to 1"
HEAT = {"inside": "Why √d_k", "inside_scale": "temperature", "inside_temperature": "5"}
PAGES = [
    ("attention", {}, 1),
    ("attention", {"part": "mean"}, 2),  # the tokens or the digit, and the matrix
    ("masks", {"masks_kind": "Local window"}, 2),
    ("positions", {"positions": "Experiments"}, 4),
    ("inside_a_head", HEAT, 2),
    ("compare", {}, 2),
]


def reaches(app: AppTest) -> list[float]:
    """Where the colours of attention end, in each figure of the page but the overviews: of the chosen head."""
    assert not app.exception
    result = [linked(app, key).top for key in charts(app)]
    above_others = [data for data in tokens(app) if data["channel"] not in charts(app)]
    result += [1.0 if data["tops"] is None else data["tops"][0] for data in above_others]
    for chart in app.get("vega_lite_chart"):
        spec = json.loads(chart.proto.spec)
        values = {item["name"]: item.get("value") for item in spec.get("params", ())}
        if "legend_ticks" in values and "layers of" not in spec["description"]:
            result.append(values["largest"])
    for chart in app.get("plotly_chart"):
        trace = json.loads(chart.proto.spec)["data"][0]
        title = trace.get("colorbar", {}).get("title", {}).get("text", "")
        is_compact = chart.key.startswith(("masks_map_pattern", "positions_try_map", "ablate_map"))
        if title.startswith("attention weight") or is_compact:
            result.append(trace["zmax"])
    for block in app.get("bidi_component"):
        if block.proto.component_name == "word_stroke":
            result.append(json.loads(block.proto.json)["largest"])
    return result


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("chosen", [{"kind": "Text"}, {"kind": "Digit", "scale": TO_ONE}])
@pytest.mark.parametrize(("page", "query", "n"), one_of_each(PAGES))
def test_colours_of_a_text_reach_to_one_unless_something_else_is_chosen(open_app, chosen, page, query, n):
    app = open_app(f"app_pages/{page}/page.py", text=TEXT, **chosen, **query)
    assert reaches(app) == [1.0] * n


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("chosen", [{"kind": "Digit"}, {"kind": "Text", "scale": OWN}])
@pytest.mark.parametrize(("page", "query", "n"), one_of_each(PAGES))
def test_a_digit_has_the_colours_of_its_own_maximum_and_what_is_compared_shares_one(
    open_app, chosen, page, query, n
):
    result = reaches(open_app(f"app_pages/{page}/page.py", text=TEXT, **chosen, **query))
    assert len(result) == n
    assert 0 < min(result) == max(result) < 1


def test_another_kind_of_input_begins_with_its_own_scale(open_app):
    app = open_app(text=TEXT)
    for kind, scale in (("Digit", OWN), ("Text", TO_ONE), ("Digit", OWN)):
        app.segmented_control(key="kind").set_value(kind).run()
        assert app.segmented_control(key="scale").value == scale


def test_the_maximum_is_that_of_the_larger_side(open_app):
    query = {"checkpoint": "imdb-pre-ln", "compare_pairing": "of the same number", "scale": OWN}
    result = reaches(open_app("app_pages/compare/page.py", text=TEXT, **query))
    names = ("imdb-pre-ln", "imdb-post-ln")
    largest = max(float(LiveSubject(name, TEXT).record.pattern[0, 0].max()) for name in names)
    assert result == pytest.approx([largest] * 2)


def test_norms_of_both_encoders_share_a_scale(open_app):
    app = open_app("app_pages/compare/page.py", text=TEXT, compare_part="Stream")
    assert not app.exception
    ends = [json.loads(chart.proto.spec)["data"][0]["zmax"] for chart in app.get("plotly_chart")]
    names = ("imdb-pre-ln", "imdb-post-ln")
    norms = (np.linalg.norm(LiveSubject(name, TEXT).record.residual, axis=-1).max() for name in names)
    assert ends == pytest.approx([max(norms)] * 2)


@pytest.mark.parametrize("first", ["imdb-pre-ln", "imdb-post-ln"])
def test_a_placement_has_its_hue_whichever_is_chosen_first(open_app, first):
    app = open_app("app_pages/compare/page.py", text=TEXT, checkpoint=first, compare_part="Stream")
    scale = described(app, "mean length of the states")["layer"][0]["encoding"]["color"]["scale"]
    result = dict(zip(scale["domain"], scale["range"], strict=True))
    assert result == {"imdb-pre-ln": PRE_LN, "imdb-post-ln": POST_LN}


def test_two_inputs_of_one_encoder_have_no_hue_of_a_placement(open_app):
    query = {"compare_what": "two inputs", "compare_part": "Stream"}
    app = open_app("app_pages/compare/page.py", text=TEXT, **query)
    scale = described(app, "mean length of the states")["layer"][0]["encoding"]["color"]["scale"]
    assert not {PRE_LN, POST_LN} & set(scale["range"])


def test_the_browser_is_left_to_put_in_the_colours_of_the_theme(open_app):
    app = open_app(text=TEXT, part="mean")
    (chart,) = app.get("plotly_chart")
    result = json.loads(chart.proto.spec)["data"][0]["colorscale"]
    expected = plotly.io.templates["streamlit"].layout.colorscale.sequential
    assert [tuple(stop) for stop in result] == list(expected)
