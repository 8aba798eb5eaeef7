import pytest

from app_pages.widgets.spelling import as_code, in_formula, sentence


def test_code_is_not_ended_by_the_words_in_it() -> None:
    assert as_code("*sigh* $x$") == "`*sigh* $x$`"
    assert as_code("a`b") == "`aˋb`"


def test_a_sentence_begins_with_a_capital_and_leaves_names_alone() -> None:
    assert sentence(ValueError("mnist-pre-LN takes an image, got NaN")) == (
        "Mnist-pre-LN takes an image, got NaN."
    )


@pytest.mark.parametrize(
    ("value", "digits", "written"),
    [
        (2.0, 4, "2"),
        (23.1666, 4, "23.17"),
        (106_700.0, 4, r"1.067 \cdot 10^{5}"),
        (-0.00001234, 3, r"-1.23 \cdot 10^{-5}"),
        (1e6, 8, "1000000"),
    ],
)
def test_numbers_hold_no_letter(value: float, digits: int, written: str) -> None:
    assert in_formula(value, digits) == written
