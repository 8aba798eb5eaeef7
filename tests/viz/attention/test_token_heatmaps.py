import numpy as np
import pytest

from tests.viz.pixels import pixels
from tests.viz.records import head_record, heads_record
from tests.viz.scene import drawn
from viz.attention.token_heatmaps import (
    attention_heatmap,
    cross_heatmap,
    difference_heatmap,
    minimap,
    score_heatmap,
    weight_heatmap,
)
from viz.builders.palette import hatching, weight_scale

TOKENS = ("[CLS]", "so", "so", "[SEP]")
WEIGHTS = np.array(
    [[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1], [0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25]],
    dtype=np.float32,
)
CAUSAL = np.tril(np.ones((4, 4), dtype=bool))


def test_rows_are_queries_and_repeated_tokens_keep_apart():
    (trace,) = weight_heatmap(WEIGHTS, TOKENS).specification.data
    assert (np.asarray(trace.z) == WEIGHTS).all()
    assert trace.x == trace.y == ("[CLS]", "1 so", "2 so", "[SEP]")


def test_two_inputs_have_axes_of_their_own():
    figure = cross_heatmap(WEIGHTS[:2], TOKENS[:2], ("a", "b", "a", "c"), query=1).specification
    (trace,) = figure.data
    assert (trace.y, trace.x) == (("[CLS]", "so"), ("0 a", "b", "2 a", "c"))
    assert (np.asarray(trace.z) == WEIGHTS[:2]).all()
    assert "1/4 = 0.25" in trace.colorbar.title.text
    (frame,) = figure.layout.shapes
    assert (frame.y0, frame.y1, frame.x1) == (0.5, 1.5, 3.5)


def test_under_a_mask_the_keys_that_the_query_has_are_counted():
    weights, _ = weight_heatmap(WEIGHTS, TOKENS, mask=CAUSAL, query=1).specification.data
    assert weights.colorbar.title.text.endswith("same weight for all the allowed keys: 1/2 = 0.5")
    assert 0.5 in weights.colorbar.tickvals


def test_the_row_of_the_query_is_written_where_there_is_room():
    (trace,) = weight_heatmap(WEIGHTS, TOKENS, query=2).specification.data
    assert np.asarray(trace.text).tolist() == [[""] * 4, [""] * 4, ["", "", ".50", ".50"], [""] * 4]
    (one,) = weight_heatmap(np.eye(2), ("a", "b"), query=0).specification.data
    assert np.asarray(one.text)[0].tolist() == ["1", ""]
    assert weight_heatmap(WEIGHTS, TOKENS).specification.data[0].text is None
    assert weight_heatmap(np.eye(50), ["a"] * 50, query=0).specification.data[0].text is None


def test_a_map_without_any_weight_has_no_maximum_to_name():
    scale = weight_scale("own", "its maximum", np.zeros_like(WEIGHTS))
    weights, *_ = weight_heatmap(np.zeros_like(WEIGHTS), TOKENS, scale=scale).specification.data
    assert weights.colorbar.title.text.startswith("attention weight, all of them 0")


def test_masked_cells_have_no_colour_and_say_that_they_are_masked():
    weights, forbidden = weight_heatmap(WEIGHTS, TOKENS, mask=CAUSAL).specification.data
    assert (np.isnan(weights.z) == ~CAUSAL).all()
    assert (np.isnan(forbidden.z) == CAUSAL).all()
    assert "masked" in forbidden.hovertemplate


def test_masked_cells_are_hatched():
    (image,) = weight_heatmap(WEIGHTS, TOKENS, mask=CAUSAL).specification.layout.images
    assert (image.x, image.y, image.sizex, image.sizey) == (-0.5, -0.5, 4, 4)
    assert image.source == hatching(CAUSAL)


def test_a_mask_that_allows_everything_leaves_no_trace():
    figure = weight_heatmap(WEIGHTS, TOKENS, mask=np.ones((4, 4), dtype=bool)).specification
    assert len(figure.data) == 1
    assert not figure.layout.images


def test_a_part_is_shown_on_both_axes_with_queries_from_the_top():
    layout = weight_heatmap(WEIGHTS, TOKENS, zoom=(1, 2)).specification.layout
    assert layout.xaxis.range == (0.5, 2.5)
    assert layout.yaxis.range == (2.5, 0.5)
    assert layout.height < weight_heatmap(WEIGHTS, TOKENS).specification.layout.height


def test_the_frame_holds_what_is_drawn_under_the_names_of_the_positions():
    frame = weight_heatmap(WEIGHTS, TOKENS, mask=CAUSAL).frame
    assert frame.loc["2 so", "1 so"] == 0
    assert np.isnan(frame.loc["[CLS]", "[SEP]"])


