import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.attention.token_heatmaps import weight_heatmap
from viz.builders.heatmap import attention_scale, colour_scale, compact_heatmap, heatmap, position_labels
from viz.builders.palette import DIFFERENCE, WEIGHTS, WeightScale

OPTIONS = {"colours": colour_scale("weight", "0 to 1", 1), "number": ": %{z}", "description": "of nothing"}


def over(labels, **options):
    n = len(labels)
    return weight_heatmap(np.zeros((n, n)), labels, **options).specification


def test_tokens_that_occur_once_are_left_as_they_are():
    assert position_labels(["[CLS]", "a", "##film", "<b>"]) == ["[CLS]", "a", "##film", "<b>"]


def test_repeated_tokens_carry_their_position():
    assert position_labels(["the", "film", "the"]) == ["0 the", "film", "2 the"]
    assert position_labels(["a"] * 12)[11] == "11 a"


def test_long_tokens_end_in_an_ellipsis_and_stay_apart():
    first, second = position_labels(["pneumonoultramicroscopic", "pneumonoultrasilico"])
    assert first == "0 pneumonoultra…"
    assert second == "1 pneumonoultra…"


@given(st.lists(st.text(st.sampled_from("ab₀₁ <&;lt…"), max_size=6), max_size=30))
def test_no_two_labels_are_alike(tokens):
    assert len(set(position_labels(tokens))) == len(tokens)


def test_markup_is_text():
    figure = over(["<script>", "&amp;"], title="<b>")
    assert figure.data[0].x == figure.data[0].y == ("&lt;script&gt;", "&amp;amp;")
    assert figure.layout.title.text == "&lt;b&gt;"
    options = {"titles": ("", ""), "cell": "", "height": 300, "colours": colour_scale("<i>", "0 to 1", 1)}
    (trace,) = heatmap(np.eye(2), **OPTIONS | options).specification.data
    assert trace.colorbar.title.text == "&lt;i&gt;, 0 to 1<br>\xa0"


@pytest.mark.parametrize("labels", [["a", "film"], [f"film {number}" for number in range(20)], []])
def test_above_the_map_there_is_room_for_the_names_of_columns(labels):
    longest = max(map(len, labels), default=0)
    assert over(labels).layout.margin.t >= 6 * longest  # a letter is about 6 pixels wide


@pytest.mark.parametrize("n", [6, 18, 26, 40, 64])
@pytest.mark.parametrize("query", [1, 5])
@pytest.mark.parametrize(("options", "side"), [({}, 410), ({"beside": True}, 240), ({"zoom": (1, 5)}, 310)])
def test_no_two_names_touch_and_the_query_has_its_own(n, query, options, side):
    layout = over([f"token{number}" for number in range(n)], query=query, **options).layout
    n_shown = 5 if "zoom" in options else n
    for axis in (layout.xaxis, layout.yaxis):
        assert query in axis.tickvals
        distance = min(np.diff(axis.tickvals)) * side / n_shown
        assert axis.tickfont.size <= distance
        assert distance < 2.5 * axis.tickfont.size or len(axis.tickvals) == n


@pytest.mark.parametrize("n", [6, 18, 26, 40, 64])
def test_the_names_of_a_compact_map_do_not_touch_and_fit_above_it(n):
    tokens = ["extraordinary"] * (n - 2) + ["a", "b"]
    layout = compact_heatmap(weight_heatmap(np.eye(n), tokens, query=5), "Map").specification.layout
    for axis in (layout.xaxis, layout.yaxis):
        assert 5 in axis.tickvals
        assert min(np.diff(axis.tickvals)) * 255 / n >= axis.tickfont.size
    assert max(map(len, layout.xaxis.ticktext)) * 0.6 * layout.xaxis.tickfont.size <= 84
    assert layout.xaxis.ticktext[0].endswith(" extraordi…")


def test_a_thin_row_is_not_covered_by_its_frame():
    widths = [over(["a"] * n, query=3).layout.shapes[0].line.width for n in (64, 65)]
    assert widths == [2, 1]


def test_numbered_rows_and_columns_of_any_shape():
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    options = {"titles": ("x", "y"), "cell": "%{y}, %{x}", "height": 300, "framed": (range(1, 3), range(1))}
    figure = heatmap(values, **OPTIONS | options)
    (trace,) = figure.specification.data
    assert np.array_equal(trace.z, values)
    assert np.array_equal(figure.frame, values)
    assert trace.hovertemplate == "%{y}, %{x}: %{z}<extra></extra>"
    (frame,) = figure.specification.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (0.5, 2.5, -0.5, 0.5)


@pytest.mark.parametrize(
    ("signed", "low", "middle", "colours"), [(True, -4, 0, DIFFERENCE), (False, 0, 2, WEIGHTS)]
)
def test_the_scale_and_its_bar_have_the_same_ends(signed, low, middle, colours):
    scale = colour_scale("score", "both ways", 4, signed=signed)
    assert (scale.lowest, scale.largest, scale.colours, scale.ticks) == (low, 4, colours, (low, middle, 4))


@pytest.mark.parametrize(
    ("largest", "n_keys", "ticks"),
    [
        (1, 4, {0: "\n0", 0.25: "▲", 1: "\n1"}),
        (1, 50, {0: "\n0", 0.02: "▲", 1: "\n1"}),
        (0.021, 50, {0: "\n0", 0.02: "▲", 0.021: "\n0.021"}),
        (0.02, 50, {0: "0", 0.02: "▲ 0.02"}),
        (1, 0, {0: "0", 1: "1"}),
    ],
)
def test_the_bar_of_weights_marks_the_evenly_spread_one(largest, n_keys, ticks):
    scale = attention_scale(WeightScale(largest, "0 to it"), n_keys)
    assert (scale.lowest, scale.largest, scale.colours) == (0, largest, WEIGHTS)
    assert dict(zip(scale.ticks, scale.tick_texts, strict=True)) == ticks
    even = (f"▲ same weight for all: 1/{n_keys} = {1 / n_keys:.2g}",) if n_keys else ()
    assert scale.title == ("attention weight, 0 to it", *even)


def test_beside_a_compact_bar_stands_how_far_the_values_go_beyond_it():
    values = np.arange(-4.0, 5.0).reshape(3, 3)
    for end, text in ((4, "±4"), (2, "±2, up to 4")):
        figure = heatmap(
            values,
            titles=("", ""),
            cell="",
            height=300,
            **OPTIONS | {"colours": colour_scale("score", "", end)},
        )
        drawn = compact_heatmap(figure, "Map").specification
        assert drawn.layout.annotations[1].text == text


def test_compact_maps_have_one_size_of_plot_and_the_ends_of_their_scale_beside_the_bar():
    short, long = (
        compact_heatmap(weight_heatmap(np.eye(2), tokens), "<b>Map</b>").specification
        for tokens in (["a", "b"], ["extraordinarily", "a"])
    )
    for drawn in (short, long):
        assert drawn.layout.height is None
        assert not drawn.layout.xaxis.automargin
        assert not drawn.layout.yaxis.automargin
        assert [text.text for text in drawn.layout.annotations][:3] == ["<b>Map</b>", "1", "0"]
    assert short.layout.margin == long.layout.margin
