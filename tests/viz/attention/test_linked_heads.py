import json
import re
from html import unescape

import numpy as np
import pytest

from model.record import AttentionRecord, Positions
from model.record.from_arrays import from_arrays
from tests.viz.pixels import pixels
from tests.viz.scene import drawn
from tests.viz.scene import shown_texts as texts
from viz.attention import linked_data as module
from viz.attention.linked_data import stamp_of, weights_as_integers
from viz.attention.linked_heads import linked_heads
from viz.builders.figure import VegaFigure
from viz.builders.palette import ACCENT
from viz.export.drawing import svg

# Two tokens, two heads: the first looks back at "not", the second mostly at itself.
PATTERN = np.array([[[[0.975, 0.025], [0.25, 0.75]], [[0.5, 0.5], [0.0, 1.0]]]])
NOT_GOOD = from_arrays(PATTERN, ["not", "good"])
MASKED = from_arrays(
    np.array([[[[1.0, 0.0], [0.4, 0.6]]]]), ["a", "b"], mask=np.tril(np.ones((1, 1, 2, 2), bool))
)
GRID = from_arrays(np.full((2, 1, 6, 6), 1 / 6), patch_grid=(2, 3))


def with_message(figure: VegaFigure, **message: object) -> VegaFigure:
    """The figure, after the script of its channel sent it this message."""
    parameters = [
        {**parameter, "value": {"a": message}} if parameter["name"] == "asked" else parameter
        for parameter in figure.specification["params"]
    ]
    return VegaFigure({**figure.specification, "params": parameters}, figure.frames)


def message(query: int, *, layer: int = 0, head: int = 0, record: AttentionRecord = NOT_GOOD) -> dict:
    """What the script sends while this head and query are chosen."""
    numbers = {
        name: values[query].ravel().tolist() for name, values in weights_as_integers(record, (0, 0)).items()
    }
    chosen = {"layer": layer, "head": head, "query": query, "own_layer": 0, "own_head": 0}
    return {"stamp": stamp_of(record), "is_whole": True, "hidden": None, **chosen, **numbers}


def framed(figure: VegaFigure) -> list[tuple[float, float]]:
    """Where the small maps with a thick frame in the accent lie."""
    frames = [layer for layer in drawn(figure) if {"strokeDash"} <= set(layer[0])]
    return [(item["x"], item["y"]) for item in frames[0] if item["stroke"] == ACCENT]


def test_the_form_does_not_change_with_the_data():
    other = from_arrays(np.full((3, 4, 5, 5), 0.2), list("vwxyz"))
    forms = [linked_heads(record, channel="a").specification for record in (NOT_GOOD, other)]
    for form in forms:
        del form["description"]
    assert forms[0] == forms[1]


def test_the_row_of_the_query_is_written_in_numbers():
    first = texts(linked_heads(NOT_GOOD))
    assert {"“not” attends to", "0.975", "0.025", "L0 H0"} <= set(first)
    assert {".98", ".02"} <= set(first)  # in the cells of the large map
    assert first.index("0.975") < first.index("0.025")  # the strongest first
    second = texts(linked_heads(NOT_GOOD, query=1))
    assert {"“good” attends to", "0.250", "0.750"} <= set(second)
    assert not {"0.975", "0.025"} & set(second)
    assert "1.000" in texts(linked_heads(NOT_GOOD, selected=(0, 1), query=1))


def test_the_file_of_the_chart_has_the_tokens_and_the_numbers_of_the_row():
    written = [
        unescape(text) for text in re.findall(r"<text[^>]*?>([^<]*)</text>", svg(linked_heads(NOT_GOOD)))
    ]
    assert {"not", "good", "“not” attends to", "0.975", "0.025"} <= set(written)


def test_no_query_has_no_row():
    written = texts(linked_heads(NOT_GOOD, query=None))
    assert not any("attends to" in text for text in written)
    assert not {"0.975", "0.250"} & set(written)
    assert {"L0 H0", "not", "good"} <= set(written)


