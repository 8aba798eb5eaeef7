"""What was stored over a data set, as pages read it."""

from dataclasses import replace

import pytest
import streamlit as st

from app_pages.subject import stored_results
from model.atlas.results import EXAMPLES, FAITHFULNESS, HEADS, LAYERS, PRUNING, write_results
from model.checkpoint import save, weights_hash
from model.sources import locations
from tests.model import tiny
from tests.model.atlas.invented_results import heads, layers

PRE = "imdb-pre-ln"


@pytest.fixture
def shown_captions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    captions: list[str] = []
    monkeypatch.setattr(st, "caption", captions.append)
    return captions


@pytest.mark.parametrize(
    ("file", "make", "read"),
    [(HEADS, heads, stored_results.heads_of), (LAYERS, layers, stored_results.layers_of)],
)
def test_it_is_read_until_file_or_weights_change(checkpoints, shown_captions, file, make, read):
    assert read(PRE) is None
    write_results(checkpoints / PRE / file, make(weights=weights_hash(PRE)))
    result = read(PRE)
    assert result.source.n == 30
    assert read(PRE) is result
    write_results(checkpoints / PRE / file, make(weights=weights_hash(PRE), n=31))
    assert read(PRE).source.n == 31
    made = tiny.loaded(tiny.TEXT, 11)
    save(checkpoints / "mine", made.model, {}, made.tokenizer)
    (checkpoints / "mine" / "model.safetensors").replace(checkpoints / PRE / "model.safetensors")
    assert read(PRE) is None
    assert shown_captions == []


def test_a_damaged_file_is_said_and_counts_as_none(checkpoints, shown_captions):
    (checkpoints / PRE / HEADS).write_bytes(b"PAR1")
    assert stored_results.heads_of(PRE) is None
    assert [f"{PRE}/{HEADS} cannot be read" in sentence for sentence in shown_captions] == [True]
    for file in (EXAMPLES, PRUNING, FAITHFULNESS):
        assert stored_results.table_of(PRE, file) is None


@pytest.mark.usefixtures("checkpoints")
def test_an_encoder_of_ones_own_has_it_in_its_folder(tmp_path, monkeypatch):
    made = tiny.loaded(tiny.TEXT, 4)
    save(tmp_path / "models" / "mine", made.model, {}, made.tokenizer)
    monkeypatch.setattr(locations, "_root", None)
    locations.use_models_folder(tmp_path / "models")
    write_results(tmp_path / "models" / "mine" / HEADS, heads(weights=weights_hash("mine")))
    assert stored_results.heads_of("mine").source.n == 30
    assert stored_results.heads_of("nowhere") is None


def test_how_many_examples_a_figure_is_of():
    source = heads(n=2500).source
    assert stored_results.examples_phrase(source) == "2,500 films"
    assert stored_results.examples_phrase(replace(source, samples={"zero": 40}), "zero") == "40 films"


def test_measures_of_this_session_come_before_stored_ones_unless_the_weights_have_changed(
    checkpoints, monkeypatch
):
    monkeypatch.setattr(st, "session_state", {})
    write_results(checkpoints / PRE / HEADS, heads(weights=weights_hash(PRE)))
    measured = heads(weights=weights_hash(PRE), n=7)
    stored_results.session_heads()[PRE] = measured
    assert stored_results.heads_of(PRE) is measured
    stored_results.session_heads()[PRE] = heads(weights="others", n=7)
    assert stored_results.heads_of(PRE).source.n == 30
