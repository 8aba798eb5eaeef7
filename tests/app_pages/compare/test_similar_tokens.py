import numpy as np

from app_pages.compare import similar_tokens
from app_pages.subject.subject import LiveSubject
from model.inputs import Text
from model.similarity.integrated_jacobians import integrated_jacobians
from tests.app_pages.charts import table
from tests.app_pages.compare.test_similar_pairs import SIMILARITY, shown_text
from tests.model.huggingface.folders import build
from tests.model.huggingface.sentence_folders import build_sentence_encoder

A, B = "the film is unbelievable", "a long slow story"
TOKENS = SIMILARITY | {"checkpoint": "own", "similarity_view": "input tokens"}


def test_cells_by_words_stand_beside_the_four_cosines(open_compare, checkpoints):
    build_sentence_encoder(checkpoints / "own")
    app = open_compare(**TOKENS, text=A, compare_text=B)
    parts = integrated_jacobians(LiveSubject("own", Text(A)).loaded, A, B)
    cells = table(app, "What each of 6 × 6 pairs has as part", "row", "column", "value")
    np.testing.assert_allclose(cells["value"], parts.by_word().values.ravel(), atol=1e-6)
    s_ab, s_rb, s_ar, s_rr = (f"{term:.4f}" for term in parts.terms)
    terms = f"both texts {s_ab} − first blank {s_rb} − second blank {s_ar} + both blank {s_rr}"
    assert f"{terms} = {parts.recorded:.4f} (difference" in shown_text(app)
    assert f"of **{parts.total:.4f}**, the sum of all cells" in shown_text(app)
    assert "Blank: padding in place of each word" in shown_text(app)
    assert "steps are too few" not in shown_text(app)


def test_an_encoder_without_padding_and_a_gap_that_is_large_are_spoken_of(
    open_compare, checkpoints, monkeypatch
):
    build(checkpoints / "own", "CLIPTextModel")
    monkeypatch.setattr(similar_tokens, "_LARGE_GAP", 0)
    app = open_compare(**TOKENS, text=A, compare_text=B)
    assert "since the encoder has no padding" in shown_text(app)
    assert "32 steps are too few here: take more with `integrated_jacobians(..., steps=128)`" in shown_text(
        app
    )