def test_it_says_what_it_is():
    assert weight_heatmap(WEIGHTS, TOKENS, title="L0 H1").description.startswith("Attention of L0 H1, ")
    assert weight_heatmap(WEIGHTS, TOKENS, description="Under a mask").description.startswith(
        "Under a mask. "
    )


def test_it_says_the_strongest_keys_of_its_query():
    weights = np.array([[0.5, 0.25, 0.15, 0.1], [0.97, 0.03, 0, 0], [0, 0.002, 0.9, 0.098], [0, 0, 0, 0]])
    tokens = ["a", "b", "c", "d"]

    def strongest(query, **options):
        description = weight_heatmap(weights, tokens, query=query, **options).description
        return description.removeprefix("Attention, queries down, keys across")

    assert strongest(0) == ". Query a: a 0.50, b 0.25, c 0.15"
    assert strongest(2) == ". Query c: c 0.90, d 0.10"
    assert strongest(3) == ""
    assert strongest(None) == ". Strongest: b to a 0.97, c to c 0.90, a to a 0.50"
    mask = np.ones((4, 4), bool)
    mask[0, 0] = False
    assert strongest(0, mask=mask) == ". Query a: b 0.25, c 0.15, d 0.10"


def test_of_scores_and_differences_the_largest_in_size_are_the_strongest():
    values = np.array([[-3.0, 1.0], [0.5, 0.25]])
    assert score_heatmap(values, ["a", "b"], query=0).description.endswith(". Query a: a −3.00, b 1.00")
    difference = difference_heatmap(
        np.eye(2), np.full((2, 2), 0.5), ["a", "b"], query=1, description="Change"
    )
    assert difference.description == "Change. Query b: a 0.50, b −0.50"


def test_the_weights_of_a_head_say_which_head():
    record = heads_record(np.full((2, 3, 2, 2), 0.5, np.float32))
    assert attention_heatmap(record, 1, 2).description.startswith("Attention of L1 H2, queries down")


THREE = ("[CLS]", "so", "[SEP]")
SCORES = np.array([[1.0, -3.0, 0.5], [0.0, 2.0, -1.0], [0.1, 0.2, 0.3]])
CAUSAL_OF_THREE = np.tril(np.ones((3, 3), dtype=bool))


def test_masked_scores_are_seen_under_the_hatching_and_keep_the_scale():
    figure = score_heatmap(SCORES, THREE, mask=CAUSAL_OF_THREE).specification
    scores, forbidden = figure.data
    np.testing.assert_allclose(scores.z, SCORES)
    assert (np.isnan(forbidden.z) == CAUSAL_OF_THREE).all()
    assert "masked" in forbidden.hovertemplate
    assert len(figure.layout.images) == 1
    assert (scores.zmin, scores.zmax) == (-3, 3)  # the largest is masked


@pytest.mark.parametrize(
    ("outliers", "end", "reach"),
    [
        ([], 9, "symmetric about 0"),
        ([-17], 17, "symmetric about 0"),  # less than twice as large as the others
        ([100], 9, "symmetric about 0; stronger ones, up to 100, have the colour of its end"),
        ([-40], 9, "symmetric about 0; stronger ones, up to 40, have the colour of its end"),
        ([30, 30, 30], 30, "symmetric about 0"),  # of 100: more than a few
    ],
)
def test_a_few_scores_far_beyond_the_others_do_not_set_the_scale(outliers, end, reach):
    scores = np.tile(np.arange(10.0), 10)
    scores[: len(outliers)] = outliers
    (trace,) = score_heatmap(scores.reshape(10, 10), list("abcdefghij")).specification.data
    assert (trace.zmin, trace.zmax) == (-end, end)
    assert trace.colorbar.title.text == f"score q·k / √d_k, {reach}"


def test_masked_scores_far_beyond_the_others_do_not_set_the_scale():
    """Such as those of padding, whose vectors the encoder was never trained on."""
    padded = np.where(CAUSAL_OF_THREE, SCORES, 50.0)
    (trace, _) = score_heatmap(padded, THREE, mask=CAUSAL_OF_THREE).specification.data
    assert (trace.zmin, trace.zmax) == (-2, 2)
    assert "stronger ones, up to 50, have the colour of its end" in trace.colorbar.title.text


PRE = np.array([[0.75, 0.25], [0.5, 0.5]], dtype=np.float32)
POST = np.array([[0.25, 0.75], [0.375, 0.625]], dtype=np.float32)


def test_the_difference_is_second_minus_first():
    (trace,) = difference_heatmap(PRE, POST, ("a", "b")).specification.data
    assert np.asarray(trace.z).tolist() == [[-0.5, 0.5], [-0.125, 0.125]]
    assert trace.colorbar.title.text == "post-LN minus pre-LN, symmetric about 0"


