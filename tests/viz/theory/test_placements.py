import numpy as np
import pytest

from tests.viz.scene import drawn, whole
from viz.theory.placements import (
    RunResult,
    hidden_norms,
    last_layer_gradient,
    layer_gradients,
    model_updates,
    seed_spread,
    spread_over_seeds,
    variant_channels,
    warmup_accuracies,
)

VALUES = {
    "pre-LN": np.array([[1.0, 2.0, 4.0], [3.0, 4.0, 8.0]]),
    "post-LN": np.array([[5.0, 5.0, 5.0], [5.0, 5.0, 5.0]]),
}
TITLES = {"x": "layers", "y": "norm", "what": "Norms over layers"}
LEMMA = np.array([[15.0, 20.0], [25.0, 40.0], [15.0, 15.0]])
DEPTHS = (2, 8, 32)
NORMS = {"post-LN": np.array([[1.0, 1.0, 1.0]]), "pre-LN": np.array([[0.8, 0.4, 0.2]])}
MOVED = {"DeepNorm": np.array([[0.0, 1.0, 2.0]])}
RUNS = [
    RunResult("pre-LN", 0.001, 0, 0.9, "0.9 %, of 1,000 digits"),
    RunResult("pre-LN", 0.01, 0, 0.4),
    RunResult("post-LN", 0.001, 30, None),
]


def texts(figure) -> list[str]:
    return [item["text"] for items in drawn(figure, width=600) for item in items if "text" in item]


def test_the_line_is_the_mean_and_the_band_reaches_from_least_to_largest():
    rows = spread_over_seeds(VALUES, (2, 3, 5))
    pre = rows[rows["variant"] == "pre-LN"]
    assert pre["position"].tolist() == [2, 3, 5]
    assert pre["mean"].tolist() == [2, 3, 6]
    assert pre["least"].tolist() == [1, 2, 4]
    assert pre["largest"].tolist() == [3, 4, 8]
    assert rows["seeds"].tolist() == [2] * 6


def test_placements_differ_in_shape_as_well_as_in_colour():
    four = dict.fromkeys(("pre-LN", "post-LN", "DeepNorm", "B2T"), np.array([[1.0]]))
    *_, points = drawn(seed_spread(four, (1,), **TITLES), width=500)
    assert len({point["shape"] for point in points}) == 4
    assert len({point["fill"] for point in points}) == 4


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_places_follow_the_scale(scale):
    doubling = {"pre-LN": np.array([[1.0, 2.0, 4.0]])}
    *_, points = drawn(seed_spread(doubling, (1, 2, 4), x_scale=scale, y_scale=scale, **TITLES), width=500)
    for axis in "xy":
        positions = [point[axis] for point in points]
        first, second = abs(positions[1] - positions[0]), abs(positions[2] - positions[1])
        assert second == pytest.approx(first if scale == "log" else 2 * first, rel=1e-6)


def test_a_zero_has_no_place_on_a_log_axis():
    *_, points = drawn(seed_spread({"B2T": np.array([[0.0, 1.0]])}, (0, 1), y_scale="log", **TITLES))
    assert len(points) == 1


def test_at_most_nine_positions_are_ticks():
    def ticks(n: int) -> list[int]:
        spec = whole(seed_spread({"B2T": np.ones((1, n))}, range(n), **TITLES))
        (result,) = (parameter["value"] for parameter in spec["params"] if parameter["name"] == "ticks")
        return result

    assert ticks(9) == list(range(9))
    assert ticks(24) == [0, 3, 6, 9, 12, 15, 18, 21]


def test_a_variant_keeps_its_colour_whichever_others_are_there():
    alone = variant_channels(["B2T"])["color"].to_dict()["scale"]
    among = variant_channels(["pre-LN", "post-LN", "B2T"])["color"].to_dict()["scale"]
    assert alone["range"][0] == among["range"][among["domain"].index("B2T")]
    assert len(set(among["range"])) == 3


def test_without_residual_connections_the_colour_stays_and_the_line_is_dashed():
    channels = variant_channels(["post-LN", "post-LN without residual"])
    colours, dashes = (channels[name].to_dict()["scale"]["range"] for name in ("color", "strokeDash"))
    shapes = channels["shape"].to_dict()["scale"]["range"]
    assert colours[0] == colours[1]
    assert shapes[0] == shapes[1]
    assert dashes[0] != dashes[1]


