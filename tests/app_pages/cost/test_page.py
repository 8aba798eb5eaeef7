from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app_pages.controls import cost_controls
from app_pages.controls.cost_controls import STARTS
from app_pages.cost import page
from model.config import preset, presets
from model.theory import cost
from model.theory.cost import variations

PAGE = "app_pages/cost/page.py"


def metrics(app: AppTest) -> list[str]:
    assert not app.exception
    return [metric.value for metric in app.metric]


def exact(app: AppTest) -> list[str]:
    """The totals with all of their digits, from behind the question marks."""
    assert not app.exception
    return [metric.proto.help.split(". ")[0].removesuffix(". ") for metric in app.metric]


def test_it_opens_on_the_base_encoder_with_the_published_table(open_app):
    app = open_app(PAGE)
    assert metrics(app) == ["37.9 M", "11.3 G", "12.6 M"]
    assert exact(app) == ["37,858,304", "11,283,726,336", f"{6 * 8 * 512 * 512:,}"]
    assert not app.query_params
    table = app.dataframe[0].value
    assert len(table) == len(variations())
    assert table["encoder alone"].tolist() == [cost.n_parameters(row.config) for row in variations()]
    assert table["params ×10⁶"].tolist()[-1] == "213"


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", presets())
def test_a_link_to_a_preset_brings_its_sizes(open_app, name):
    app = open_app(PAGE, cost_from=name)
    assert exact(app)[:2] == [
        f"{cost.n_parameters(preset(name)):,}",
        f"{cost.n_multiply_adds(preset(name)):,}",
    ]


def test_choosing_a_start_fills_the_boxes(open_app):
    app = open_app(PAGE, cost_d_model="300")
    app.selectbox(key="cost_from").set_value("imdb-article").run()
    assert exact(app)[0] == f"{cost.n_parameters(preset('imdb-article')):,}"
    assert app.number_input(key="cost_d_model").value == 16
    app.selectbox(key="cost_from").set_value("looker").run()
    assert exact(app)[0] == f"{cost.n_parameters(preset('looker')):,}"
    assert app.number_input(key="cost_patch_size").value == 14


def test_a_changed_size_changes_the_counts_and_goes_into_the_link(open_app):
    app = open_app(PAGE)
    app.number_input(key="cost_n_layers").set_value(1).run()
    layer = 4 * (512 * 512 + 512) + 2 * 512 * 2048 + 2048 + 512 + 4 * 512
    assert exact(app)[0] == f"{37_000 * 512 + layer:,}"
    link = open_app(PAGE, cost_n_layers="1")
    assert exact(link) == exact(app)


def test_positions_follow_the_patches(open_app):
    app = open_app(PAGE, cost_from="mnist-pre-ln", cost_patch_size="7")
    assert [metric.label for metric in app.metric][1] == "Multiply-adds, n = 17"
    assert any("n = 17: 16 patches and the class token" in caption.value for caption in app.caption)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"cost_d_model": "511"}, "sinusoidal positions need an even d_model, got 511"),
        ({"cost_from": "mnist-pre-ln", "cost_patch_size": "5"}, "patch_size 5 must divide image_size 28"),
        (
            {"cost_from": "imdb-article", "cost_d_k": "8"},
            "a shared q/k/v projection needs d_k == d_v, got 8 and 16",
        ),
    ],
)
def test_sizes_that_contradict_each_other_get_one_sentence(open_app, query, sentence):
    app = open_app(PAGE, **query)
    assert metrics(app) == []
    (error,) = app.error
    assert error.value == f"There is no such encoder: {sentence}."


def test_nonsense_in_the_link_falls_back(open_app):
    nonsense = {"cost_from": "x", "cost_d_model": "-4", "cost_n_layers": "many", "cost_d_ff": "9999999"}
    assert metrics(open_app(PAGE, **nonsense, forgiven=nonsense)) == metrics(open_app(PAGE))


def test_every_number_stands_beside_its_formula(open_app):
    table = open_app(PAGE).table[0].value
    for part, (_, row) in zip(cost.component_costs(preset("base")), table.iterrows(), strict=True):
        assert list(row) == [
            part.name,
            f"{part.parameters:,}",
            f"${{{part.parameters_formula}}}$",
            f"{part.multiply_adds:,}",
            f"${{{part.multiply_adds_formula}}}$",
        ]


@pytest.mark.parametrize("row", [1, 10, 18, 19])
def test_a_click_on_a_row_loads_it(monkeypatch, row):
    clicked = SimpleNamespace(session_state={"table": {"selection": {"cells": [(row, "h")]}}})
    monkeypatch.setattr(page, "st", clicked)
    held: dict = {}
    monkeypatch.setattr(st, "session_state", held)
    page._take_published_sizes("table")
    variation = variations()[row]
    assert STARTS[held["cost_from"]] == variation.config
    assert held["cost_d_model"] == variation.config.d_model
    assert held["cost_n_heads"] == variation.config.n_heads


def test_every_row_can_be_started_from(open_app):
    assert {row.name for row in variations()} | set(presets()) == set(STARTS)
    app = open_app(PAGE, cost_controls.START.to("(C) d_ff = 4096"))
    assert app.number_input(key="cost_d_ff").value == 4096


def test_a_row_of_table_3_says_in_a_word_what_it_varies(open_app):
    (table,) = (frame.value for frame in open_app(PAGE).dataframe)
    groups = list(dict.fromkeys(table[""]))
    assert groups == [
        *("base", "(A) heads", "(B) d_k", "(C) size", "(D) dropout", "(D) smoothing", "(E) positions", "big"),
    ]