def test_what_is_said_of_a_head_stands_above_its_large_map():
    figure = linked_heads(
        NOT_GOOD,
        selected=(0, 1),
        about=["looks back", "stays"],
        measures={"entropy": np.array([[0.5, 0.25]])},
    )
    assert figure.frame["about"].tolist() == ["looks back · entropy 0.5", "stays · entropy 0.25"]
    assert {"L0 H1", "stays · entropy 0.25"} <= set(texts(figure))
    assert "looks back · entropy 0.5" not in texts(figure)


def test_a_token_that_occurs_twice_follows_its_position():
    record = from_arrays(np.full((1, 1, 3, 3), 1 / 3), ["not", "good", "not"])
    frames = linked_heads(record).frames
    assert frames["keys"]["label"].tolist() == ["0 not", "good", "2 not"]
    assert frames["queries"]["label"].tolist() == ["0 not", "good", "2 not"]


def test_a_long_name_above_its_strongest_keys_is_not_cut():
    record = from_arrays(np.full((1, 6, 12, 12), 1 / 12), ["beautifully"] * 12)
    assert "“0 beautifully” →" in texts(linked_heads(record))


def test_keys_that_are_no_queries_have_their_own_names():
    pattern = np.array([[[[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]]])
    written = texts(linked_heads(from_arrays(pattern, ["a", "b"], keys=["x", "y", "z"])))
    assert {"a", "b", "x", "y", "z", "“a” attends to", "0.500", "0.300", "0.200"} <= set(written)


def test_the_scale_is_drawn_once_with_the_even_weight():
    assert any("same weight for all: 1/2 = 0.5" in text for text in texts(linked_heads(NOT_GOOD)))
    own = linked_heads(NOT_GOOD, tops=PATTERN.max(axis=(-2, -1)), reach="each map's own maximum")
    assert own.frame["top"].tolist() == [0.975, 1.0]
    written = texts(own)
    assert any(text.startswith("each map's own maximum (here 0.975) ") for text in written)
    assert not any("same weight" in text for text in written)


def test_a_map_of_zeros_has_colours_to_1():
    record = from_arrays(np.zeros((1, 1, 2, 2)), ["a", "b"])
    assert linked_heads(record, tops=np.zeros((1, 1))).frame["top"].tolist() == [1]


def test_with_tops_a_faint_map_has_the_colours_of_a_strong_one():
    faint = from_arrays(PATTERN / 4, ["not", "good"])
    figures = (linked_heads(NOT_GOOD), linked_heads(faint), linked_heads(faint, tops=np.full((1, 2), 0.25)))
    strong, dull, bright = (pixels(figure.frame["on_light"][0]).astype(int) for figure in figures)
    assert np.abs(strong - bright).max() <= 2
    assert np.abs(strong - dull).max() > 50


def test_masked_cells_are_hatched_and_only_where_there_are_any():
    figure = linked_heads(MASKED)
    hatched = pixels(figure.frame["hatched"][0])[..., 3] > 0
    height, width = (side // 2 for side in hatched.shape)
    quarters = [[hatched[i * height :, j * width :][:height, :width].any() for j in (0, 1)] for i in (0, 1)]
    assert quarters == [[False, True], [False, False]]
    assert "hatched" not in linked_heads(NOT_GOOD).frame


def test_no_frame_has_a_row_for_each_weight_of_a_long_text():
    n = module.MOST_CELLS + 1
    tokens = [f"w{index}" for index in range(n)]
    frames = linked_heads(from_arrays(np.full((2, 2, n, n), 1 / n), tokens), channel="a").frames
    assert max(map(len, frames.values())) == n
    short = linked_heads(from_arrays(np.full((2, 2, n - 1, n - 1), 1 / n), tokens[:-1]), channel="a").frames
    assert len(short["cells"]) == (n - 1) ** 2


def test_of_a_long_text_the_large_map_is_exact_and_the_small_ones_say_how_they_are_pooled():
    n = 2 * module.MOST_CELLS
    record = from_arrays(np.eye(n)[None, None], [f"w{index}" for index in range(n)])
    figure = linked_heads(record)
    small, large = (pixels(figure.frame[name][0]) for name in ("on_light", "exact_on_light"))
    assert small.shape[:2] == (n // 2, n // 2)
    assert large.shape[:2] == (n, n)
    assert "up to 2 × 2 weights" in figure.frames["state"]["notes"][0]
    assert "exact_on_light" not in linked_heads(NOT_GOOD).frame


def test_with_a_channel_the_chart_brings_no_weights():
    """They come from the script, so that the chart is the same for every choice."""
    state = linked_heads(NOT_GOOD, channel="a").frames["state"]
    assert not {"weights", "best", "most"} & set(state)
    alone = linked_heads(NOT_GOOD).frames["state"]
    assert alone["weights"][0] == weights_as_integers(NOT_GOOD, (0, 0))["weights"].ravel().tolist()


def test_the_chart_shows_what_its_script_tells_it():
    figure = linked_heads(NOT_GOOD, channel="a")
    assert not any("attends to" in text for text in texts(figure))
    assert {"0.975", "0.025", "L0 H0"} <= set(texts(with_message(figure, **message(0))))
    assert {"1.000", "L0 H1"} <= set(texts(with_message(figure, **message(1, head=1))))


def test_what_was_chosen_for_another_text_is_not_shown():
    figure = linked_heads(NOT_GOOD, channel="a")
    stale = message(1, head=1) | {"stamp": "0123456789ab"}
    assert texts(with_message(figure, **stale)) == texts(figure)


def test_a_head_that_is_pointed_at_is_shown_and_the_chosen_one_stays_framed():
    figure = linked_heads(NOT_GOOD, channel="a")
    pointed = with_message(figure, **message(1), over_layer=0, over_head=1)
    assert {"L0 H1", "1.000"} <= set(texts(pointed))
    assert len(framed(with_message(figure, **message(1)))) == 1
    assert len(framed(pointed)) == 2


def test_while_a_query_is_pointed_at_each_small_map_names_its_strongest_key():
    figure = linked_heads(NOT_GOOD, channel="a")
    kept = texts(with_message(figure, **message(1)))
    pointed = texts(with_message(figure, **message(1), over_query=1))
    assert pointed.count("good") == kept.count("good") + 2  # one for each head
    assert {"0.75", "1.00"} <= set(pointed)
    assert not {"0.75", "1.00"} & set(kept)


def test_a_head_whose_weights_are_not_there_has_no_numbers(monkeypatch):
    monkeypatch.setattr(module, "MOST_WEIGHTS", 7)
    figure = linked_heads(NOT_GOOD, channel="a")
    sent = message(0) | {"is_whole": False}
    assert {"0.975", "0.025"} <= set(texts(with_message(figure, **sent)))
    other = texts(with_message(figure, **sent, over_layer=0, over_head=1))
    assert "L0 H1" in other
    assert not [text for text in other if re.fullmatch(r"[01]\.\d{3}", text)]


def test_patches_lie_on_their_picture():
    picture = np.zeros((16, 24), np.uint8)
    figure = linked_heads(GRID, picture=picture, query=4)
    patches = figure.frames["patches"]
    assert patches[["position", "row", "column"]].to_numpy().tolist() == [
        [position, *divmod(position, 3)] for position in range(6)
    ]
    assert len(figure.frames["small_patches"]) == 2 * 6
    shape = {name: int(figure.frames["picture"][name][0]) for name in ("rows", "columns", "first")}
    assert shape == {"rows": 2, "columns": 3, "first": 0}
    boxes = [layer for layer in drawn(figure) if len(layer) == 6 and "strokeWidth" in layer[0]]
    thick = [item for item in boxes[-1] if item["strokeWidth"] == 4]
    (chosen,) = thick
    assert chosen["y"] > boxes[-1][0]["y"]  # row 1, column 1
    assert boxes[-1][0]["x"] < chosen["x"] < boxes[-1][2]["x"]


def test_each_layer_alone_has_no_names_of_heads():
    record = from_arrays(np.full((2, 1, 2, 2), 0.5), ["a", "b"])
    written = texts(linked_heads(record, by_layer=True))
    assert {"L0", "L1"} <= set(written)
    assert "H0" not in written
    assert "H0" in texts(linked_heads(record))


@pytest.mark.parametrize("name", ["measures", "tops"])
def test_an_array_of_another_shape_is_an_error(name):
    wrong = np.ones((2, 1))
    with pytest.raises(ValueError, match=r"\(1, 2\)|\[1, 2\]|1 × 2"):
        linked_heads(NOT_GOOD, **{name: {"entropy": wrong} if name == "measures" else wrong})


def test_positions_of_a_view_keep_their_numbers():
    record = AttentionRecord(
        tokens=("not", "not"),
        roles=("word",) * 2,
        numbers=(3, 7),
        pattern=PATTERN[:, :1].astype(np.float32),
        mask=np.ones((1, 1, 2, 2), bool),
        keys=Positions(tokens=("x", "x"), roles=("word",) * 2),
    )
    frames = linked_heads(record).frames
    assert frames["queries"]["label"].tolist() == ["3 not", "7 not"]
    assert frames["keys"]["label"].tolist() == ["0 x", "1 x"]


def test_every_frame_is_shown_by_some_part():
    """New data for a frame that the drawn chart does not know is an error in the browser, and the old chart would stay."""
    pattern = np.full((1, 1, 4, 4), 0.25, np.float32)
    patches = from_arrays(pattern, patch_grid=(2, 2))
    for figure in (
        linked_heads(from_arrays(pattern, ["a", "b", "c", "d"]), channel="x"),
        linked_heads(patches, picture=np.zeros((8, 8), np.uint8), channel="x"),
    ):
        text = json.dumps(figure.specification)
        assert all(f'"name": "{name}"' in text for name in figure.frames if name != "state")


def test_the_small_maps_of_a_long_record_are_pictures_of_the_chosen_query(monkeypatch):
    monkeypatch.setattr(module, "MOST_WEIGHTS", 0)
    picture = np.full((16, 24, 3), 200, np.uint8)
    frames = linked_heads(GRID, picture=picture, query=2).frames
    assert "small_patches" not in frames
    assert frames["state"]["row_query"].tolist() == [2]
    heads = linked_heads(GRID, picture=picture, query=2).frames["frame"]
    shown = [pixels(url) for url in heads["row_on_light"]]
    weights = GRID.pattern[:, :, 2, GRID.first_patch :].reshape(-1, *GRID.patch_grid)
    assert [tile.shape for tile in shown] == [(*GRID.patch_grid, 4)] * len(weights)
    alpha = np.stack([tile[..., 3] for tile in shown])
    np.testing.assert_array_equal(alpha, np.rint(255 * module.MOST_OPAQUE * weights))


def test_a_photo_lies_below_the_weights_and_ink_above_them():
    marks = [
        [part["mark"]["type"] for part in linked_heads(GRID, picture=picture).specification["layer"]][:2]
        for picture in (np.zeros((16, 24, 3), np.uint8), np.zeros((16, 24), np.uint8))
    ]
    assert marks[0][1:] == ["image"]
    assert marks[1][1:] == ["rect"]


@pytest.mark.parametrize("n_heads", [4, 12])
def test_names_of_heads_and_layers_never_touch(n_heads):
    figure = linked_heads(from_arrays(np.full((40, n_heads, 3, 3), 1 / 3), list("abc")))
    names = [
        (item["x"], item["y"], item["text"])
        for layer in drawn(figure)
        for item in layer
        if re.fullmatch(r"[LH]\d+", str(item.get("text")))
    ]
    heads = sorted(x for x, _, name in names if name.startswith("H"))
    layers = sorted(y for _, y, name in names if name.startswith("L"))
    assert {"H0", "L0"} <= {name for _, _, name in names}
    assert np.diff(heads).min() >= 18  # "H0", the widest without its neighbours
    assert np.diff(layers).min() >= 12
    assert 1 < len(layers) < 40


@pytest.mark.parametrize(("n", "query"), [(6, 2), (26, 25), (64, 33)])
@pytest.mark.parametrize("compact", [True, False])
def test_names_of_tokens_never_touch_and_the_query_has_its_own(n, query, compact):
    tokens = [f"t{number}" for number in range(n)]
    figure = linked_heads(from_arrays(np.full((2, 2, n, n), 1 / n), tokens), query=query, compact=compact)
    names = [
        item
        for layer in drawn(figure)
        for item in layer
        if item.get("align", "left") == "left" and item.get("text") in tokens and item.get("angle")
    ]
    assert tokens[query] in {item["text"] for item in names}
    assert {item["angle"] for item in names} == {270}
    assert np.diff(sorted(item["x"] for item in names)).min() >= 11
