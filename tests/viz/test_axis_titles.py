"""What the axes of the main figures say: a wrong title would tell a reader that something else is drawn."""

import numpy as np
import pandas as pd
import pytest

from viz.attention.token_bars import knock_out_bars, row_sums
from viz.attention.token_heatmaps import difference_heatmap, score_heatmap, weight_heatmap
from viz.builders.head_grids import entropy_change
from viz.builders.heatmap_figure import Heatmap
from viz.compare.norm_heatmap import norm_heatmap
from viz.compare.stage_curves import logit_curves, stage_curves
from viz.cost.length_scaling import length_scaling
from viz.inside.dot_product_distribution import dot_product_distribution
from viz.masks.attention_shift import attention_shift
from viz.masks.cell_board import cell_board
from viz.norm_placement.seed_strip import seed_strip
from viz.positions.neighbour_bars import neighbour_bars
from viz.positions.position_curves import error_curves, norm_curves, offset_curve, shift_curve
from viz.positions.position_heatmaps import learned_positions, pairs_of_positions, sinusoid_table
from viz.positions.position_similarities import position_similarity_map
from viz.positions.sinusoid_figures import counter_table, wave_curves
from viz.theory.placements import hidden_norms, last_layer_gradient, layer_gradients, model_updates
from viz.theory.warmup_accuracies import RunResult, warmup_accuracies
from viz.training.run_curves import run_curves

ONE, TWO, EVEN, HALF = np.ones((1, 2)), ("a", "b"), np.full((2, 2), 0.5), np.full(2, 0.5)
TABLE = pd.DataFrame({"step": [0, 1], "value": [1.0, 2.0], "run": ["a", "a"]})
BITS = {"position": 0, "title": "a", "heading": "bits"}
PRODUCTS = {"variance": 1, "reach": 2, "name": "q·k", "expected": "normal"}


def titles(figure):
    """Of the x and the y axis, the first that a layer names."""
    if isinstance(figure, Heatmap):
        layout = figure.specification.layout
        return layout.xaxis.title.text, layout.yaxis.title.text
    layers = list(layers_of(figure.specification))
    found = ([layer.get("encoding", {}).get(axis, {}).get("title") for layer in layers] for axis in "xy")
    return tuple(next(filter(None, each), None) for each in found)


def layers_of(chart):
    yield chart
    for layer in chart.get("layer", ()):
        yield from layers_of(layer)


@pytest.mark.parametrize(
    ("figure", "x", "y"),
    [
        (weight_heatmap(EVEN, TWO), "key", "query"),
        (score_heatmap(EVEN, TWO), "key", "query"),
        (difference_heatmap(EVEN, EVEN, TWO), "key", "query"),
        (cell_board(EVEN, TWO, mask=EVEN > 0, query=0), "key", "query"),
        (
            attention_shift(HALF, HALF, TWO, allowed=HALF > 0),
            "attention weight (share of the row)",
            "key (position and token)",
        ),
        (entropy_change(EVEN, EVEN, selected=(0, 0)), "head", "layer"),
        (row_sums(EVEN, TWO, query=0), "query (position and token)", "sum of the row"),
        (knock_out_bars(TWO, HALF, query=0, limit=1, what="P(a)"), None, "Δ P(a)"),
        (neighbour_bars(TWO, (0.5, 0.1), word="c"), "cosine similarity", None),
        (norm_heatmap(EVEN, TWO, TWO, limit=1, unit="patch"), "patch", "stage of the stream"),
        (
            stage_curves({"a": HALF}, TWO, y_title="mean"),
            "stage of the stream (mid: after attention, post: after feed-forward)",
            "mean",
        ),
        (logit_curves(EVEN, TWO, TWO, marked={}, title="a", domain=(0, 1)), "read off at", "logit"),
        (length_scaling([2], {"a": [1]}, quantity="time"), "sequence length n (positions)", "time"),
        (dot_product_distribution(HALF, **PRODUCTS), "q·k", "density"),
        (norm_curves({"a": HALF}, TWO), "position", "Euclidean length"),
        (error_curves({"a": HALF}), "position t", "root mean square error"),
        (
            offset_curve(np.arange(2), HALF, HALF, what="dot product", law="formula"),
            "offset φ = t − s (positions)",
            "dot product",
        ),
        (shift_curve([0, 1], EVEN, TWO, selected=0), "shift k, in positions", "probability of a"),
        (learned_positions(EVEN), "dimension of d_model", "position"),
        (sinusoid_table(EVEN, position=0), "dimension i", "position t"),
        (pairs_of_positions(EVEN, what="distance"), "position t", "position s"),
        (
            position_similarity_map(HALF, (1, 2), name="a", selected=None),
            "column of the patch grid",
            "row of the patch grid",
        ),
        (counter_table(EVEN, EVEN.astype(str), TWO, [0, 1], **BITS), "bits", "position t"),
        (wave_curves(TWO, EVEN, np.arange(2), EVEN, position=0), "position t", "value, from −1 to 1"),
        (layer_gradients({"pre-LN": ONE}), "layer", "gradient of the layer, ‖∂ℒ/∂W²‖"),
        (last_layer_gradient({"pre-LN": ONE}, [1, 2]), "layers L", "gradient of the last layer, ‖∂ℒ/∂W²‖"),
        (seed_strip((), title="a claim", axis="gradient"), "gradient · larger →", None),
        (
            hidden_norms({"pre-LN": ONE}, np.ones((3, 2))),
            "layers passed, l",
            "squared length of a vector, mean ‖x‖²",
        ),
        (model_updates({"pre-LN": ONE}), "step t", "change of the output, ‖F(x, θₜ) − F(x, θ₀)‖"),
        (warmup_accuracies([RunResult("pre-LN", 0.1, 0, 0.5)]), "learning rate", None),
        (run_curves(TABLE, y_title="loss", runs={"a": "#112233"}), "training step", "loss"),
        (run_curves(TABLE, y_title="loss", runs={"a": "#112233"}, log_x=True), "training step + 1", "loss"),
    ],
)
def test_the_axes_say_what_is_drawn(figure, x, y):
    assert titles(figure) == (x, y)
