import pytest

from app_pages.positions.notation import between_patches, column_vector, format_scientific


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1.2e-7, r"{1.2 \times 10^{-7}}"),
        (0.00099, r"{9.9 \times 10^{-4}}"),
        (0.001, "0.001"),
        (12.3456, "12.346"),
    ],
)
def test_scientific(value, text):
    assert format_scientific(value) == text


def test_a_column_of_four_decimals():
    assert column_vector([0.5, -1 / 3]) == r"\begin{bmatrix} 0.5000 \\ -0.3333 \end{bmatrix}"


@pytest.mark.parametrize(
    ("down", "right", "text"),
    [
        (-2, -1, "2 rows above and 1 column to the left of the query"),
        (1, 3, "1 row below and 3 columns to the right of the query"),
        (-1, 0, "1 row above the query"),
        (0, 2, "2 columns to the right of the query"),
        (0, 0, "the query itself"),
    ],
)
def test_a_way_between_patches_in_words(down, right, text):
    assert between_patches(down, right) == text