def test_an_unknown_placement_is_an_error():
    with pytest.raises(KeyError, match="sandwich"):
        seed_spread({"sandwich": np.ones((1, 1))}, (1,), **TITLES)


def test_the_bounds_and_the_line_carry_their_formulas_at_their_ends():
    ends = {"pre-LN": LEMMA[1][None], "post-LN": LEMMA[2][None]}
    _, _, (low,), (high,), (post,), *_, points = drawn(hidden_norms(ends, LEMMA), width=600)
    assert [text["text"] for text in (low, high, post)] == [
        "at least (1 + l/2) d",
        "pre-LN, at most (1 + 3l/2) d",
        "post-LN: 3d/2",
    ]
    assert (high["x"], high["y"]) == (points[1]["x"], points[1]["y"])
    assert (post["x"], post["y"]) == (points[3]["x"], points[3]["y"])
    assert low["y"] > high["y"]  # y counts down


def test_what_the_lemma_says_of_a_placement_stands_beside_that_one_alone():
    assert texts(hidden_norms({"post-LN": LEMMA[2][None]}, LEMMA)) == ["post-LN: 3d/2"]
    assert not texts(hidden_norms({"B2T": LEMMA[2][None]}, LEMMA))


def test_layers_count_from_1_behind_the_first():
    frames = hidden_norms({"pre-LN": np.array([[20.0, 30.0]])}, LEMMA).frames
    assert [frame["position"].tolist() for frame in frames.values()] == [[1, 2], [1, 2]]


def test_the_guide_falls_with_the_square_root_from_where_pre_ln_begins():
    guides = last_layer_gradient(NORMS, DEPTHS).frames["guides"]
    assert guides["falling"].tolist() == pytest.approx([0.8, 0.4, 0.2])


def test_without_pre_ln_the_guide_begins_where_the_first_curve_does():
    guides = last_layer_gradient({"post-LN": NORMS["post-LN"]}, DEPTHS).frames["guides"]
    assert guides["falling"].tolist() == pytest.approx([1, 0.5, 0.25])


def test_a_logarithmic_axis_has_a_number_above_the_highest_curve():
    """Post-LN lies above 1, and Vega alone wrote nothing above 1."""
    norms = {"pre-LN": np.array([[0.9, 0.14]]), "post-LN": np.array([[1.2, 1.3]])}
    figure = last_layer_gradient(norms, (2, 12))
    (ticks,) = (parameter["value"] for parameter in whole(figure)["params"] if parameter["name"] == "y_ticks")
    assert ticks == pytest.approx([0.1, 0.2, 0.5, 1, 2])
    *_, points = drawn(figure, width=500)
    assert all(0 < point["y"] < 340 for point in points)  # inside the axis


def test_layers_count_from_0():
    figure = layer_gradients({"pre-LN": np.array([[3.0, 2.0, 1.0]])})
    *_, points = drawn(figure, width=500)
    across, up = ([point[axis] for point in points] for axis in "xy")
    assert across == sorted(across)
    assert up == sorted(up)  # falling: y counts down
    assert figure.frame["position"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(("scale", "n"), [("linear", 3), ("log", 2)])
def test_steps_count_from_before_the_first(scale, n):
    *_, points = drawn(model_updates(MOVED, scale=scale), width=500)
    assert len(points) == n


def test_a_cell_is_an_accuracy_or_says_that_the_run_diverged():
    _, texts, _ = drawn(warmup_accuracies(RUNS), width=500)
    assert [text["text"] for text in texts] == ["90\u2009%", "40\u2009%", "diverged"]
    assert texts[0]["y"] == texts[1]["y"] < texts[2]["y"]
    assert texts[0]["x"] == texts[2]["x"] < texts[1]["x"]


def test_rows_are_placements_and_warm_ups_in_the_order_of_the_runs():
    figure = warmup_accuracies(RUNS)
    assert figure.frame["warmup"].tolist() == ["pre-LN, no warm-up"] * 2 + ["post-LN, 30 steps"]
    assert figure.frame["error"].tolist() == ["0.9 %, of 1,000 digits", "", ""]


@pytest.mark.parametrize("dark", [False, True])
def test_text_reads_on_every_cell(dark):
    _, texts, _ = drawn(warmup_accuracies(RUNS), width=500, dark=dark)
    assert [text["fill"] for text in texts[:2]] == (["black", "white"] if dark else ["white", "black"])
