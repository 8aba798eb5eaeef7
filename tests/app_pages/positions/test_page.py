"""The page, and its parts about sinusoids and about adding; the others have files of their own."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls import input_controls, positions_controls
from app_pages.controls.input_controls import CHECKPOINT
from app_pages.controls.map_controls import HEAD
from app_pages.controls.positions_controls import FREQUENCY, LENGTH, OFFSET, POSITION, WIDTH
from app_pages.subject import cache
from model import checkpoint
from model.experiments.embeddings import embedding_parts
from model.theory.sinusoidal_positions import dot_products, position_table, shift_matrix
from tests.app_pages.charts import numbers, shown
from tests.app_pages.shown_text import joined_captions, shown_text
from tests.model import tiny

Open = Callable[..., AppTest]

PAGE = "app_pages/positions/page.py"
TEXT = "not great film"


@pytest.fixture
def open_positions(open_app: Open) -> Open:
    return lambda part="Sinusoids", *choices, **query: open_app(
        PAGE, positions_controls.PART.to(part), *choices, **query
    )


# By distance


@pytest.mark.parametrize(
    ("kind", "promise"),
    [
        (positions_controls.ROTATED, "| score q·k | 47.0079 | 47.0079 | 47.0079 | 47.0079 |"),
        (positions_controls.ALIBI, "heads with a small slope look far"),
        (positions_controls.T5, "for each of 32 buckets"),
        (positions_controls.WINDOWED, "| L11 | ±64 | ±768 |"),
    ],
)
def test_each_kind_by_distance_is_drawn(open_positions, kind, promise):
    choices = [] if kind == positions_controls.ROTATED else [positions_controls.RELATIVE_KIND.to(kind)]
    assert promise in shown_text(open_positions("By distance", *choices))


# Sinusoids


def test_the_table_is_of_the_chosen_size(open_positions):
    app = open_positions(positions_d_model="8", positions_length="32", positions_t="31")
    assert np.array_equal(numbers(shown(app, "positions_table")["data"][0]), position_table(32, 8))
    assert "as 4 clocks" in shown_text(app)


def test_a_table_as_small_as_on_a_blackboard(open_positions):
    small = {"positions_d_model": "4", "positions_length": "5"}
    app = open_positions(**small, positions_t="4")
    by_hand = [  # sin t, cos t, sin(t / 100), cos(t / 100): the second frequency is 10000^(-2/4)
        [0, 1, 0, 1],
        [0.8415, 0.5403, 0.0100, 1.0000],
        [0.9093, -0.4161, 0.0200, 0.9998],
        [0.1411, -0.9900, 0.0300, 0.9996],
        [-0.7568, -0.6536, 0.0400, 0.9992],
    ]
    np.testing.assert_allclose(numbers(shown(app, "positions_table")["data"][0]), by_hand, atol=5e-5)
    assert "as 2 clocks" in shown_text(app)


def test_the_wavelengths_are_said(open_positions):
    words = shown_text(open_positions(positions_d_model="8"))
    assert "a full turn takes λ positions, from 6.28 to 6,283" in words  # 2 pi times 1 and 1000


def test_a_smaller_table_takes_position_and_dimensions_along(open_positions):
    app = open_positions(positions_t="100", positions_dimensions="40")
    app.select_slider(key="positions_length").set_value(32).run()
    app.select_slider(key="positions_d_model").set_value(8).run()
    assert not app.exception
    assert app.slider(key="positions_t").value == 31
    assert all(dimension < 8 for dimension in app.multiselect(key="positions_dimensions").value)
    app.multiselect(key="positions_dimensions").set_value([]).run()
    assert not app.exception


# Dot products


def test_the_matrix_is_of_the_dot_products(open_positions):
    app = open_positions("Sinusoids", WIDTH.to(8), LENGTH.to(32))
    seen = numbers(shown(app, "positions_dot_matrix")["data"][0])
    np.testing.assert_allclose(seen, dot_products(position_table(32, 8)), rtol=1e-6)
    largest = re.findall(r"from the formula \$\{(.*?) \\times 10\^\{(.*?)\}", joined_captions(app))
    assert len(largest) == 2
    assert all(0 < float(digits) * 10 ** int(power) < 1e-5 for digits, power in largest)


# Shift


def test_the_shift_is_worked_in_numbers(open_positions):
    app = open_positions("Sinusoids", WIDTH.to(8), OFFSET.to(3), POSITION.to(2), FREQUENCY.to(0))
    np.testing.assert_allclose(
        numbers(shown(app, "positions_shift_matrix")["data"][0]), shift_matrix(3, 8), atol=1e-6
    )
    worked = shown_text(app)
    assert "-0.9900 & 0.1411" in worked  # cos 3 and sin 3
    assert worked.count(r"-0.9589 \\ 0.2837") == 2  # sin 5 and cos 5: by the matrix, and in the table
    assert "up to 0.2955 in size" in worked  # sin 0.3: more than sin 3, sin 0.03 and sin 0.003


def test_a_shift_by_nothing_is_exact(open_positions):
    worked = shown_text(open_positions("Sinusoids", OFFSET.to(0)))
    assert "by at most **$0$**" in worked
    assert "**With sines alone** an offset of 0 is exact too" in worked


def test_a_narrower_table_has_fewer_frequencies(open_positions):
    app = open_positions("Sinusoids", FREQUENCY.to(31))
    app.select_slider(key="positions_d_model").set_value(8).run()
    assert not app.exception
    assert app.slider(key="positions_k").value == 3


# Adding


def test_the_maps_add_up(open_positions):
    app = open_positions("Sinusoids", input_controls.TEXT.to(TEXT), CHECKPOINT.to("imdb-post-ln"), HEAD.to(1))
    content, positions, whole = map(numbers, shown(app, "positions_sum")["data"])
    np.testing.assert_allclose(content + positions, whole, atol=1e-5)
    parts = embedding_parts(cache.loaded("imdb-post-ln"), TEXT)
    weights = checkpoint.load("imdb-post-ln").model.blocks[0].attention.w_q.weight.detach().numpy()[4:].T
    np.testing.assert_allclose(whole, parts.total @ weights, atol=1e-5)
    assert "not the same as adding" not in shown_text(app)
    assert "is the very $q$ of L0 H1" in shown_text(app)


def test_one_matrix_for_queries_and_keys_leaves_no_other(open_positions, checkpoints):
    config = replace(tiny.TEXT, shared_qkv=True, embedding_norm=True)
    checkpoint.save(checkpoints / "shared", tiny.build(config), {}, tiny.tokenizer(config.n_positions))
    app = open_positions(
        "Sinusoids",
        text=TEXT,
        checkpoint="shared",
        positions_w2="another, W_K",
        forgiven=["positions_w2"],
    )
    assert app.segmented_control(key="positions_w2").options == ["the same, W_Q"]
    assert "In shared one matrix serves as $W_Q$, $W_K$ and $W_V$" in shown_text(app)
    assert "not the same as adding" not in shown_text(app)
    assert r"What enters the first layer is $\text{LN}(x_t + p_t)$" in shown_text(
        open_positions("This encoder", input_controls.TEXT.to(TEXT), CHECKPOINT.to("shared"))
    )


def test_untied_weights_are_not_adding(open_positions):
    app = open_positions("Sinusoids", input_controls.TEXT.to(TEXT))
    app.segmented_control(key="positions_w2").set_value("another, W_K").run()
    assert "with untied weights it is not the same as adding" in shown_text(app)
    content, positions, whole = map(numbers, shown(app, "positions_sum")["data"])
    np.testing.assert_allclose(content + positions, whole, atol=1e-5)
