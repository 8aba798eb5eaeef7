"""What every figure looks like, compared with `forms.json`: its axes, scales, legends, colours, tooltips and clicks.

Whoever changes a figure on purpose runs `python -m tests.viz.test_forms`, which writes the file anew: its difference shows
what else has changed. The numbers that a figure draws are tested where the figure is.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest

from tests.viz.attention import test_layer_pictures, test_linked_heads
from tests.viz.attention.test_head_overview import overview
from tests.viz.attention.test_head_view import PATTERN, several_heads, view_of
from tests.viz.attention.test_picture_patches import knocked_out, overlay
from tests.viz.attention.test_token_heatmaps import pattern
from tests.viz.attention.test_token_strip import SENTENCE, even, text
from tests.viz.builders.test_cells import grid
from tests.viz.compare import test_answer_bars, test_head_distances, test_stage_curves
from tests.viz.faithfulness import test_map_agreement
from tests.viz.heads import test_head_scatter, test_part_grids
from tests.viz.inputs import test_confusion_matrix, test_image_gallery
from tests.viz.inputs.test_image_gallery import gallery
from tests.viz.inside import (
    test_block_diagram,
    test_key_table,
    test_norm_figures,
    test_scale_figures,
    test_score_products,
    test_temperature_curve,
    test_vector_rows,
)
from tests.viz.norm_placement import test_seed_strip
from tests.viz.positions import (
    test_embedding_scatter,
    test_position_curves,
    test_position_heatmaps,
    test_sinusoid_figures,
)
from tests.viz.similarity import (
    test_patch_map,
    test_patch_pictures,
    test_similarity_matrix,
    test_text_map,
    test_text_ranking,
)
from tests.viz.theory import test_placements
from tests.viz.training import test_recorded_heads, test_run_curves
from viz.attention.linked_heads import linked_heads
from viz.attention.token_heatmaps import (
    cross_heatmap,
    difference_heatmap,
    minimap,
    score_heatmap,
    weight_heatmap,
)
from viz.attention.token_strip import knock_out_bars, row_sums, signed_strip, weight_strip
from viz.builders.cells import entropy_change, formation_map
from viz.builders.figure import Figure, VegaFigure
from viz.compare.stage_curves import norm_heatmap, stage_curves
from viz.cost.length_scaling import length_scaling, part_bars
from viz.export.save import numbers_table
from viz.faithfulness.map_agreement import removal_curve
from viz.heads.part_grids import pruning_curve
from viz.inside.norm_figures import norm_bars
from viz.inside.scale_figures import width_curves
from viz.inside.vector_rows import value_bars, vector_rows
from viz.masks.cell_board import attention_shift, cell_board
from viz.norm_placement.placement_diagram import placement_diagram
from viz.norm_placement.seed_strip import seed_strip
from viz.positions.matrix_equations import permutation_panels, sum_of_maps
from viz.positions.position_curves import error_curves, neighbour_bars, norm_curves, offset_curve, shift_curve
from viz.positions.position_heatmaps import (
    learned_positions,
    pairs_of_positions,
    shift_of_positions,
    similarity_of_positions,
    sinusoid_table,
)
from viz.positions.sinusoid_figures import clock_hands, wave_curves
from viz.theory.placements import (
    RunResult,
    hidden_norms,
    last_layer_gradient,
    layer_gradients,
    model_updates,
    seed_spread,
    warmup_accuracies,
)
from viz.training.recorded_heads import recorded_heads
from viz.training.run_curves import run_curves

FORMS = Path(__file__).with_name("forms.json")
TWO = ("a", "b")
ONE, HALF = np.ones((1, 2)), np.full(2, 0.5)
SQUARE = np.array([[0.75, 0.25], [0.5, 0.5]])


def figures() -> dict[str, Figure]:
    """Each figure by its name, small, in every form that it can take."""
    rows = test_vector_rows.ROWS
    placements = test_placements
    lines = test_seed_strip.LINES
    curve = test_map_agreement
    runs = {"y_title": "loss", "runs": test_run_curves.RUNS}
    table = test_run_curves.TABLE
    made: list[tuple[str, Figure]] = [
        ("head overview", overview()),
        ("linked heads", linked_heads(test_linked_heads.NOT_GOOD)),
        ("linked heads with a script", linked_heads(test_linked_heads.NOT_GOOD, channel="a")),
        ("linked heads, compact", linked_heads(test_linked_heads.NOT_GOOD, channel="a", compact=True)),
        ("linked heads, masked", linked_heads(test_linked_heads.MASKED, channel="a")),
        (
            "linked heads of a picture",
            linked_heads(test_linked_heads.GRID, picture=np.zeros((16, 24), np.uint8), channel="a"),
        ),
        ("lines between tokens", view_of(PATTERN, ["[CLS]", "good", "film", "good"], query=None).chart),
        ("lines of one query", view_of(PATTERN, ["[CLS]", "good", "film", "good"], query=3).chart),
        ("lines of several heads", several_heads(3).chart),
        ("weights on a picture, by layer", test_layer_pictures.figure_of(layer=2)),
        ("weights on a picture", overlay(query=2)),
        ("knocked-out patches", knocked_out()),
        ("small map", minimap(pattern(), framed=(range(40), range(40)))),
        ("weights on a text", weight_strip(text(SENTENCE), even(SENTENCE), query=0)),
        ("row sums", row_sums(SQUARE, TWO, query=0)),
        ("knocked-out tokens", knock_out_bars(TWO, HALF, query=0, limit=1, what="fall of P(a)")),
        ("weights", weight_heatmap(SQUARE, TWO)),
        ("weights between two inputs", cross_heatmap(SQUARE, TWO, TWO, query=1)),
        ("scores", score_heatmap(SQUARE, TWO)),
        ("difference of weights", difference_heatmap(SQUARE, SQUARE.T, TWO)),
        ("grid of heads", grid()),
        ("grid of heads, not signed", grid(signed=False)),
        ("change of the entropy", entropy_change(SQUARE, SQUARE.T, selected=(0, 0))),
        ("formation", formation_map(SQUARE, among=SQUARE, title="a")),
        ("distances of heads", test_head_distances.chart()),
        ("lengths of states", norm_heatmap(SQUARE, TWO, TWO, limit=1, unit="patch")),
        ("distances over a data set", test_head_distances.made()),
        ("curves over stages", stage_curves({"a": HALF, "b": HALF}, TWO, y_title="mean")),
        ("parts of an answer", test_answer_bars.figure()),
        ("parts and effects", test_answer_bars.figure(a=test_answer_bars.effects(*[0.5] * 6))),
        ("logits over stages", test_stage_curves.curves(b="#112233")),
        ("similarity of stages", test_stage_curves.heatmap()),
        ("similarity of stages, signed", test_stage_curves.heatmap(signed=True, side=40)),
        ("cost over length", length_scaling([2, 4], {"a": [1, 2], "b": [1, 4]})),
        ("parts of an encoder", part_bars(TWO, (1, 3), quantity="parameters")),
        ("removal", removal_curve("deletion", (0, 2, 4), curve.CURVE, curve.ORDERS, **curve.SAID)),
        ("scores and effects", test_map_agreement.figure()),
        ("ablation", test_part_grids.grid()),
        ("ablation, not signed", test_part_grids.grid(over=test_part_grids.EFFECTS, signed=False)),
        ("digits of a head", test_image_gallery.figure()),
        ("heads by two numbers", test_head_scatter.scatter()),
        ("patched parts", test_part_grids.patched_grid()),
        ("patched parts over pairs", test_part_grids.patched_grid(spread=test_part_grids.SPREAD)),
        ("pruning", pruning_curve({"a": test_part_grids.PRE, "b": test_part_grids.POST})),
        ("stages and positions", test_part_grids.figure()),
        ("stages and positions, not signed", test_part_grids.figure(signed=False)),
        ("confusion matrix", test_confusion_matrix.matrix()),
        ("pictures", gallery(selected=0)),
        ("average over the batch", test_norm_figures.table("batch", [[1, 2, 3]])),
        ("average over features", test_norm_figures.table("features", [[2], [3]])),
        ("pre-LN block", test_block_diagram.diagram("pre", ("norm_attention",))),
        ("post-LN block", test_block_diagram.diagram("post")),
        ("dot products", test_scale_figures.drawn_of()),
        ("variance of heads", test_scale_figures.variance()),
        ("with and without", test_scale_figures.compared()),
        ("one norm", norm_bars(HALF, title="x", reading="how to read it")),
        ("temperature", test_temperature_curve.curve()),
        ("steps of attention", test_key_table.table()),
        ("products of a score", test_score_products.figure()),
        ("values before and after", value_bars({"u": -0.1}, what="after", before={"u": -2.0}, was="before")),
        ("vectors", vector_rows(rows, what="x", chosen="1 b", totals={"1 b": 1.5}, total="sum")),
        ("vectors in groups", vector_rows({"z": np.arange(4.0)}, what="z", groups=["H0", "H1"], chosen="H1")),
        *(
            (
                f"{measure} over the width",
                width_curves(test_scale_figures.MEASURED, measure, d_k=8, power=0.5),
            )
            for measure in ("variance", "entropy", "gradient")
        ),
        ("permutation", permutation_panels(SQUARE, SQUARE, np.array([1, 0]), TWO, query=0, is_equal=True)),
        ("shift of attention", attention_shift(HALF, HALF, TWO, allowed=HALF > 0)),
        ("cells", cell_board(SQUARE, TWO, mask=SQUARE > 0.25, query=0)),
        ("seeds", seed_strip(lines, **test_seed_strip.TITLES)),
        ("seeds, logarithmic", seed_strip(lines, **test_seed_strip.TITLES, log=True)),
        ("seeds, without a legend", seed_strip(lines, **test_seed_strip.TITLES, has_legend=False)),
        ("where the norm stands", placement_diagram("pre")),
        ("embeddings", test_embedding_scatter.scatter(selected=1, neighbours=[0, 2])),
        ("neighbours", neighbour_bars(TWO, (0.5, 0.1), word="c")),
        ("lengths of embeddings", norm_curves({"a": HALF}, TWO)),
        ("errors", error_curves({"a": HALF})),
        ("offset", offset_curve(np.arange(2), HALF, HALF, what="dot product", law="formula")),
        ("shift", shift_curve([0, 1], SQUARE, TWO, selected=0)),
        ("similar positions", similarity_of_positions(SQUARE, TWO)),
        ("learned positions", learned_positions(SQUARE)),
        ("table of sinusoids", sinusoid_table(SQUARE, position=0)),
        ("matrix of a shift", shift_of_positions(SQUARE, pair=0)),
        ("pairs of positions", pairs_of_positions(SQUARE, what="distance")),
        ("similar patches", test_position_heatmaps.chart(selected=3)),
        ("similar patches of all", test_position_heatmaps.small_maps()),
        ("signed numbers on a text", signed_strip(text(SENTENCE), even(SENTENCE), limit=1, what="adds")),
        ("similarity by pairs", test_similarity_matrix.figure()),
        ("ranking of texts", test_text_ranking.figure()),
        ("patches like one", test_patch_map.of_two()),
        ("patches in three colours", test_patch_pictures.colour_map()),
        ("lengths of patches", test_patch_pictures.norm_map(registers=[np.ones(2), np.ones(1)])),
        ("patches by layer", test_patch_pictures.small()),
        ("patches of a text", test_text_map.figure()),
        ("order of the tokens", test_position_curves.strip(selected=1)),
        ("clocks", clock_hands(test_sinusoid_figures.QUARTERS, test_sinusoid_figures.LENGTHS)),
        ("bits", test_sinusoid_figures.table()),
        ("waves", wave_curves(TWO, SQUARE, np.arange(2), SQUARE, position=0)),
        ("sum of maps", sum_of_maps({"a": SQUARE, "b": SQUARE}, TWO)),
        ("gradients of layers", layer_gradients({"pre-LN": ONE})),
        ("gradients of the last layer", last_layer_gradient({"pre-LN": ONE}, [1, 2])),
        ("lengths of hidden states", hidden_norms({"pre-LN": ONE}, np.ones((3, 2)))),
        ("updates", model_updates({"pre-LN": ONE})),
        ("updates, logarithmic", model_updates({"pre-LN": ONE}, scale="log")),
        ("spread over seeds", seed_spread(placements.VALUES, (2, 3, 5), **placements.TITLES)),
        ("grid of warm-ups", warmup_accuracies([RunResult("pre-LN", 0.1, 0, 0.5)])),
        ("runs", run_curves(table.assign(task=["a", "b"] * 2), **runs)),
        ("runs, logarithmic", run_curves(table, **runs, log_x=True, log_y=True, title="a")),
        ("recorded heads", recorded_heads([test_recorded_heads.run(), test_recorded_heads.run(name="post")])),
        ("lines of a run", run_curves(table.assign(line=[0, 0, 1, 1]), **runs, line_title="layer")),
    ]
    return dict(made)


def form(figure: Figure) -> Any:
    """The specification without the rows of its data frames, as JSON holds it."""
    if isinstance(figure, VegaFigure):
        whole = json.dumps(figure.specification)
        # Altair names a view after a hash of all that it holds.
        for index, view in enumerate(dict.fromkeys(re.findall(r"view_[0-9a-f_]+", whole))):
            whole = whole.replace(view, f"view {index}")
    else:
        chart = figure.specification
        chart.layout.template = None  # Plotly's own, or what Streamlit makes of it once it is imported
        whole = chart.to_json(engine="json")
    return rounded(json.loads(whole)) | {"columns of its file": [*numbers_table(figure).columns]}


def rounded(value: Any) -> Any:
    """Of numbers 6 digits: the last ones differ between processors."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) and math.isfinite(value) else value


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    return json.loads(FORMS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def made() -> dict[str, Figure]:
    return figures()


def test_all_figures_are_stored_and_no_other(stored, made):
    assert list(stored) == list(made)


@pytest.mark.parametrize("name", list(json.loads(FORMS.read_text(encoding="utf-8"))))
def test_a_figure_looks_as_it_did(name, stored, made):
    assert form(made[name]) == stored[name], "if it is meant: python -m tests.viz.test_forms"


def test_every_chart_is_valid(made):
    for figure in made.values():
        if isinstance(figure, VegaFigure):
            alt.Root.validate(figure.specification)


def write() -> None:
    lines = (
        f"{json.dumps(name)}: {json.dumps(form(figure), ensure_ascii=False)}"
        for name, figure in figures().items()
    )
    FORMS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write()
