import pytest

from app_pages.widgets.words import as_code, in_formula


def test_code_is_not_ended_by_the_words_in_it() -> None:
    assert as_code("*sigh* $x$") == "`*sigh* $x$`"
    assert as_code("a`b") == "`aˋb`"


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
