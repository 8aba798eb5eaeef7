from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.heads.ablate import NO_PROOF
from app_pages.show import changed_head
from app_pages.subject import cache
from model.atlas.parquet import DataSource
from model.atlas.results import HEADS, HeadResults, write_results
from model.atlas.running_moments import Spread
from model.capture import capture
from model.experiments.ablation import ablate_heads, ablated
from model.experiments.probabilities import probabilities
from model.measures.changes import class_changes
from tests.app_pages.charts import shown, weights
from tests.app_pages.charts import table as table_of
from tests.app_pages.heads.conftest import source
from tests.app_pages.shown_text import headline, joined_captions

Open = Callable[..., AppTest]
PAGE = "app_pages/heads/page.py"
TEXT, ENCODER = "not great film", "imdb-pre-ln"
GRID = "fall of the log-odds"


@pytest.fixture
def open_ablate(open_app: Open) -> Open:
    defaults = {"text": TEXT, "checkpoint": ENCODER, "heads_part": "Ablate"}
    return lambda **query: open_app(PAGE, **defaults | query)


def grid(app: AppTest):
    return table_of(app, GRID, "layer", "column", "value").set_index("name")


def test_without_a_data_set_each_part_has_its_effect_at_zero(open_ablate):
    app = open_ablate()
    loaded = cache.loaded(ENCODER)
    record = capture(loaded, TEXT)
    label = int(record.logits.argmax())
    rows = grid(app)
    heads = ablate_heads(loaded, [TEXT], answer="logits")[0]
    for layer, head in np.ndindex(2, 2):
        (expected,) = class_changes(record, heads[layer, head][None], label)
        assert rows.loc[f"L{layer} H{head}", "value"] == pytest.approx(-expected, rel=1e-4, abs=1e-6)
    wholes = [ablated(heads=((1, 0), (1, 1))), ablated(feed_forwards=(0,))]
    expected = class_changes(record, probabilities(loaded, [TEXT], wholes, "logits")[0], label)
    result = rows.loc[["L1 attn", "L0 FF"], "value"]
    np.testing.assert_allclose(result, -expected, rtol=1e-4, atol=1e-6)
    assert NO_PROOF in joined_captions(app)
    assert "Nothing is taken away" in headline(app)
    assert "ablate_how" not in [item.key for item in app.segmented_control]
    assert "--with ablation" in joined_captions(app)


def test_a_link_restores_what_is_taken_away(open_ablate):
    app = open_ablate(ablated="h0-1.a1.f0.p2")
    loaded, record = cache.loaded(ENCODER), capture(cache.loaded(ENCODER), TEXT)
    after = capture(loaded, TEXT, ablated(((0, 1),), (1,), (0,), (2,)))
    rows = grid(app)
    assert set(rows.index[rows["away"]]) == {"L0 H1", "L1 attn", "L0 FF"}
    assert headline(app).count("L0 H1, all heads of L1, the feed-forward of L0 and “great”") == 1
    (change,) = class_changes(record, after.logits[None], int(record.logits.argmax()))
    assert f"after: {'falls' if change < 0 else 'rises'} by {abs(change):.2f}." in joined_captions(app)


def test_what_is_not_there_is_passed_over(open_ablate):
    app = open_ablate(ablated="h9-9.h0.p99.x3.a7.f.h1-0")
    rows = grid(app)
    assert set(rows.index[rows["away"]]) == {"L1 H0"}
    assert "Without L1 H0, " in headline(app)


def test_many_parts_are_counted(open_ablate):
    app = open_ablate(ablated="h0-0.h0-1.h1-0.h1-1.a0.p1.p2")
    assert "Without 4 heads, 1 whole layer of heads and 2 tokens" in headline(app)


def test_what_was_can_be_had_back(open_ablate):
    app = open_ablate(ablated="f0.h0-1")
    assert app.button(key="ablate_undo").disabled
    app.button(key="ablate_reset").click().run()
    assert "ablated" not in app.query_params
    assert "Nothing is taken away" in headline(app)
    app.button(key="ablate_undo").click().run()
    assert app.query_params["ablated"] == "f0.h0-1"
    assert app.button(key="ablate_undo").disabled


