"""The tab This encoder and the experiments, for encoders of every kind of positions."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls import input_controls, positions_controls
from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.map_controls import HEAD, LAYER
from app_pages.controls.positions_controls import (
    EXPERIMENT,
    ORDER_SEED,
    OWN_KIND,
    OWN_ROTATED,
    SHIFT_BY,
)
from model.capture import activations, capture
from model.checkpoint import load
from model.experiments.position_kinds import distance_bias, grid_biases, map_sizes
from tests.app_pages.charts import described, shown, table, weights
from tests.app_pages.positions.test_experiments import written
from tests.app_pages.shown_text import shown_text
from tests.model.huggingface.folders import SENTENCE, build
from viz.builders.number_format import format_number, percent

Open = Callable[..., AppTest]

PAGE = "app_pages/positions/page.py"
PICTURES = ("DINOv3ViTModel", "BeitModel")
SHIFT, LEAVE_OUT = "shift the positions", "leave the positions out"


@pytest.fixture
def open_own(open_app: Open, checkpoints: Path) -> Open:
    """Opens the page with a new encoder of an architecture."""

    def opened(architecture: str, *choices: object, part: str = "This encoder", **query: object) -> AppTest:
        build(checkpoints / "own", architecture)
        model_input = KIND.to("Picture") if architecture in PICTURES else input_controls.TEXT.to(SENTENCE)
        return open_app(
            PAGE, positions_controls.PART.to(part), model_input, CHECKPOINT.to("own"), *choices, **query
        )

    return opened


# Rotated


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", ["ModernBertModel", "EsmModel", "NomicBertModel"])
def test_a_score_over_the_distance(open_own, checkpoints, architecture):
    app = open_own(architecture, LAYER.to(1), HEAD.to(2), query="3 is", positions_own_key="6 at")
    score = capture(load(str(checkpoints / "own")), SENTENCE).scores[1, 2, 3, 6]
    assert "L1 H2, query `3 is` and key `6 at`" in shown_text(app)
    assert f"At their own offset, +3, the score is **{format_number(score, '.3f')}**" in shown_text(app)
    total = described(app, "Score over the offset")["tables"]
    curve = next(rows for rows in total if list(rows.columns) == ["offset", "amount"]).set_index("offset")
    assert curve.loc[3, "amount"] == pytest.approx(score, abs=1e-5)
    pairs = weights(shown(app, "positions_score_pairs"))
    assert pairs.shape == (3, 79)
    assert pairs[:, 39 + 3].sum() == pytest.approx(score, abs=1e-5)


def test_a_layer_with_a_window_says_how_far_it_sees(open_own):
    assert "Grey: keys that a query of L1 does not see; it sees ±2 positions" in shown_text(
        open_own("ModernBertModel", LAYER.to(1))
    )


def test_a_pair_moved_along_keeps_its_score(open_own):
    app = open_own("EsmModel", OWN_ROTATED.to("moved along"), query="3 is", positions_own_key="6 at")
    page = shown_text(app)
    assert "bold the key's, by its position 6, faint the query's, by 3" in page
    assert "Over all 37 places with the same offset" in page
    (largest,) = re.findall(r"the largest difference is \$(.*?)\$, which is rounding", page)
    assert written(largest) < 1e-5
    assert len([chart for chart in app.get("vega_lite_chart") if "as clocks" in chart.proto.spec]) == 2


def test_patches_are_rotated_by_row_and_column(open_own, checkpoints):
    # patches of a 4 × 4 grid behind class token and four registers: r1c2 and r2c0
    app = open_own("DINOv3ViTModel", LAYER.to(1), query="r1c2", positions_own_key="r2c0")
    loaded = load(str(checkpoints / "own"))
    assert "The key is 1 row below and 2 columns to the left of the query" in shown_text(app)
    (own,) = re.findall(r"the score is \*\*(.*?)\*\*", shown_text(app))
    values = weights(shown(app, "positions_score_pairs"))
    assert values.shape == (7, 7)
    assert format_number(values[3 + 1, 3 - 2], ".3f") == own
    assert loaded.config.n_before_patches == 5
    app.segmented_control(key=OWN_ROTATED.key).set_value("moved along").run()
    assert "Over all 6 places with the same offset" in shown_text(app)  # 3 rows, 2 columns


def test_the_class_token_is_not_offered_where_it_is_not_rotated(open_own):
    app = open_own("DINOv3ViTModel", query="[CLS]", forgiven=["query"])
    assert app.selectbox(key="query").value == 5 + 8
    assert app.selectbox(key="query").options[0] == "r0c0"


# Biased


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "remark"),
    [("T5EncoderModel", "All layers share it."), ("UMT5EncoderModel", "Each layer has its own.")],
)
def test_a_bias_over_the_distance(open_own, checkpoints, architecture, remark):
    app = open_own(architecture, LAYER.to(1), HEAD.to(2))
    assert remark in shown_text(app)
    bias = distance_bias(load(str(checkpoints / "own")), 1)
    rows = table(app, "Bias on the scores over", "head", "offset", "bias")
    for head in range(4):
        own = rows[rows["head"] == head].sort_values("offset")["bias"]
        np.testing.assert_allclose(own, bias.by_head[head], rtol=1e-5)
    assert rows[rows["chosen"]]["head"].unique().tolist() == [2]
    assert f"L1 H2 adds most, **{format_number(bias.by_head[2].max(), '+.2f')}**" in shown_text(app)


def test_far_keys_share_a_bias_from_the_distance_that_the_curve_shows(open_own, checkpoints):
    app = open_own("T5EncoderModel")
    bias = distance_bias(load(str(checkpoints / "own")), 0)
    (distance,) = re.findall(r"keys (\d+) or more positions away share", shown_text(app))
    later = dict(zip(bias.offsets.tolist(), bias.by_head.T.tolist(), strict=True))
    n = int(distance)
    assert all(later[n] == later[further] for further in range(n, max(later)))
    assert all(later[-n] == later[-further] for further in range(n, max(later)))
    assert later[n - 1] != later[n] or later[1 - n] != later[-n]


def test_an_encoder_with_vectors_and_a_bias_has_both(open_own):
    app = open_own("MPNetModel")
    assert app.segmented_control(key="positions_own_kind").options == ["added", "biased"]
    assert "learned table" in shown_text(app)
    app.segmented_control(key="positions_own_kind").set_value("biased").run()
    assert "What is added to a score, over the distance" in shown_text(app)


def test_a_bias_on_the_grid(open_own, checkpoints):
    app = open_own("BeitModel", HEAD.to(3))
    bias = grid_biases(load(str(checkpoints / "own")), 0)
    np.testing.assert_allclose(weights(shown(app, "positions_own_bias_map")), bias.by_offset[3], rtol=1e-5)
    assert table(app, "Bias on the scores by", "head", "row", "column", "bias")["head"].nunique() == 4
    as_query = format_number(bias.of_class_token[3, 0], "+.2f")
    assert f"**{as_query}** with the class token as query and a patch as key" in shown_text(app)


# Windowed


def test_windows_are_read_off_the_masks(open_own):
    app = open_own("ModernBertModel", OWN_KIND.to("windowed"))
    assert "After L0, a token can hold information from everywhere." in shown_text(app)
    assert "every token sees all others in 1 of 3 layers" in shown_text(app)
    bars = table(app, "How far each of 3 layers sees", "layer", "before", "after")
    assert bars["before"].tolist() == [-19, -19, -19, -19, -2, -2]


def test_a_causal_mask_lets_tokens_see_what_came_before(open_own):
    app = open_own("CLIPTextModel", OWN_KIND.to("causal"))
    assert app.segmented_control(key="positions_own_kind").options == ["added", "causal"]
    assert "can hold information from the token itself and all earlier ones" in shown_text(app)
    assert "No layer sees later tokens: the mask is causal." in shown_text(app)
    assert "every token sees all others in 0 of " in shown_text(app)


# Disentangled


def test_terms_of_relative_positions(open_own, checkpoints):
    app = open_own("DebertaV2Model", LAYER.to(1), HEAD.to(2), query="3 is", positions_own_key="6 at")
    loaded = load(str(checkpoints / "own"))
    score = capture(loaded, SENTENCE).scores[1, 2, 3, 6]
    assert f"the score is **{format_number(score, '.3f')}**" in shown_text(app)
    names = [f"blocks.1.attention.{name}" for name in ("content_to_position", "position_to_content")]
    expected = [float(values[0, 2, 3, 6]) for values in activations(loaded, [SENTENCE], names).values()]
    rows = table(app, "Score over the offset", "part", "offset", "amount")
    at_own = rows[rows["offset"] == 3].set_index("part")["amount"]
    assert at_own[["content to position", "position to content"]].tolist() == pytest.approx(
        expected, abs=1e-5
    )
    sizes = map_sizes(loaded, SENTENCE, 1)
    share = sizes["content_to_content"][2] / sum(values[2] for values in sizes.values())
    assert f"content to content **{percent(float(share), 0)}**" in shown_text(app)


# Experiments

RELATIVE = ("ModernBertModel", "EsmModel", "T5EncoderModel", "MPNetModel", "DebertaV2Model")
# what is left out, and what a shift leaves as it is
SAID = {
    "ModernBertModel": ("Queries and keys are not rotated", "a rotated query and a rotated key"),
    "EsmModel": ("Queries and keys are not rotated", "a rotated query and a rotated key"),
    "T5EncoderModel": ("No bias by distance is added", "The bias on a score"),
    "DebertaV2Model": ("The terms with relative positions are left out", "The relative position of query"),
    "DINOv3ViTModel": ("Queries and keys are not rotated", "Class token and registers are not rotated"),
    "BeitModel": ("No bias by distance is added", "The bias on a score"),
}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", RELATIVE)
def test_shuffling_without_positions_leaves_rounding_or_windows(open_own, architecture):
    page = shown_text(open_own(architecture, ORDER_SEED.to(2), part="Experiments"))
    result = re.search(r"\*\*\$(.*?)\$\*\* with positions, \*\*\$(.*?)\$\*\* without", page)
    assert result is not None
    with_positions, without = map(written, result.groups())
    assert with_positions > 1e-3
    if architecture == "ModernBertModel":
        assert without > 1e-3
        assert "Even without positions the order counts in this encoder" in page
    else:
        assert without < 1e-5
        assert "remain are rounding" in page


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", SAID)
def test_leaving_positions_out_says_what_is_left_out(open_own, architecture):
    app = open_own(architecture, EXPERIMENT.to(LEAVE_OUT), part="Experiments")
    assert SAID[architecture][0] in shown_text(app)
    (change,) = re.findall(r"A_\{ij\}\|\$: \*\*(.*?)\*\*", shown_text(app))
    assert float(change) > 1e-3
    assert ("Masks stay" in shown_text(app)) == (architecture == "ModernBertModel")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", SAID)
def test_a_shift_leaves_rounding_where_distances_count(open_own, architecture):
    app = open_own(architecture, EXPERIMENT.to(SHIFT), SHIFT_BY.to(2), part="Experiments")
    assert SAID[architecture][1] in shown_text(app)
    (change,) = re.findall(r"A_\{ij\}\|\$: \*\*(.*?)\*\*", shown_text(app))
    if architecture == "DINOv3ViTModel":
        assert float(change) > 1e-4
        assert "rounding" not in shown_text(app)
    else:
        assert written(change.strip("$")) < 1e-5
        assert "Any change is rounding" in shown_text(app)
