from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tokenizers.processors import TemplateProcessing

from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.positions_controls import OWN_TABLE
from model import checkpoint
from model.experiments.embeddings import cosine_similarities, position_table
from tests.app_pages.charts import described, shown, table, weights
from tests.app_pages.shown_text import shown_text
from tests.model import tiny
from tests.model.huggingface.folders import build
from tests.tolerance import rounding
from viz.builders.number_format import format_short

PART = "This encoder"
TEXT = "not great film"


def test_a_text_checkpoint_adds_sinusoids(open_part):
    app = open_part()
    assert "adds **sinusoids**: a table of 12 × 8 numbers" in shown_text(app)
    assert r"$x_t + p_t$" in shown_text(app)
    assert [metric.label for metric in app.metric] == ["word, added", "position, added"]
    assert app.metric[1].value == "2.00"  # sqrt(8 / 2)
    assert "4.0000" not in shown_text(app)
    assert "2.0000 to 2.0000" in shown_text(app)


def test_a_scaled_one_says_by_how_much(open_part, checkpoints):
    scaled = tiny.loaded(replace(tiny.TEXT, embedding_scaled=True))
    checkpoint.save(checkpoints / "imdb-pre-ln", scaled.model, {}, scaled.tokenizer)
    app = open_part(CHECKPOINT.to("imdb-pre-ln"))
    assert r"\sqrt{8} = 2.8" in shown_text(app)
    looked_up, added = (float(metric.value) for metric in app.metric[:2])
    assert added == pytest.approx(looked_up * 8**0.5, abs=0.03)
    assert "word × √d_model, added" in described(app, "Lengths of")["description"]


def test_a_digit_checkpoint_shows_its_learned_positions_patch_by_patch(open_part):
    app = open_part(KIND.to("Digit"), query="r1c0")
    assert "has a **learned table** of positions: 5 × 8 numbers" in shown_text(app)
    assert "**The position of r1c0**" in shown_text(app)
    described(app, "How alike the position vectors of 4 patches are")
    rows = position_table(checkpoint.load("mnist-pre-ln"))
    expected = cosine_similarities(rows[3:4], rows[1:])[0]
    cells = table(app, "How alike the position vector of r1c0", "name", "cosine").set_index("name")["cosine"]
    assert cells[["r0c0", "r0c1", "r1c0", "r1c1"]].tolist() == pytest.approx(expected, abs=rounding(3 * 8))
    class_token = cosine_similarities(rows[3:4], rows[:1])[0, 0]
    assert f"that of the class token: **{format_short(class_token)}**" in shown_text(app)


def test_the_class_token_is_apart(open_part):
    app = open_part(KIND.to("Digit"))
    assert "**The position of the class token** against those of all patches" in shown_text(app)
    assert "and against that of the class token" not in shown_text(app)


def test_all_pairs_of_a_text_are_those_of_the_input_or_all(open_part):
    app = open_part(OWN_TABLE.to("all pairs"))
    assert weights(shown(app, "positions_own_pairs")).shape == (5, 5)
    app.segmented_control(key="positions_own_range").set_value("all").run()
    rows = position_table(checkpoint.load("imdb-pre-ln"))
    result = weights(shown(app, "positions_own_pairs"))
    np.testing.assert_allclose(result, cosine_similarities(rows, rows), atol=rounding(3 * 8))


def test_the_numbers_are_the_table(open_part):
    app = open_part(KIND.to("Digit"), OWN_TABLE.to("the numbers"))
    rows = position_table(checkpoint.load("mnist-pre-ln"))
    np.testing.assert_allclose(weights(shown(app, "positions_own_numbers")), rows, rtol=1e-6)


def test_one_token_alone(open_app, open_part, checkpoints):
    loaded = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    loaded.tokenizer.post_processor = TemplateProcessing(single="$A", special_tokens=[])
    checkpoint.save(checkpoints / "bare", loaded.model, {}, loaded.tokenizer)
    alone = {"text": "film", "checkpoint": "bare"}
    app = open_part(OWN_TABLE.to("all pairs"), **alone)
    assert weights(shown(app, "positions_own_pairs")).shape == (1, 1)
    assert "Two different positions" not in shown_text(app)
    embeddings = open_app("app_pages/positions/page.py", positions="Embeddings", **alone)
    assert "No other vector is drawn that could be near to this one." in shown_text(embeddings)


def test_an_imported_grid_is_not_said_to_come_from_digits(open_part, checkpoints):
    build(checkpoints / "own", "ViTModel")
    path = checkpoints / "own" / "model.safetensors"
    weights = load_file(path)
    name = next(name for name in weights if name.endswith("position_embeddings"))
    rows, columns = np.divmod(np.arange(16), 4)
    near = [np.exp(-((axis[:, None] - np.arange(4)) ** 2.0)) for axis in (rows, columns)]
    weights[name][0, 1:, :8] = 10 * np.hstack(near)  # patches side by side, or one above the other, are alike
    save_file(weights, path, metadata={"format": "pt"})
    page = shown_text(open_part(KIND.to("Picture"), CHECKPOINT.to("own")))
    assert "which patches touch: the grid was learned in training." in page
    assert "digits" not in page
