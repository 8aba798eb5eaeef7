"""What the patches of two digits resemble, against the library's own numbers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.compare import patch_views
from app_pages.subject import shipped_inputs
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.inputs import Picture
from model.similarity.patch_similarity import patch_colours, patch_norms, patch_similarity
from tests.app_pages.charts import described, table
from tests.app_pages.shown_text import page_text
from tests.model import tiny
from viz.builders.number_format import format_number

DIGITS = {
    "compare_part": "Similarity",
    "compare_what": "two inputs",
    "kind": "Digit",
    "checkpoint": "mnist-pre-ln",
    "digit": "0",
    "compare_digit": "5",
}
ONE_PATCH, COLOURS, NORMS = ({"similarity_view": name} for name in ("one patch", "three colours", "norms"))


def record(digit: int, name: str = "mnist-pre-ln") -> Any:
    return LiveSubject(name, Picture.of(shipped_inputs.test_digits()[0][digit])).record


def cosines(app: AppTest) -> np.ndarray:
    return table(app, "Over the picture", "index", "cosine")["cosine"].to_numpy()


def test_a_patch_is_compared_with_those_of_both_pictures(open_compare):
    app = open_compare(**DIGITS, **ONE_PATCH, layer="0", similar_patch="r0c1, second picture")
    first, second = record(0), record(5)
    expected = [*patch_similarity(second, 0, first)[1], *patch_similarity(second, 0)[1]]
    np.testing.assert_allclose(cosines(app), expected, atol=1e-6)
    assert described(app, "Over the picture")["description"].endswith("with r0c1 of the second picture.")


def test_it_begins_in_the_middle_of_the_first_picture_and_the_last_layer(open_compare):
    app = open_compare(**DIGITS, **ONE_PATCH)
    assert app.selectbox(key="similar_patch").value == 3  # of 2 × 2 patches
    last = record(0).config.n_layers - 1
    assert app.selectbox(key="layer").value == last
    np.testing.assert_allclose(cosines(app)[:4], patch_similarity(record(0), last)[3], atol=1e-6)


def test_two_equal_pictures_are_drawn_once(open_compare):
    for view, start in (
        (ONE_PATCH, "Over the picture, "),
        (COLOURS, "The first three"),
        (NORMS, "The lengths"),
    ):
        app = open_compare(**DIGITS | {"compare_digit": "0"}, **view)
        assert "The two inputs are the same picture." in page_text(app)
        assert len(table(app, start, "left")) == 4


def test_a_click_keeps_a_patch_and_the_chart_is_the_same(open_compare, monkeypatch):
    """The cosines of all patches are not sent again; another layer is sent with the kept patch."""
    clicks: dict[str, Any] = {}
    drawn: list[tuple[int, int]] = []

    def clickable(figure: Any, *, key: str, take: Callable, in_file: Any, **_: Any) -> None:
        clicks[key] = take
        starts = {
            name: next(param["value"] for param in made().specification["params"] if param["name"] == "start")
            for name, made in (("page", figure), ("file", in_file))
        }
        drawn.append((starts["page"], starts["file"]))

    monkeypatch.setattr(patch_views, "clickable", clickable)
    app = open_compare(**DIGITS, **ONE_PATCH)
    app.session_state["patch_map_begun"] = (*app.session_state["patch_map_begun"][:2], 6)
    app.selectbox(key="similar_patch").set_value(6).run()
    assert drawn[-2:] == [(3, 3), (3, 6)]
    app.selectbox(key="layer").set_value(0).run()
    assert drawn[-1] == (6, 6)
    app.selectbox(key="similar_patch").set_value(1).run()
    assert drawn[-1] == (1, 1)
    assert clicks.keys() == {"patch_map"}


def test_both_pictures_have_the_colours_of_one_basis(open_compare):
    app = open_compare(**DIGITS, **COLOURS, layer="1")
    expected = patch_colours(record(0), 1, record(5))
    frame = table(app, "The first three", "red", "green", "blue")
    np.testing.assert_allclose(frame[["red", "green", "blue"]], expected.colours, atol=1e-6)
    notes = table(app, "The patches in each", "layer", "note")["note"]
    assert notes[1] == f"{100 * expected.explained_variance.sum():.0f}\N{THIN SPACE}%"


def test_lengths_are_those_of_both_pictures_and_outliers_are_counted(open_compare):
    app = open_compare(**DIGITS, **NORMS, layer="1")
    results = [patch_norms(record(digit), 1) for digit in (0, 5)]
    frame = table(app, "The lengths", "norm", "outlier")
    np.testing.assert_allclose(
        frame["norm"], np.concatenate([result.patches for result in results]), atol=1e-6
    )
    assert frame["outlier"].sum() == sum(len(result.outliers) for result in results)
    _, digit, patch = max(
        (result.patches[patch] - result.limit, digit, patch)
        for digit, result in enumerate(results)
        for patch in range(4)
    )
    length = format_number(float(results[digit].patches[patch]), "#.3g")
    picture = ("first", "second")[digit]
    assert f"r{patch // 2}c{patch % 2} of the {picture} picture has length {length}; half" in page_text(app)


def test_lengths_begin_with_the_last_layer_that_has_a_frame(open_compare):
    app = open_compare(**DIGITS, **NORMS)
    framed = [
        layer
        for layer in range(record(0).config.n_layers)
        if any(patch_norms(record(digit), layer).outliers for digit in (0, 5))
    ]
    assert app.selectbox(key="layer").value == (framed[-1] if framed else record(0).config.n_layers - 1)


@pytest.mark.parametrize("view", [ONE_PATCH, COLOURS, NORMS])
def test_one_patch_is_drawn(open_compare, checkpoints, view):
    """An encoder whose only patch is the whole picture."""
    config = replace(tiny.DIGIT, image_size=28, patch_size=28, n_positions=2)
    checkpoint.save(checkpoints / "one", tiny.loaded(config).model, {})
    app = open_compare(**DIGITS | {"checkpoint": "one"}, **view)
    assert not app.exception
    assert len(app.get("vega_lite_chart")) >= 1


def test_a_long_grid_says_that_a_click_shows_a_patch(open_compare, monkeypatch):
    monkeypatch.setattr(patch_views, "MOST_PATCHES", 7)
    assert "more than 7 do not follow the pointer" in page_text(open_compare(**DIGITS, **ONE_PATCH))


@pytest.mark.parametrize("patch", ["r9c9, first picture", "-1", "x" * 300])
def test_a_patch_that_there_is_not_becomes_the_first_choice(open_compare, patch):
    app = open_compare(**DIGITS, **ONE_PATCH, similar_patch=patch, forgiven=("similar_patch",))
    assert not app.exception
    assert app.selectbox(key="similar_patch").value == 3
