"""The Python in the menus of figures: for every page it is run, and gives the figure that the page drew."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app_pages.controls.inside_a_head_controls import STEP_TITLES
from app_pages.controls.pages import PAGES
from app_pages.show import download
from app_pages.subject.subject import OPENED, FileSubject
from app_pages.toolkit.expression import Expression
from loupe import from_arrays, save_record
from model import checkpoint
from model.atlas.results import HEADS, read_heads
from tests.model import tiny
from tests.model.huggingface.folders import SENTENCE, build
from tests.model.similarity.test_text_on_picture import BOTH
from tests.slow import one_of_each
from viz.builders.figure import Figure
from viz.builders.heatmap_figure import Heatmap

ROOT = Path(__file__).parents[2]
TEXT = {"kind": "Text", "text": "a great film, not bad"}
DIGIT = {"kind": "Digit", "digit": "3"}
PARTS = {"compare_stream": "answer by part"}
SIMILARITY = {"compare_what": "two inputs", "compare_part": "Similarity"}
STREAM, TINY = {"compare_part": "Stream"}, {"theory_depth": "2", "theory_seeds": "1"}
ABLATED, OVER = {"heads_part": "Ablate"}, {"ablate_over": "data set"}
EXPERIMENTS, SCALE = {"positions": "Experiments"}, {"inside": "Why √d_k"}
OWN, FAITHFUL = {"positions": "This encoder"}, {"faithful": "true"}
# Page, what stands in its address, and the figures that it shows.
STATES: list[tuple[str, dict[str, str], str]] = [
    ("attention", TEXT | FAITHFUL, "matrix overview faithful_points faithful_deletion faithful_insertion"),
    ("attention", DIGIT | {"layer": "1"}, "matrix overview picture"),
    ("attention", TEXT | {"lens": "rollout", "layer": "1"}, "matrix overview"),
    ("attention", TEXT | {"view": "lines", "hide_special": "true"}, "overview lines tokens"),
    ("attention", TEXT | {"view": "one query by layer"}, "overview by_layer tokens"),
    ("attention", DIGIT | {"view": "one query by layer"}, "overview overlay overview_by_layer"),
    ("inside_a_head", TEXT, "inside_map inside_table inside_input"),
    ("inside_a_head", DIGIT | {"inside_step": STEP_TITLES["input"]}, "inside_map inside_rows_input"),
    ("inside_a_head", TEXT | {"inside_step": STEP_TITLES["norm_attention"]}, "inside_rows_norm_attention"),
    ("inside_a_head", TEXT | {"inside_step": STEP_TITLES["project"]}, "inside_rows_project"),
    ("inside_a_head", TEXT | {"inside_step": STEP_TITLES["concatenate"]}, "inside_rows_concatenate"),
    ("inside_a_head", TEXT | {"inside_step": STEP_TITLES["output"]}, "inside_rows_output"),
    ("inside_a_head", TEXT | {"inside_step": STEP_TITLES["add_attention"]}, "inside_rows_add_attention"),
    ("inside_a_head", TEXT | {"inside_step": STEP_TITLES["expand"]}, "inside_units"),
    (
        "inside_a_head",
        TEXT | {"inside_step": STEP_TITLES["contract"]},
        "inside_rows_units inside_rows_contract",
    ),
    (
        "inside_a_head",
        TEXT | {"inside_step": STEP_TITLES["add_feed_forward"]},
        "inside_rows_add_feed_forward",
    ),
    ("inside_a_head", SCALE, "inside_products inside_variance inside_entropy inside_gradient"),
    (
        "inside_a_head",
        SCALE | TEXT | {"inside_scale": "this encoder"},
        "inside_own_products inside_own_variance inside_own_entropy inside_own_gradient",
    ),
    (
        "inside_a_head",
        SCALE | TEXT | {"inside_scale": "temperature", "inside_temperature": "2"},
        "inside_curve inside_row_trained inside_row_changed",
    ),
    ("inside_a_head", TEXT | {"inside_why": "true", "layer": "1"}, "inside_score"),
    (
        "inside_a_head",
        TEXT | {"inside": "LayerNorm"},
        "inside_typed_x inside_typed_z inside_own_x inside_own_z inside_own_out inside_over_features inside_over_batch",
    ),
    ("heads", TEXT | {"heads_scatter": "true"}, "heads_plot"),
    ("heads", TEXT | {"heads_scatter": "true", "heads_across": "adds to the answer"}, "heads_plot"),
    ("heads", TEXT | ABLATED | {"ablated": "h0-1.f1"}, "ablate_grid ablate_input ablate_overview_before"),
    (
        "heads",
        DIGIT | ABLATED | {"ablated": "p2"},
        "ablate_overview_after ablate_map_before ablate_map_after",
    ),
    ("heads", TEXT | {"heads_part": "Patch"}, "patch_heads patch_positions"),
    ("masks", TEXT | {"masks_keys": "2"}, "masks_map_scores masks_map_pattern masks_map_change"),
    ("masks", DIGIT | {"masks_keys": "2"}, "masks_patches masks_map_scores"),
    ("masks", TEXT | {"masks_kind": "Block pairs", "masks_cells": "1-2"}, "masks_board masks_map_change"),
    ("masks", TEXT | {"masks_part": "What follows", "masks_keys": "2"}, "masks_entropy masks_shift"),
    ("masks", TEXT | {"masks_part": "Ways of masking", "masks_keys": "2"}, "masks_row_sums"),
    (
        "positions",
        {"positions": "Sinusoids", **TEXT},
        "positions_clocks positions_table positions_waves positions_bits positions_sines positions_dot_matrix positions_dot_curve "
        "positions_distance_matrix positions_distance_curve positions_shifted_clocks positions_shift_matrix positions_shift_errors "
        "positions_sum",
    ),
    ("positions", {"positions": "By distance"}, "positions_rotated"),
    ("positions", {"positions": "By distance", "positions_kind": "penalty (ALiBi)"}, "positions_alibi"),
    ("positions", {"positions": "By distance", "positions_kind": "learned table (T5)"}, "positions_buckets"),
    ("positions", OWN | TEXT, "positions_own_lengths"),
    ("positions", OWN | TEXT | {"positions_own": "all pairs"}, "positions_own_pairs"),
    ("positions", OWN | TEXT | {"positions_own": "the numbers"}, "positions_own_numbers"),
    ("positions", OWN | DIGIT, "positions_own_grid positions_own_map"),
    (
        "positions",
        EXPERIMENTS | DIGIT,
        "positions_try_input_first positions_try_input_second positions_try_map_before positions_try_map_after positions_try_orders",
    ),
    (
        "positions",
        EXPERIMENTS | TEXT | {"positions_try": "leave the positions out"},
        "positions_try_map_after",
    ),
    ("positions", EXPERIMENTS | TEXT | {"positions_try": "shift the positions"}, "positions_try_shifts"),
    ("positions", EXPERIMENTS | TEXT | {"positions_try": "reorder the input of one head"}, "permutation"),
    (
        "positions",
        TEXT | {"positions": "Embeddings"},
        "positions_map positions_map_nearest positions_map_vocabulary",
    ),
    ("positions", DIGIT | {"positions": "Embeddings", "positions_map_method": "t-SNE"}, "positions_map"),
    ("norm_placement", {}, "block_pre block_post"),
    ("norm_placement", TEXT | {"norm_figure": "what an answer is made of"}, "answer_parts"),
    ("compare", TEXT, "matrix_first matrix_second"),
    ("compare", DIGIT, "matrix_first picture_first"),
    ("compare", TEXT | {"compare_view": "difference"}, "difference grid_distance grid_entropy"),
    ("compare", TEXT | {"compare_view": "distances of all heads"}, "distances"),
    ("compare", TEXT | {"compare_part": "Knock-out"}, "knock_out_first knock_out_second"),
    ("compare", DIGIT | {"compare_part": "Knock-out"}, "knock_out_first knock_out_second"),
    ("compare", TEXT | {"compare_what": "two inputs", "compare_part": "Cross-attention"}, "cross"),
    ("compare", TEXT | SIMILARITY, "similarity_matrix similarity_first similarity_second"),
    ("compare", DIGIT | SIMILARITY, "similarity_matrix similarity_first similarity_second"),
    (
        "compare",
        TEXT | SIMILARITY | {"similarity_view": "several texts"},
        "similarity_ranking similarity_difference",
    ),
    (
        "compare",
        TEXT | SIMILARITY | {"similarity_view": "hidden words"},
        "similarity_matrix similarity_first similarity_second",
    ),
    (
        "compare",
        TEXT | SIMILARITY | {"similarity_view": "input tokens"},
        "similarity_matrix similarity_first similarity_second",
    ),
    ("compare", DIGIT | SIMILARITY | {"similarity_view": "one patch"}, "patch_map"),
    (
        "compare",
        DIGIT | SIMILARITY | {"similarity_view": "three colours"},
        "patch_colours patch_colours_layers",
    ),
    ("compare", DIGIT | SIMILARITY | {"similarity_view": "norms"}, "patch_norms patch_norms_layers"),
    ("compare", TEXT | STREAM, "stream_mean norms_first norms_second"),
    ("compare", TEXT | STREAM | {"compare_stream": "shares"}, "stream_shares"),
    ("compare", TEXT | STREAM | {"compare_stream": "answer by layer"}, "logits_first stream_answer"),
    ("compare", TEXT | STREAM | PARTS, "answer_parts"),
    ("compare", DIGIT | STREAM | PARTS | {"without_heads": "true"}, "answer_parts"),
    ("compare", TEXT | STREAM | {"compare_stream": "spread of the tokens"}, "stream_uniformity"),
    ("compare", TEXT | STREAM | {"compare_stream": "entropy of the heads"}, "stream_entropy"),
    ("compare", TEXT | STREAM | {"compare_stream": "cosines"}, "cosines_first cosines_second"),
    ("compare", DIGIT | STREAM | {"compare_stream": "representations"}, "cka"),
    ("theory", TINY, "theory_last theory_layers theory_hidden"),
    ("theory", TINY | {"theory_part": "First steps", "theory_steps": "10"}, "theory_updates"),
    ("training", {"kind": "Digit"}, "film formation_mnist-pre-ln curves_mnist-pre-ln"),
    ("training", {"kind": "Digit", "training": "Training history"}, "history_loss history_accuracy"),
    ("cost", {}, "cost_parameters cost_multiply_adds cost_crossing"),
    ("many_inputs", {"kind": "Digit"}, "many_confusion"),
]
# Figures of what was measured over a data set, which is stored beside the encoders of the project.
STORED: list[tuple[str, dict[str, str], str]] = [
    ("heads", {"heads_part": "Relations"}, "relation_dots link_arcs"),
    ("heads", {"heads_part": "Examples", "kind": "Digit"}, "heads_examples"),
    ("heads", ABLATED | OVER, "prune_curve"),
    ("heads", TEXT | {"heads_scatter": "true", "heads_of": "data set"}, "heads_plot"),
    (
        "heads",
        DIGIT | {"heads_scatter": "true", "heads_of": "data set", "heads_across": "adds to the answer"},
        "heads_plot",
    ),
    ("norm_placement", {"norm_stream": "true"}, "norm_lengths claim_stream"),
    (
        "compare",
        TEXT | {"compare_view": "distances of all heads"},
        "distances spread_of_pairs seeds_distances",
    ),
    ("theory", TINY | {"theory_part": "First steps", "theory_steps": "10"}, "theory_stored"),
]


def compare(result: Figure, expected: Figure) -> None:
    assert type(result) is type(expected)
    if isinstance(expected, Heatmap):
        assert result.specification == expected.specification
        return
    assert result.specification == expected.specification
    assert result.frames.keys() == expected.frames.keys()
    for name, frame in expected.frames.items():
        pd.testing.assert_frame_equal(result.frames[name], frame, rtol=1e-5, atol=1e-7)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The figures that a page gives to its menus, by key."""
    figures: dict[str, Any] = {}
    original = download.download

    def collect(figure: Any, key: str, *, other_figures: Mapping[str, Any] = {}, **_options: bool) -> None:
        figures.update({key: figure, **other_figures})

    for path in (ROOT / "app_pages").rglob("*.py"):
        if path.stem not in ("page", "__init__"):
            import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for module in list(sys.modules.values()):
        if getattr(module, "download", None) is original:
            monkeypatch.setattr(module, "download", collect)
    return figures


