import numpy as np
import pytest

from model.record.from_arrays import from_arrays
from tests.viz.pixels import pixels
from tests.viz.records import heads_record
from tests.viz.scene import drawn, whole
from viz.attention.head_overview import head_overview
from viz.builders.figure import VegaFigure
from viz.builders.palette import ACCENT, WeightScale
from viz.export.save import numbers_table


def patterns(n_layers, n_heads, n):
    scores = np.random.default_rng(0).normal(size=(n_layers, n_heads, n, n)).astype(np.float32)
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True)


def measures(n_layers, n_heads):
    layer, head = np.indices((n_layers, n_heads))
    return {"entropy": layer + head / 10}


def overview(n_layers=3, n_heads=2, n=5, **options):
    options = {"selected": (1, 0), "measures": measures(n_layers, n_heads)} | options
    return head_overview(heads_record(patterns(n_layers, n_heads, n)), **options)


@pytest.mark.parametrize(("n_layers", "n_heads"), [(6, 4), (4, 8), (12, 12)])
def test_layers_are_rows_and_heads_are_columns_of_square_tiles(n_layers, n_heads):
    pictures, _ = drawn(overview(n_layers, n_heads))
    assert len(pictures) == len({picture["url"] for picture in pictures}) == n_layers * n_heads
    assert len({picture["x"] for picture in pictures}) == n_heads
    assert len({picture["y"] for picture in pictures}) == n_layers
    assert pictures[1]["x"] > pictures[0]["x"]
    assert pictures[n_heads]["y"] > pictures[0]["y"]
    assert all(picture["width"] == picture["height"] >= 38 for picture in pictures)


def test_in_a_chart_that_is_stretched_the_maps_grow_and_stay_square():
    chart = overview(2, 2)
    usual, _ = drawn(chart)
    pictures, _ = drawn(VegaFigure(chart.specification | {"width": 900, "height": 500}, chart.frames))
    assert {(it["width"], it["height"]) for it in pictures} == {(pictures[0]["width"],) * 2}
    assert pictures[0]["width"] > 2 * usual[0]["width"]


def test_one_map_a_layer():
    scale = WeightScale(what="relevance", shares=False)
    chart = overview(3, 1, by_layer=True, scale=scale, selected=(2, 0))
    pictures, frames = drawn(chart)
    assert len({picture["x"] for picture in pictures}) == 1
    assert len({picture["y"] for picture in pictures}) == 3
    assert [frame["stroke"] == ACCENT for frame in frames] == [False, False, True]
    assert chart.frame["name"].tolist() == ["L0", "L1", "L2"]
    assert chart.description == "Relevance of 3 layers; L2 is chosen."
    tiles = chart.specification["layer"][0]["encoding"]
    assert tiles["color"]["legend"]["title"] == ["relevance, 0 to 1"]
    assert tiles["x"]["axis"] is None


def test_no_head_need_be_selected():
    chart = overview(selected=None)
    _, frames = drawn(chart)
    assert ACCENT not in {frame["stroke"] for frame in frames}
    assert chart.description == "Attention of 3 layers of 2 heads; none is chosen."


def test_each_head_has_its_name_and_its_measures():
    tiles = overview().frame[2:4]
    assert list(zip(tiles["name"], tiles["entropy"], strict=True)) == [("L1 H0", 1.0), ("L1 H1", 1.1)]


def test_where_no_click_chooses_the_tiles_do_not_look_as_if():
    chart = overview(clickable=False)
    assert not [parameter for parameter in chart.specification["params"] if "select" in parameter]
    assert "pointer" not in str(whole(chart))
    assert "pointer" in str(whole(overview()))


