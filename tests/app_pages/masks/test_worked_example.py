import numpy as np

from app_pages.masks.worked_example import (
    last_row,
    numeric_pattern,
    numeric_scores,
    symbolic_pattern,
    symbolic_scores,
)


def test_the_symbols_of_two_positions() -> None:
    assert symbolic_scores(2) == r"\begin{pmatrix} s_{11} & -\infty \\ s_{21} & s_{22} \end{pmatrix}"
    assert (
        symbolic_pattern(2) == r"\begin{pmatrix} 1 & 0 \\ e^{s_{21}} / Z_2 & e^{s_{22}} / Z_2 \end{pmatrix}"
    )


def test_the_numbers_of_two_positions_by_hand() -> None:
    scores = np.log([[3.0, 7.0], [1.0, 3.0]])
    assert numeric_scores(scores) == r"\begin{pmatrix} 1.10 & -\infty \\ 0.00 & 1.10 \end{pmatrix}"
    pattern = np.array([[1, 0], [0.25, 0.75]])
    assert numeric_pattern(pattern) == r"\begin{pmatrix} 1.000 & 0 \\ 0.250 & 0.750 \end{pmatrix}"
    assert last_row(scores[-1]) == r"Z_2 = e^{0.00} + e^{1.10} = 4.000"
