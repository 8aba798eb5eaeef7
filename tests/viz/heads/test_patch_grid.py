import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.heads.patch_grid import Spread, patch_grid

EFFECTS = np.array([[0.5, -0.25, 1.0], [0.1, 0.0, -2.0]])  # two heads, feed-forward
COLUMNS = ("H0", "H1", "FF")
SPREAD = Spread(
    sd=np.full((2, 3), 0.1),
    low=EFFECTS - 0.15,
    high=EFFECTS + 0.15,
    is_shown=np.abs(EFFECTS) > 0.15,
    is_tested=EFFECTS != 0,
    n=12,
)


def grid(effects=EFFECTS, **options):
    options = {"selected": (0, 1), "what": "change of the log-odds", "signed": True} | options
    return patch_grid(effects, COLUMNS, **options)


def test_every_part_has_its_number_in_its_place():
    _, text, cover = drawn(grid())
    written = {(mark["x"], mark["y"]): mark["text"] for mark in text}
    places = {
        cell["description"]: (cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2) for cell in cover
    }
    assert {name: written[place] for name, place in places.items()} == {
        "L0 H0": "+0.50", "L0 H1": "−0.25", "L0 FF": "+1.00",
        "L1 H0": "+0.10", "L1 H1": "0.00", "L1 FF": "−2.00",
    }  # fmt: skip
    x = {name: place[0] for name, place in places.items()}
    assert x["L0 H0"] < x["L0 H1"] < x["L0 FF"]


def test_only_the_chosen_part_is_framed():
    *_, cover = drawn(grid())
    assert [cell["description"] for cell in cover if cell["stroke"] == ACCENT] == ["L0 H1"]
    *_, cover = drawn(grid(selected=None))
    assert not [cell for cell in cover if cell["stroke"] == ACCENT]


def test_small_effects_are_in_a_smaller_unit_which_the_title_says():
    figure = grid(EFFECTS / 1000)
    assert "+0.50" in set(figure.frame["written"])
    assert "thousandths" in str(figure.specification["title"])


def test_rounding_has_no_colour():
    cells, *_ = drawn(grid(EFFECTS * 1e-8))
    opacity = [float(cell["fill"].rstrip(")").split(",")[-1]) for cell in cells]
    assert max(opacity) < 1e-6


def test_of_means_only_those_with_an_effect_are_coloured():
    figure = grid(spread=SPREAD)
    rows = figure.frame.set_index("name")
    assert rows.loc["L1 H0", "result"] == "no clear effect"
    assert rows.loc["L1 H1", "result"] == "not tested"
    assert rows.loc["L1 H0", "interval"] == "−0.0500 to +0.250"
    assert rows.loc["L0 H0", "result"] == "a clear effect, after correction for all parts"
    cells, _, cover = drawn(figure)
    fill = {above["description"]: cell["fill"] for cell, above in zip(cells, cover, strict=True)}
    assert fill["L1 H0"].endswith(", 0)")
    assert not fill["L0 H0"].endswith(", 0)")


def test_one_pair_has_no_interval():
    unknown = np.full((2, 3), np.nan)
    spread = Spread(unknown, unknown, unknown, np.zeros((2, 3), bool), np.zeros((2, 3), bool), 1)
    assert set(grid(spread=spread).frame["interval"]) == {"not known: one pair"}


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \(2, 3\)"):
        grid(EFFECTS[:, :2])
    with pytest.raises(ValueError, match=r"expected shape \(2, 3\)"):
        grid(spread=SPREAD._replace(sd=SPREAD.sd[:1]))