def test_own_scale_brightens_a_faint_head():
    faint = np.full((1, 1, 4, 4), 0.25, dtype=np.float32)
    options = {"selected": (0, 0), "measures": measures(1, 1)}
    charts = (head_overview(heads_record(faint), colours=colours, **options) for colours in ("fixed", "own"))
    urls = [drawn(chart)[0][0]["url"] for chart in charts]
    full = drawn(head_overview(heads_record(np.ones_like(faint)), **options))[0][0]["url"]
    assert urls[0] != full
    assert urls[1] == full


def test_a_scale_for_each_map_has_no_legend_and_is_named():
    own = overview(1, 1, colours="own").specification
    assert "color" not in own["layer"][0]["encoding"]
    assert own["title"]["text"] == ["colour from 0 to each map's own maximum"]


def test_a_tile_is_drawn_for_the_theme_of_the_page():
    on_light, on_dark = (pixels(drawn(overview(1, 1), dark=dark)[0][0]["url"]) for dark in (False, True))
    assert on_light[..., :3].mean() > 128 > on_dark[..., :3].mean()


@pytest.mark.parametrize(("n", "line"), [(65, "2 × 2"), (256, "4 × 4")])
def test_pooled_tiles_say_so(n, line):
    assert line in overview(1, 1, n).specification["title"]["text"][0]


def test_small_patterns_are_shown_one_by_one():
    assert "title" not in overview(1, 1, 64).specification


def test_a_lone_weight_stays_strong_in_a_small_tile():
    lone = np.zeros((1, 12, 128, 128), dtype=np.float32)
    lone[:, :, 70, 9] = 1
    chart = head_overview(heads_record(lone), selected=(0, 0), measures=measures(1, 12))
    picture = drawn(chart)[0][0]
    cells = picture["width"]  # one for every pixel on the screen, so that shrinking averages nothing away
    assert np.sqrt((pixels(picture["url"])[..., 0] < 128).mean()) == pytest.approx(1 / cells, rel=0.01)


def test_each_head_needs_a_number_of_its_own():
    with pytest.raises(ValueError, match=r"expected shape \(3, 2\)"):
        overview(measures=measures(2, 3))


def test_no_measures_are_needed():
    chart = head_overview(heads_record(np.full((1, 2, 3, 3), 1 / 3)))
    assert chart.frame["name"].tolist() == ["L0 H0", "L0 H1"]


def test_notes_stand_above_the_tiles():
    figure = overview(n=200, notes=["words: merged"])
    first, second = figure.specification["title"]["text"]
    assert first == "words: merged"
    assert second.startswith("a pixel is the largest of")


def test_on_a_picture_each_tile_has_the_weights_of_the_query_on_the_patches_below_the_ink():
    pattern = np.random.default_rng(0).dirichlet(np.ones(7), (2, 3, 7)).astype(np.float32)
    record = from_arrays(pattern, patch_grid=(2, 3))
    image = np.full((8, 12), 200, np.uint8)
    figure = head_overview(record, picture=image, query=4, colours="own")
    tiles, inks, *_ = drawn(figure)
    assert len(tiles) == len(inks) == 6
    on_patches = pattern[:, :, 4, 1:].reshape(6, 2, 3)
    for tile, weights in zip(tiles, on_patches, strict=True):
        shown = pixels(tile["url"])[..., :3].astype(int)
        rows, columns = (np.arange(n) * shown.shape[axis] // n for axis, n in enumerate((2, 3)))
        darkest = shown[rows[:, None] + 1, columns + 1].sum(-1).argmin()
        assert darkest == weights.argmax()
    assert len({ink["url"] for ink in inks}) == 1
    assert figure.specification["title"]["text"][0] == f"what {record.tokens[4]} attends to"
    numbers = numbers_table(figure)
    assert list(numbers.columns) == ["layer", "head", "r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2"]
    np.testing.assert_allclose(numbers.iloc[:, 2:], pattern[:, :, 4, 1:].reshape(6, 6))


def test_a_record_without_patches_has_no_picture():
    with pytest.raises(ValueError, match="without a grid of patches"):
        overview(picture=np.zeros((4, 4), np.uint8))
