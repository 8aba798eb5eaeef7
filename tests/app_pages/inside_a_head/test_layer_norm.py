"""LayerNorm on numbers that are typed and on the token's own."""

import numpy as np
import pytest

from app_pages.controls.inside_a_head_controls import VECTORS
from app_pages.inside_a_head.layer_norm import read_vectors
from app_pages.inside_a_head.view import steps_of
from app_pages.subject.subject import LiveSubject
from tests.app_pages.shown_text import shown_text
from tests.model.huggingface.folders import build

TEXT = "not great film"
PART = {"text": TEXT, "inside": "LayerNorm"}


def test_the_example_is_worked_with_the_population_formula(opened):
    text = shown_text(opened())
    assert r"\tfrac{1}{3} (0.5 + (-3) + 8.5) = 2$" in text
    assert r"((0.5 - 2)^2 + (-3 - 2)^2 + (8.5 - 2)^2) = 23.17$" in text
    assert r"\mathbf{4.81}" in text
    assert r"(-0.31,\; -1.04,\; 1.35)" in text
    assert "d − 1 = 2 the deviation would be 5.89" in text


def test_the_deviations_that_slides_give_are_put_right(opened):
    for text in (shown_text(opened()), shown_text(opened(inside_vectors="-1 2 5\n0.5 -3 8.5"))):
        assert (
            "(0.5, −3, 8.5) is printed on some lecture slides with σ = 2; by the formula σ is 4.81." in text
        )  # the root of (1.5² + 5² + 6.5²) / 3
        assert (
            "(−1, 2, 5) is printed on some lecture slides with σ = 2; by the formula σ is 2.45." in text
        )  # the root of (3² + 0² + 3²) / 3
    assert "lecture slides" not in shown_text(opened(inside_vectors="1 2 3"))


def test_large_numbers_hold_no_letter(opened):
    text = shown_text(opened(inside_vectors="500, -300, 85"))
    assert r"= {1.067 \times 10^{5}}$" in text
    assert "e+" not in text


def test_many_terms_are_left_out(opened):
    assert r"(1 + 2 + \dots + 6) = 3.5$" in shown_text(opened(inside_vectors="1 2 3 4 5 6"))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("one, two", "`one` is not a number."),
        ("<b>1</b>", "`<b>1</b>` is not a number."),
        ("7", "at least two numbers"),
        ("1, 2\n3", "of one length"),
        ("1, nan", "`nan` does not fit"),
        ("1, 1e99", "`1e99` does not fit"),
        (" ".join("123456789"), "There is room for"),
        ("1 2\n" * 7, "There is room for"),
        ("", "Type some numbers"),
        (" \n ", "Type some numbers"),
    ],
)
def test_nonsense_gets_one_sentence(opened, text, sentence):
    app = opened()
    app.text_area(key="inside_vectors").set_value(text).run()
    assert not app.exception
    assert len(app.info) == 1
    assert sentence in app.info[0].value
    assert "The token's own" in shown_text(app)


def test_a_constant_vector_has_no_deviation(opened):
    text = shown_text(opened(inside_vectors="3 3 3"))
    assert "the deviation is 0" in text
    assert r"\mathbf{0.00316}" in text  # the root of epsilon
    assert "(0.00" in text


def test_a_batch_of_one_leaves_batch_normalisation_nothing(opened):
    assert "Your batch holds one vector" in shown_text(opened(inside_vectors="1 2"))
    assert "Your batch holds one vector" not in shown_text(opened())


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("norm", ["LayerNorm of the attention", "LayerNorm of the feed-forward layer"])
def test_the_tokens_own_numbers(opened, placement, norm):
    name = f"imdb-{placement}-ln"
    app = opened(checkpoint=name, layer="1", query="2 great", inside_norm=norm)
    steps = steps_of(LiveSubject(name, TEXT), 1, 0, 2)
    of_attention = steps.norm_attention
    used = of_attention if norm == "LayerNorm of the attention" else steps.norm_feed_forward
    assert f"= {used.mean:.4g}$" in shown_text(app)
    assert (
        f"`great`, {'the residual stream' if placement == 'post' else 'the residual stream on its way'}"
        in shown_text(app)
    )
    residual = LiveSubject(name, TEXT).record.residual
    if placement == "pre":  # what is normalised is the stream itself
        np.testing.assert_allclose(used.x, residual[2 if used is of_attention else 3, 2], atol=1e-5)
    else:  # what comes out is the stream from here on
        np.testing.assert_allclose(used.out, residual[3 if used is of_attention else 4, 2], atol=1e-5)


def test_an_encoder_with_rms_norm_has_that_of_both_vectors(opened, checkpoints):
    build(checkpoints / "own", "T5EncoderModel")
    app = opened(
        checkpoint="own",
        layer="1",
        inside_norm="RMSNorm of the feed-forward layer",
    )
    text = shown_text(app)
    # (0.25 + 9 + 72.25) / 3, and 0.5, -3 and 8.5 divided by its root
    assert r"(0.5^2 + (-3)^2 + 8.5^2) = 27.17$" in text
    assert r"\mathbf{5.21}" in text
    assert r"(0.10,\; -0.58,\; 1.63)" in text
    assert r"LayerNorm would make $(-0.31,\; -1.04,\; 1.35)$" in text
    assert "there is no shift β" in text
    assert r"\mathrm{RMSNorm}(x) =" in text
    assert app.segmented_control(key="inside_norm").options == [
        "RMSNorm of the attention",
        "RMSNorm of the feed-forward layer",
    ]


def test_where_there_is_no_first_norm_that_is_said(opened, checkpoints):
    build(checkpoints / "own", "ModernBertModel")
    (info,) = opened(checkpoint="own", layer="0").info
    assert "Layer 0 of this encoder has no norm before its attention" in info.value
    assert "there is no shift β" in shown_text(opened(checkpoint="own", layer="1"))


def test_digits_have_vectors_too(opened):
    assert "`r1c0`" in shown_text(opened(kind="Digit", query="r1c0"))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (VECTORS.default, [[0.5, -3, 8.5], [-1, 2, 5], [4, 4, 1]]),
        ("(1; 2)\n\n[3\t−4]", [[1, 2], [3, -4]]),
        ("1e2 -.5", [[100, -0.5]]),
    ],
)
def test_numbers_are_read_as_people_write_them(text, rows):
    assert read_vectors(text).tolist() == rows
