import numpy as np

from app_pages.masks.methods import masked_numbers_tex, masked_symbols_tex, output_tex


def test_the_symbols_of_two_positions():
    assert masked_symbols_tex(2) == (
        r"S + M = \begin{pmatrix} s_{11} & -\infty \\ s_{21} & s_{22} \end{pmatrix}",
        r"A = \begin{pmatrix} 1 & 0 \\ e^{s_{21}} / Z_2 & e^{s_{22}} / Z_2 \end{pmatrix}",
    )


def test_the_numbers_of_two_positions_by_hand():
    assert masked_numbers_tex(np.log([[3.0, 7.0], [1.0, 3.0]]), np.array([[1, 0], [0.25, 0.75]])) == (
        r"S + M = \begin{pmatrix} 1.10 & -\infty \\ 0.00 & 1.10 \end{pmatrix}",
        r"A = \begin{pmatrix} 1.000 & 0 \\ 0.250 & 0.750 \end{pmatrix}",
        r"Z_2 = e^{0.00} + e^{1.10} = 4.000",
    )


def test_the_output_of_two_positions_by_hand():
    values = np.array([[4.0, -8.0], [0.0, 4.0]])
    out = np.array([[1, 0], [0.25, 0.75]]) @ values  # 0.25 · 4 = 1, and -0.25 · 8 + 0.75 · 4 = 1
    assert output_tex(values, out) == (
        r"V = \begin{pmatrix} 4.00 & -8.00 \\ 0.00 & 4.00 \end{pmatrix}, \quad "
        r"\mathrm{out} = A\,V = \begin{pmatrix} 4.00 & -8.00 \\ 1.00 & 1.00 \end{pmatrix}"
    )


def test_a_large_denominator_has_four_digits():
    *_, denominator = masked_numbers_tex(np.array([[0.0, 0.0], [11.11, 14.13]]), np.eye(2))
    assert denominator == r"Z_2 = e^{11.11} + e^{14.13} = {1.436 \times 10^{6}}"
