import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from app_pages.compare import similar_pairs
from app_pages.subject.subject import LiveSubject
from model.inputs import Text
from model.similarity.hidden_words import hidden_words
from model.similarity.similarity_parts import similarity_parts
from tests.app_pages.charts import table
from tests.app_pages.compare.test_similar_pairs import SIMILARITY, shown_text
from tests.model.huggingface.sentence_folders import build_sentence_encoder

A, B = "the film is unbelievable", "a long slow story"
HIDDEN = SIMILARITY | {"checkpoint": "own", "similarity_view": "hidden words"}


@pytest.fixture(autouse=True)
def own(checkpoints: Path) -> None:
    build_sentence_encoder(checkpoints / "own")


def test_cells_are_the_effects_of_two_words_and_colours_those_of_one(open_compare):
    app = open_compare(**HIDDEN, text=A, compare_text=B)
    loaded = LiveSubject("own", Text(A)).loaded
    effects, parts = hidden_words(loaded, A, B), similarity_parts(loaded, A, B)
    cells = table(app, "What each of 4 × 4 pairs has as effect", "row", "column", "value")
    np.testing.assert_allclose(cells["value"], effects.values.ravel(), atol=1e-7)
    assert cells["row"].iloc[-1] == "4 unbelievable"
    row, column = np.unravel_index(np.abs(effects.values).argmax(), effects.values.shape)
    one, other = effects.falls[0][row], effects.falls[1][column]
    (written,) = re.findall(r"the pair does (\S+) \+ (\S+) − (\S+) = \*\*(\S+)\*\*", shown_text(app))
    *terms, pair = (Decimal(number.replace("−", "-")) for number in written)
    expected = (one, other, one + other - effects.values[row, column])
    assert [*map(float, terms)] == pytest.approx(expected, abs=1e-4)
    assert terms[0] + terms[1] - terms[2] == pair  # as they are written
    number = f"{effects.spearman(parts):.2f}".replace("-", "−")
    agreement = f"Agreement of the cells with the pairs of last states: Spearman {number} (n = 16 pairs)."
    assert agreement in shown_text(app)


def test_of_one_word_on_each_side_no_agreement_is_defined(open_compare):
    app = open_compare(**HIDDEN, text="film", compare_text="story")
    assert "Spearman is not defined (n = 1 pairs)" in shown_text(app)


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
