import numpy as np

from tests.viz.scene import drawn, whole
from viz.compare.head_grid import head_grid
from viz.palette import ACCENT

VALUES = np.array([[0.5, -0.25], [np.nan, 0.0], [0.1, 0.2]])


def grid(values=VALUES, **options):
    options = {"selected": (2, 0), "title": ["change", "b minus a"], "signed": True} | options
    return head_grid(values, **options)


def test_every_head_has_its_number_in_its_place():
    _, text, cover = drawn(grid())
    written = {(mark["x"], mark["y"]): mark["text"] for mark in text}
    places = {
        cell["description"]: (cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2) for cell in cover
    }
    assert {name: written[place] for name, place in places.items()} == {
        "L0 H0": "+0.50", "L0 H1": "−0.25", "L1 H0": "–", "L1 H1": "0.00", "L2 H0": "+0.10", "L2 H1": "+0.20",
    }  # fmt: skip


def test_only_the_chosen_head_is_framed_in_the_accent():
    *_, cover = drawn(grid())
    assert [cell["description"] for cell in cover if cell["stroke"] == ACCENT] == ["L2 H0"]


def test_signed_colours_are_symmetric_and_others_start_at_zero():
    def domain(figure):
        (scale,) = [layer["encoding"]["color"]["scale"] for layer in whole(figure)["layer"][:1]]
        (largest,) = [each["value"] for each in whole(figure)["params"] if each["name"] == "largest"]
        meant = {"-largest": -largest, "largest": largest}
        return [meant[end["expr"]] if isinstance(end, dict) else end for end in scale["domain"]]

    assert domain(grid()) == [-0.5, 0.5]
    assert domain(grid(signed=False)) == [0, 0.5]
    assert domain(grid(np.zeros((1, 1)))) == [-1, 1]


def test_hover_says_the_pair_and_the_exact_value():
    notes = [f"note {number}" for number in range(6)]
    by_name = grid(notes=notes).frame.set_index("name")
    assert (by_name.loc["L0 H1", "exact"], by_name.loc["L0 H1", "note"]) == ("−0.2500", "note 1")
    assert by_name.loc["L1 H0", "exact"] == "no partner"


def test_a_click_selects_layer_and_head():
    (parameter,) = (each for each in grid().specification["params"] if "select" in each)
    assert (parameter["name"], parameter["select"]["fields"]) == ("head", ["layer", "head"])


def test_no_heads_make_an_empty_chart():
    assert drawn(grid(np.zeros((0, 0)))) == [[], [], []]
