import numpy as np

from tests.viz.scene import drawn, numbers_in_cells
from viz.heads.part_grids import (
    EffectSpread,
    PruningRun,
    ablation_grid,
    patch_grid,
    pruning_curve,
    stage_positions,
)

EFFECTS = np.array([[0.5, -0.25, 1.0, 0.0], [0.1, 0.2, np.nan, -2.0]])  # two heads, attention, feed-forward
AWAY = np.array([[False, True, False, False], [False, False, False, True]])
STAGES, TOKENS = ("embed", "L0 mid"), ("the", "film", "the")
STAGE_EFFECTS = np.array([[0.5, np.nan, -1.0], [0.0, 0.25, 0.1]])
PRE = PruningRun(
    "pre",
    ("", "L0 H1", "L1 H0"),
    np.array([0.9, 0.9, 0.52]),
    np.array([0.3, 0.31, 0.9]),
    ("", "", "−38 points"),
    1,
)
POST = PruningRun(
    "post", ("", "L1 H1", "L0 H0"), np.array([0.88, 0.88, 0.875]), np.array([0.3, 0.3, 0.4]), ("",) * 3, 2
)


def grid(effects=EFFECTS, away=AWAY, **options):
    return ablation_grid(effects, away, **{"what": "log-odds of positive", "signed": True} | options)


def test_every_part_has_its_number_in_its_place():
    numbers = numbers_in_cells(grid())
    assert numbers == {
        "L0 H0": "+0.50", "L0 H1": "−0.25", "L0 attn": "+1.00", "L0 FF": "0.00",
        "L1 H0": "+0.10", "L1 H1": "+0.20", "L1 attn": "–", "L1 FF": "−2.00",
    }  # fmt: skip
    assert [*numbers][::2] == ["L0 H0", "L0 H1", "L0 attn", "L0 FF"]


def test_small_effects_have_more_digits():
    frame = grid(EFFECTS / 100, signed=False).frame
    assert set(frame["written"]) >= {"0.0050", "−0.0025", "0.0100"}


def test_a_click_tells_a_second_one_apart():
    frame = grid().frame.set_index("name")
    assert frame.loc["L1 FF", ["layer", "column", "away"]].tolist() == [1, 3, True]


def test_the_data_set_stands_under_the_pointer():
    over = np.full(EFFECTS.shape, np.nan)
    over[0, 0] = 0.123
    frame = grid(over=over).frame.set_index("name")
    assert frame.loc["L0 H0", "over"] == "0.123"
    assert frame.loc["L0 attn", "over"] == "not measured"


PATCHED = np.array([[0.5, -0.25, 1.0], [0.1, 0.0, -2.0]])  # two heads, feed-forward
COLUMNS = ("H0", "H1", "FF")
SPREAD = EffectSpread(
    sd=np.full((2, 3), 0.1),
    low=PATCHED - 0.15,
    high=PATCHED + 0.15,
    is_shown=np.abs(PATCHED) > 0.15,
    is_tested=PATCHED != 0,
    n=12,
)


def patched_grid(effects=PATCHED, **options):
    options = {"selected": (0, 1), "what": "change of the log-odds", "signed": True} | options
    return patch_grid(effects, COLUMNS, **options)


def test_every_patched_part_has_its_number_in_its_place():
    numbers = numbers_in_cells(patched_grid())
    assert numbers == {
        "L0 H0": "+0.50", "L0 H1": "−0.25", "L0 FF": "+1.00",
        "L1 H0": "+0.10", "L1 H1": "0.00", "L1 FF": "−2.00",
    }  # fmt: skip
    assert [*numbers][::2] == ["L0 H0", "L0 H1", "L0 FF"]


def test_small_effects_are_in_a_smaller_unit_which_the_title_says():
    figure = patched_grid(PATCHED / 1000)
    assert "+0.50" in set(figure.frame["written"])
    assert "thousandths" in str(figure.specification["title"])


def test_rounding_has_no_colour():
    cells, *_ = drawn(patched_grid(PATCHED * 1e-8))
    opacity = [float(cell["fill"].rstrip(")").split(",")[-1]) for cell in cells]
    assert max(opacity) < 1e-6


def test_of_means_only_those_with_an_effect_are_coloured():
    figure = patched_grid(spread=SPREAD)
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
    spread = EffectSpread(unknown, unknown, unknown, np.zeros((2, 3), bool), np.zeros((2, 3), bool), 1)
    assert set(patched_grid(spread=spread).frame["interval"]) == {"not known: one pair"}


def figure(effects=STAGE_EFFECTS, **options):
    style = {"query": 1, "what": "log-odds of positive", "signed": True}
    return stage_positions(effects, STAGES, TOKENS, **style | options)


def test_stages_go_down_and_positions_across():
    _, cover = drawn(figure(), width=600)
    corners = {cell["description"]: (cell["x"], cell["y"]) for cell in cover}
    assert corners["embedding, 0 the"][1] < corners["L0 after attention, 0 the"][1]
    assert corners["embedding, 0 the"][0] < corners["embedding, 1 film"][0] < corners["embedding, 2 the"][0]


def test_a_position_without_a_partner_says_so():
    frame = figure().frame.set_index("name")
    assert frame.loc["embedding, 1 film", "exact"] == "no partner"
    assert frame.loc["embedding, 2 the", "exact"] == "−1"


def test_many_positions_come_in_order():
    effects = np.zeros((2, 50))
    names = [f"r{index}" for index in range(50)]
    made = stage_positions(effects, STAGES, names, query=None, what="x", signed=True)
    _, cover = drawn(made, width=900)
    row = sorted(
        (cell for cell in cover if cell["description"].startswith("embed")), key=lambda cell: cell["x"]
    )
    assert [cell["description"] for cell in row] == [f"embedding, {index} r{index}" for index in range(50)]


def test_a_row_an_encoder_and_step():
    frame = pruning_curve({"a-pre-ln": PRE, "a-post-ln": POST}).frame
    assert len(frame) == 6
    assert frame[frame["encoder"] == "a-pre-ln"]["accuracy"].tolist() == [0.9, 0.9, 0.52]
    assert frame["went"].tolist() == ["", "L0 H1", "L1 H0", "", "L1 H1", "L0 H0"]
    assert frame["step"].tolist() == [0, 1, 2, 0, 1, 2]


def test_how_many_may_go_is_marked():
    made = pruning_curve({"a-pre-ln": PRE, "a-post-ln": POST})
    assert made.frames["may_go"]["step"].tolist() == [1, 2]