def run_all(figures: Mapping[str, Any], keys: str) -> None:
    assert set(keys.split()) <= set(figures)
    for key, figure in figures.items():
        assert isinstance(figure, Expression), key
        names: dict[str, Any] = {}
        exec(figure.python(), names)
        compare(names["figure"], figure())


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("page", "query", "keys"), one_of_each(STATES))
def test_python_gives_the_figure(open_app, drawn, page, query, keys):
    app = open_app(PAGES[page], **query)
    assert not app.exception, app.exception
    run_all(drawn, keys)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("page", "query", "keys"), one_of_each(STORED))
def test_python_gives_the_figure_of_stored_numbers(open_app, drawn, monkeypatch, page, query, keys):
    monkeypatch.setattr(checkpoint, "CHECKPOINTS", ROOT / "checkpoints")
    app = open_app(PAGES[page], **query)
    assert not app.exception, app.exception
    run_all(drawn, keys)


def test_python_of_a_record_reads_its_file(open_app, drawn, tmp_path, monkeypatch):
    pattern = np.random.default_rng(0).dirichlet(np.ones(3), (2, 3, 3)).astype(np.float32)
    record = from_arrays(pattern, ("[CLS]", "film", "[SEP]"))
    monkeypatch.chdir(tmp_path)
    save_record(record, "mine.npz", {})
    opened = FileSubject(file_name="mine.npz", record=record, settings={}, picture=None)
    app = open_app(PAGES["attention"], session={OPENED: opened}, kind="Record", lens="rollout", layer="1")
    assert not app.exception, app.exception
    assert "read_record('mine.npz')" in drawn["matrix"].python()
    run_all(drawn, "matrix overview")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "keys"),
    [
        ("ModernBertModel", "positions_score_curves positions_score_pairs"),
        ("DebertaV2Model", "positions_own_terms positions_own_shares"),
    ],
)
def test_python_of_positions_by_distance(open_app, drawn, checkpoints, architecture, keys):
    build(checkpoints / "own", architecture)
    query = {"kind": "Text", "text": SENTENCE, "checkpoint": "own", "layer": "1"}
    app = open_app(PAGES["positions"], **OWN, **query)
    assert not app.exception, app.exception
    run_all(drawn, keys)


