import numpy as np
import pandas as pd
import pytest

from viz.export.latex_table import latex_table


def rows(frame: pd.DataFrame, **options: str) -> list[str]:
    """The rows of the table, the heading first."""
    return [
        line.removesuffix(" \\\\")
        for line in latex_table(frame, **options).splitlines()
        if line.endswith("\\\\") and "multicolumn" not in line
    ]


def test_texts_stand_at_the_left_and_numbers_at_the_right_without_the_index() -> None:
    frame = pd.DataFrame({"role": ["sink"], "n": [3], "is": [True], "share": [0.5]}, index=[7])
    lines = latex_table(frame).splitlines()
    assert lines[:3] == ["% \\usepackage{booktabs}", "{\\small", "\\begin{tabular}{lrrr}"]
    assert rows(frame) == ["role & n & is & share", "sink & $3$ & True & $0.500$"]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a&b 50% $5 #1 x_y {z}", "a\\&b 50\\% \\$5 \\#1 x\\_y \\{z\\}"),
        ("\\input{x}", "\\textbackslash{}input\\{x\\}"),
        ("~^<>|−", "\\textasciitilde{}\\textasciicircum{}\\textless{}\\textgreater{}\\textbar{}$-$"),
        ("[SEP]", "{}[SEP]"),
        ("two\nlines\x00", "two lines�"),
    ],
)
def test_nothing_in_a_text_or_a_heading_is_a_command(text: str, escaped: str) -> None:
    assert rows(pd.DataFrame({text: [text]})) == [escaped, escaped]
    assert escaped in latex_table(pd.DataFrame({"n": [1]}), note=text)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0.125, 0.5), ["$0.125$", "$0.500$"]),
        ((12.345, -3.2), ["$12.3$", "$-3.2$"]),
        ((1234.5, 2.0), ["$1234$", "$2$"]),
        ((1.5e-6, -2e-7, 0.0), ["$1.50 \\cdot 10^{-6}$", "$-2.00 \\cdot 10^{-7}$", "$0$"]),
        ((1.5e300, 2.0), ["$1.50 \\cdot 10^{300}$", "$2.00 \\cdot 10^{0}$"]),
        ((0.5, np.nan, np.inf), ["$0.500$", "--", "--"]),
        ((0.0, -0.0), ["$0$", "$0$"]),
        ((0.5, -1e-9), ["$0.500$", "$0.000$"]),
    ],
)
def test_a_column_has_the_digits_that_it_needs(values: tuple[float, ...], expected: list[str]) -> None:
    assert rows(pd.DataFrame({"a": values}))[1:] == expected


def test_names_of_columns_may_occur_twice_and_a_table_may_have_no_rows() -> None:
    assert rows(pd.DataFrame([[1, 2]], columns=["a", "a"])) == ["a & a", "$1$ & $2$"]
    assert rows(pd.DataFrame({"a": [], "b": []})) == ["a & b"]


def test_a_long_table_goes_on_over_pages() -> None:
    lines = latex_table(pd.DataFrame({"n": range(72)}), note="72 numbers").splitlines()
    assert lines[0] == "% \\usepackage{booktabs,longtable}"
    assert lines[2].startswith("\\begin{longtable}")
    assert {"\\endhead", "\\endfoot", "\\endlastfoot", "$71$ \\\\"} <= set(lines)
    assert lines[-2:] == ["\\par\\smallskip\\footnotesize 72 numbers\\par", "}"]