def test_the_list_takes_away_as_well_and_each_step_can_be_undone(open_ablate):
    app = open_ablate(ablated="h0-1")
    assert app.multiselect(key="ablate_parts").value == ["h0-1"]
    steps = {
        "h0-1": ["h0-1"],
        "a1.f0.h0-1.p3": ["h0-1", "f0", "p3", "a1"],
        "a1.f0.p3": ["f0", "p3", "a1"],
    }
    for code, parts in steps.items():
        app.multiselect(key="ablate_parts").set_value(parts).run()
        assert app.query_params["ablated"] == code
    for code in [*steps][1::-1]:
        app.button(key="ablate_undo").click().run()
        assert app.query_params["ablated"] == code
    assert app.button(key="ablate_undo").disabled


def test_the_map_before_and_after(open_ablate):
    app = open_ablate(ablated="h0-0.p2", layer="1", head="1")
    loaded = cache.loaded(ENCODER)
    for when, changed in (("before", ablated()), ("after", ablated(heads=((0, 0),), positions=(2,)))):
        record = capture(loaded, TEXT, changed)
        expected = np.where(record.mask[1, 1], record.pattern[1, 1], np.nan)
        np.testing.assert_allclose(weights(shown(app, f"ablate_map_{when}")), expected, rtol=1e-5)


def test_another_text_puts_its_tokens_back_and_keeps_the_heads(open_ablate):
    app = open_ablate(ablated="h0-1.p2")
    app.text_area(key="text").set_value("great film").run()
    assert app.query_params["ablated"] == "h0-1"


def test_the_mean_of_a_data_set_stands_in(open_ablate, checkpoints):
    z = np.random.default_rng(0).normal(size=(2, 2, 4)).astype(np.float32)
    spread = Spread(mean=np.full((2, 2), 0.37), sd=np.full((2, 2), 0.05))
    made: DataSource = source(ENCODER)
    write_results(checkpoints / ENCODER / HEADS, HeadResults(source=made, spreads={"mean": spread}, z=z))
    app = open_ablate(ablate_how="its mean", ablated="h1-1")
    record = capture(cache.loaded(ENCODER), TEXT)
    heads = ablate_heads(cache.loaded(ENCODER), [TEXT], z, "logits")[0]
    (expected,) = class_changes(record, heads[1, 1][None], int(record.logits.argmax()))
    rows = grid(app)
    assert rows.loc["L1 H1", "value"] == pytest.approx(-expected, rel=1e-4, abs=1e-6)
    assert rows.loc["L1 H1", "over"] == "0.37"
    assert "0.37 ± 0.05" in joined_captions(app)


def test_digits(open_ablate):
    app = open_ablate(kind="Digit", checkpoint="mnist-post-ln", ablated="h0-1.p2")
    assert "Without L0 H1 and r0c1" in headline(app)
    assert len(grid(app)) == 2 * 4


def test_what_takes_long_waits_for_a_click(open_ablate, monkeypatch):
    monkeypatch.setattr("app_pages.controls.estimated_work.AT_ONCE", 0)
    app = open_ablate(text="great film not great")
    assert set(grid(app)["written"]) == {"–"}
    app.button(key="ablate_all").click().run()
    assert "–" not in set(grid(app)["written"])
    app.run()
    assert "–" not in set(grid(app)["written"])
    assert "ablate_all" not in [item.key for item in app.button]


def test_of_many_positions_the_maps_show_those_around_the_query(open_ablate, monkeypatch):
    monkeypatch.setattr(changed_head, "MOST_DRAWN", 4)
    monkeypatch.setattr(changed_head, "DRAWN", 2)
    app = open_ablate(ablated="h0-1", query="3 film")
    for key in ("ablate_map_before", "ablate_map_after", "ablate_map_difference"):
        assert weights(shown(app, key)).shape == (2, 2)
    assert "Of 5 positions, 2 to 3 are drawn, around the query." in joined_captions(app)