@pytest.mark.parametrize(
    ("second", "end"),
    [(PRE * 0.5, 0.375), (PRE, 1), (PRE + np.float32(2.4e-7), 1)],  # rounding is not drawn as a difference
)
def test_the_scale_is_symmetric_and_reaches_the_largest_difference(second, end):
    (trace,) = difference_heatmap(PRE, second, ("a", "b")).specification.data
    assert (trace.zmin, trace.zmax) == (-end, end)


def test_hover_gives_both_values_and_the_difference():
    (trace,) = difference_heatmap(PRE, POST, ("a", "b"), names=("first", "<b>")).specification.data
    assert np.asarray(trace.customdata)[0, 1].tolist() == [0.25, 0.75]
    assert "first: %{customdata[0]:.4f}" in trace.hovertemplate
    assert "&lt;b&gt;: %{customdata[1]:.4f}" in trace.hovertemplate
    assert "difference: %{z:.4f}" in trace.hovertemplate


def test_the_row_of_the_query_is_framed():
    for figure, end in (
        (weight_heatmap(WEIGHTS, TOKENS, query=1), 3.5),
        (score_heatmap(SCORES, THREE, query=1), 2.5),
        (difference_heatmap(PRE, POST, ("a", "b"), query=1), 1.5),
    ):
        (frame,) = figure.specification.layout.shapes
        assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, end, 0.5, 1.5)
    assert not weight_heatmap(WEIGHTS, TOKENS).specification.layout.shapes


def test_other_keys_numbers_of_a_view_and_notes():
    options = {"query": 1, "keys": ("x", "y", "x"), "numbers": (1, 4), "notes": ["a < b"]}
    figure = weight_heatmap(WEIGHTS[:2, :3], ("so", "so"), **options).specification
    (trace,) = figure.data
    assert (trace.y, trace.x) == (("1 so", "4 so"), ("0 x", "y", "2 x"))
    assert trace.colorbar.title.text.endswith("<br>a &lt; b")
    assert "1/3" in trace.colorbar.title.text
    (frame,) = figure.layout.shapes
    assert (frame.y0, frame.x1) == (0.5, 2.5)


def test_a_record_gives_its_weights_mask_and_keys():
    record = head_record(WEIGHTS, TOKENS, mask=CAUSAL, numbers=(1, 2, 5, 6))
    weights, forbidden = attention_heatmap(record, 0, 0).specification.data
    assert (np.isnan(weights.z) == ~CAUSAL).all()
    assert weights.y == ("[CLS]", "2 so", "5 so", "[SEP]")
    assert "masked" in forbidden.hovertemplate
    (cross,) = attention_heatmap(head_record(WEIGHTS, TOKENS, keys="wxyz"), 0, 0).specification.data
    assert cross.x == ("w", "x", "y", "z")


def test_of_a_difference_only_the_window_is_sent():
    first, second = WEIGHTS, WEIGHTS[::-1]
    figure = difference_heatmap(first, second, TOKENS, window=(range(1, 3), range(2, 4)))
    (trace,) = figure.specification.data
    assert (trace.y, trace.x) == (("1 so", "2 so"), ("2 so", "[SEP]"))
    np.testing.assert_allclose(trace.z, (second - first)[1:3, 2:4])
    np.testing.assert_array_equal(trace.customdata, np.stack([first[1:3, 2:4], second[1:3, 2:4]], axis=-1))
    assert trace.zmax == np.abs(second - first).max()  # colours are those of the whole map


def test_beside_other_maps_there_is_room_for_fewer_numbers():
    def written(n, **options):
        tokens = [f"t{number}" for number in range(n)]
        return weight_heatmap(np.eye(n), tokens, query=0, **options).specification.data[0].text is not None

    assert written(13)
    assert written(12, beside=True)
    assert not written(13, beside=True)


def pattern(n=200):
    weights = np.zeros((n, n), np.float32)
    weights[150, 30] = 1
    return weights


def test_a_lone_weight_stays_in_sight():
    figure = minimap(pattern(), framed=(range(130, 170), range(10, 50)))
    image = pixels(figure.frames["picture"]["on_light"][0])[..., :3].sum(axis=-1, dtype=int)
    row, column = np.unravel_index(image.argmin(), image.shape)
    assert abs(row / len(image) - 150 / 200) < 0.01
    assert abs(column / len(image) - 30 / 200) < 0.01


def test_the_frame_stands_around_what_is_shown_and_a_click_names_the_middle_of_its_cell():
    figure = minimap(np.zeros((120, 60), np.float32), framed=(range(60, 100), range(15, 45)))
    _, _, (window,), _ = drawn(figure)
    assert (window["y"], window["height"]) == (168 / 2, pytest.approx(168 / 3))
    assert (window["x"], window["width"]) == (168 / 4, 168 / 2)
    places = figure.frame[["query", "key"]].to_numpy().tolist()
    assert (len(places), places[1], places[-1]) == (12 * 12, [5, 7], [115, 57])