def test_python_of_two_pictures_without_classes(open_app, drawn, checkpoints):
    encoder = tiny.loaded(replace(tiny.DIGIT, class_names=()), seed=7)
    checkpoint.save(checkpoints / "states", encoder.model, {})
    query = DIGIT | STREAM | PARTS | {"compare_what": "two inputs", "compare_digit": "5"}
    app = open_app(PAGES["compare"], checkpoint="states", **query)
    assert not app.exception, app.exception
    run_all(drawn, "answer_parts")


@pytest.mark.slow
def test_python_of_a_picture_and_texts(open_app, drawn, checkpoints):
    build(checkpoints / "own", "SiglipModel", **BOTH)
    query = {"kind": "Picture", "checkpoint": "own/vision_model", "compare_what": "a picture and texts"}
    app = open_app(PAGES["compare"], **query, compare_texts="the film\na story")
    assert not app.exception, app.exception
    run_all(drawn, "text_map_0 text_map_1 text_pooling text_falls")


def test_numbers_measured_in_this_session_cannot_be_written(open_app, drawn, monkeypatch):
    monkeypatch.setattr(checkpoint, "CHECKPOINTS", ROOT / "checkpoints")
    measured = read_heads(ROOT / "checkpoints" / "mnist-pre-ln" / HEADS)
    query = DIGIT | {"heads_scatter": "true", "heads_of": "data set"}
    app = open_app(PAGES["heads"], session={"measured_heads": {"mnist-pre-ln": measured}}, **query)
    assert not app.exception, app.exception
    with pytest.raises(ValueError, match="measured in this session"):
        drawn["heads_plot"].python()
