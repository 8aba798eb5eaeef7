"""Two texts by their hidden words and by their input tokens."""

import re
from decimal import Decimal

import numpy as np
import pytest

from app_pages.compare import similar_pairs, similar_words
from app_pages.subject.subject import LiveSubject
from model.inputs import Text
from model.similarity.hidden_words import hidden_words
from model.similarity.integrated_jacobians import integrated_jacobians
from model.similarity.similarity_parts import similarity_parts
from tests.app_pages.charts import table
from tests.app_pages.compare.test_similar_pairs import SIMILARITY
from tests.app_pages.shown_text import explanations, page_text
from tests.model.huggingface.folders import build

pytestmark = pytest.mark.usefixtures("own")
A, B = "the film is unbelievable", "a long slow story"
HIDDEN = SIMILARITY | {"checkpoint": "own", "similarity_view": "hidden words"}
TOKENS = SIMILARITY | {"checkpoint": "own", "similarity_view": "input tokens"}


def test_cells_are_the_effects_of_two_words_and_colours_those_of_one(open_compare):
    app = open_compare(**HIDDEN, text=A, compare_text=B)
    loaded = LiveSubject("own", Text(A)).loaded
    effects, parts = hidden_words(loaded, A, B), similarity_parts(loaded, A, B)
    cells = table(app, "What each of 4 × 4 pairs has as effect", "row", "column", "value")
    np.testing.assert_allclose(cells["value"], effects.values.ravel(), atol=1e-7)
    assert cells["row"].iloc[-1] == "4 unbelievable"
    row, column = np.unravel_index(np.abs(effects.values).argmax(), effects.values.shape)
    one, other = effects.falls[0][row], effects.falls[1][column]
    (written,) = re.findall(r"the pair does (\S+) \+ (\S+) − (\S+) = \*\*(\S+)\*\*", page_text(app))
    *terms, pair = (Decimal(number.replace("−", "-")) for number in written)
    expected = (one, other, one + other - effects.values[row, column])
    assert [*map(float, terms)] == pytest.approx(expected, abs=1e-4)
    assert terms[0] + terms[1] - terms[2] == pair  # as they are written
    number = f"{effects.spearman(parts):.2f}".replace("-", "−")
    agreement = f"Agreement of the cells with the pairs of last states: Spearman {number} (n = 16 pairs)."
    assert agreement in explanations(app)


def test_of_one_word_on_each_side_no_agreement_is_defined(open_compare):
    app = open_compare(**HIDDEN, text="film", compare_text="story")
    assert "Spearman is not defined (n = 1 pairs)" in explanations(app)


def test_work_of_many_seconds_waits_for_a_button(open_compare, monkeypatch):
    monkeypatch.setattr(similar_pairs, "A_SECOND", 1)
    monkeypatch.setattr("app_pages.controls.estimated_work.AT_ONCE", 1)
    app = open_compare(**HIDDEN, text=A, compare_text=B)
    assert not app.get("vega_lite_chart")
    button = app.button(key="compute_similarity")
    assert button.label.startswith("Hide each word in turn, about 1 s")
    button.click().run()
    assert len(app.get("vega_lite_chart")) == 3


def test_a_text_without_words_is_said_to_have_none(open_compare):
    app = open_compare(**HIDDEN, text="film", compare_text="[CLS]")
    assert not app.exception
    assert "reads no word in this text, only special tokens" in app.info[0].value


def test_cells_by_words_stand_beside_the_four_cosines(open_compare):
    app = open_compare(**TOKENS, text=A, compare_text=B)
    parts = integrated_jacobians(LiveSubject("own", Text(A)).loaded, A, B)
    cells = table(app, "What each of 6 × 6 pairs has as part", "row", "column", "value")
    np.testing.assert_allclose(cells["value"], parts.by_word().values.ravel(), atol=1e-6)
    s_ab, s_rb, s_ar, s_rr = (f"{term:.4f}" for term in parts.terms)
    terms = f"both texts {s_ab} − first blank {s_rb} − second blank {s_ar} + both blank {s_rr}"
    assert f"{terms} = {parts.recorded:.4f} (difference" in explanations(app)
    assert f"of **{parts.total:.4f}**, the sum of all cells" in page_text(app)
    assert "Blank: padding in place of each word" in page_text(app)
    assert "steps are too few" not in explanations(app)


def test_an_encoder_without_padding_and_a_gap_that_is_large_are_spoken_of(
    open_compare, checkpoints, monkeypatch
):
    build(checkpoints / "clip", "CLIPTextModel")
    monkeypatch.setattr(similar_words, "_LARGE_GAP", 0)
    app = open_compare(**TOKENS | {"checkpoint": "clip"}, text=A, compare_text=B)
    assert "since the encoder has no padding" in page_text(app)
    too_few = "32 steps are too few here: take more with `integrated_jacobians(..., steps=128)`"
    assert too_few in explanations(app)
