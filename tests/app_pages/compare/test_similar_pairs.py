from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.compare import similar_pairs
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.inputs import Text
from model.similarity.similarity_parts import similarity_parts
from tests.app_pages.charts import table
from tests.app_pages.shown_text import explanations, page_text
from tests.model import tiny
from viz.builders.number_format import format_number

pytestmark = pytest.mark.usefixtures("own")
SIMILARITY = {"compare_part": "Similarity", "compare_what": "two inputs"}
OWN = SIMILARITY | {"checkpoint": "own"}


def cells(app: AppTest) -> np.ndarray:
    frame = table(app, "What each of", "row", "column", "value")
    return frame["value"].to_numpy()


def test_the_cells_by_words_add_up_to_the_cosine_of_the_encoder(open_compare):
    app = open_compare(**OWN, text="the film is unbelievable", compare_text="a long slow story")
    one, other = (
        LiveSubject("own", Text(text)).record.pooled
        for text in ("the film is unbelievable", "a long slow story")
    )
    cosine = float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    values = cells(app)
    assert len(values) == 6 * 6  # the four pieces of "unbelievable" are one row
    assert values.sum() == pytest.approx(cosine, abs=1e-5)
    assert (
        f"cosine similarity **{cosine:.4f}** (1: same direction) is the sum of the 6 × 6 cells"
        in page_text(app)
    )
    assert f"The encoder's own number is {cosine:.4f} (difference" in explanations(app)


def test_tokens_have_the_sums_of_their_rows_and_columns(open_compare):
    app = open_compare(**OWN, text="the film is not bad", compare_text="a story")
    by_pair = cells(app).reshape(7, 4)
    for axis, n in ((1, 7), (0, 4)):
        values = table(app, f"The {n} ", "position", "value")["value"]
        np.testing.assert_allclose(values, by_pair.sum(axis=axis), atol=1e-6)


def test_two_equal_texts_have_the_cosine_1(open_compare):
    app = open_compare(**OWN, text="the film", compare_text="the film")
    assert "cosine similarity **1.0000**" in page_text(app)
    assert "The two inputs are the same." in page_text(app)


def test_one_token_on_a_side_makes_one_row_and_the_special_tokens(open_compare):
    app = open_compare(**OWN, text="film", compare_text="a long slow story")
    assert len(cells(app)) == 3 * 6


def test_an_encoder_with_classes_is_said_to_be_compared_by_its_pooled_states(open_compare):
    app = open_compare(
        **SIMILARITY, checkpoint="imdb-pre-ln", text="not great", compare_text="not great film"
    )
    assert "compared are the pooled states that its classifier reads" in explanations(app)
    parts = similarity_parts(
        LiveSubject("imdb-pre-ln", Text("not great")).loaded, "not great", "not great film"
    ).by_word()
    np.testing.assert_allclose(cells(app), parts.values.ravel(), atol=1e-6)
    assert "what [CLS] read in the last layer" in explanations(app)
    of_words = parts.values[: len(parts.a), : len(parts.b)].sum()
    rest = parts.values.sum() - of_words
    words, others = (format_number(float(number), "+.4f") for number in (of_words, rest))
    assert (
        f"Pairs of two words add {words}, the other rows and columns {others} (“its own state”"
        in page_text(app)
    )
    pairs = parts.values[: len(parts.a), : len(parts.b)]
    row, column = np.unravel_index(np.abs(pairs).argmax(), pairs.shape)
    pair = f"“{parts.a.tokens[row]}” × “{parts.b.tokens[column]}”"
    adds = f"{pair} adds {format_number(float(pairs[row, column]), '+.3g')}, the strongest pair of words"
    assert adds in page_text(app)


def save_encoder_of_zeros(folder: Path) -> None:
    """An encoder whose pooled states are zeros."""
    loaded = tiny.loaded(replace(tiny.TEXT, class_names=()), 5)
    for weights in loaded.model.final_norm.parameters():
        weights.data.zero_()
    checkpoint.save(folder, loaded.model, {}, loaded.tokenizer)


def test_a_pooled_state_of_zeros_has_no_cosine(open_compare, checkpoints):
    save_encoder_of_zeros(checkpoints / "zero")
    app = open_compare(**SIMILARITY, checkpoint="zero", text="film", compare_text="not film")
    assert not app.exception
    (message,) = app.info
    assert "has no cosine" in message.value
    assert not app.get("vega_lite_chart")


def test_two_pictures_are_coloured_by_their_patches(open_compare):
    app = open_compare(**SIMILARITY, kind="Digit", checkpoint="mnist-pre-ln", compare_digit="5")
    for title in ("first digit", "second digit"):
        assert len(table(app, f"The {title}, coloured by what each patch", "position", "value")) == 4


def test_of_too_many_pairs_the_sums_are_drawn_and_the_matrix_is_not(open_compare, monkeypatch):
    monkeypatch.setattr(similar_pairs, "MOST_CELLS", 4)
    app = open_compare(**OWN, text="the film", compare_text="a story")
    assert app.info[0].value.startswith("The matrix of 4 × 4 pairs is too large to be drawn")
    assert len(app.get("vega_lite_chart")) == 2


@pytest.mark.slow
def test_two_inputs_of_an_encoder_without_classes_open_on_their_similarity(open_compare):
    app = open_compare(checkpoint="own", text="the film")
    app.segmented_control(key="compare_what").set_value("two inputs").run()
    assert app.segmented_control(key="compare_part").value == "Similarity"
    app.segmented_control(key="compare_what").set_value("two encoders").run()
    assert "Similarity" not in app.segmented_control(key="compare_part").options
    app = open_compare(checkpoint="imdb-pre-ln", text="the film")
    app.segmented_control(key="compare_what").set_value("two inputs").run()
    assert app.segmented_control(key="compare_part").value == "Heads"
