import numpy as np
import pandas as pd
import pytest

from viz.export.latex_table import latex_table


def body(frame: pd.DataFrame) -> list[str]:
    lines = latex_table(frame).splitlines()
    return lines[lines.index("\\midrule") + 1 : lines.index("\\bottomrule")]


def cells(*values: float) -> list[str]:
    return [line.removesuffix(" \\\\") for line in body(pd.DataFrame({"a": values}))]


def test_a_small_table() -> None:
    frame = pd.DataFrame({"head": ["L0 H1", "L1 H0"], "n": [3, -12], "share": [0.25, 0.5]})
    assert latex_table(frame).splitlines() == [
        "% \\usepackage{booktabs}",
        "\\begin{tabular}{lrr}",
        "\\toprule",
        "head & n & share \\\\",
        "\\midrule",
        "L0 H1 & $3$ & $0.250$ \\\\",
        "L1 H0 & $-12$ & $0.500$ \\\\",
        "\\bottomrule",
        "\\end{tabular}",
    ]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a & b", "a \\& b"),
        ("100 %", "100 \\%"),
        ("$x_1^2$", "\\$x\\_1\\textasciicircum{}2\\$"),
        ("#{~}", "\\#\\{\\textasciitilde{}\\}"),
        ("C:\\new", "C:\\textbackslash{}new"),
        ("<s>|", "\\textless{}s\\textgreater{}\\textbar{}"),
        ("two\nlines", "two lines"),
        ("a\x00b", "a�b"),
    ],
)
def test_what_latex_would_read_as_its_own_is_escaped(text: str, escaped: str) -> None:
    assert body(pd.DataFrame({"token": [text]})) == [f"{escaped} \\\\"]
    assert f"\n{escaped} \\\\\n" in latex_table(pd.DataFrame({text: [1]}))


def test_a_row_that_begins_with_a_bracket_is_no_option_of_the_line_before() -> None:
    assert body(pd.DataFrame({"token": ["[CLS]"]})) == ["{}[CLS] \\\\"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0.5, 0.25), ["$0.500$", "$0.250$"]),
        ((0.5, 0.00012, 0.0), ["$0.500$", "${1.2 \\times 10^{-4}}$", "$0.000$"]),
        ((12.345, -3.2), ["$12.3$", "$-3.2$"]),
        ((1234.5, 2.0), ["$1234$", "$2$"]),
        ((1.5e-6, 2e-7), ["${1.5 \\times 10^{-6}}$", "${2.0 \\times 10^{-7}}$"]),
        ((0.5, np.nan, np.inf), ["$0.500$", "--", "--"]),
        ((0.0, -0.0), ["$0$", "$0$"]),
        ((0.5, -1e-9), ["$0.500$", "${-1.0 \\times 10^{-9}}$"]),
    ],
)
def test_a_column_has_the_digits_that_it_needs(values: tuple[float, ...], expected: list[str]) -> None:
    assert cells(*values) == expected


def test_a_long_table_goes_on_over_pages_with_its_heading() -> None:
    lines = latex_table(pd.DataFrame({"n": range(72)})).splitlines()
    assert lines[:2] == ["% \\usepackage{booktabs,longtable}", "\\begin{longtable}{r}"]
    assert lines[3:8] == ["n \\\\", "\\midrule", "\\endhead", "\\bottomrule", "\\endfoot"]
    assert lines[-1] == "\\end{longtable}"
    assert len(lines) == 8 + 72 + 1


def test_a_table_without_rows_has_its_heading() -> None:
    assert body(pd.DataFrame({"a": [], "b": []})) == []


def test_a_table_that_would_be_too_wide_has_a_smaller_font() -> None:
    narrow, wide, too_wide = (
        latex_table(pd.DataFrame({f"a measure {number}": [0.25] for number in range(n)})).splitlines()
        for n in (6, 8, 30)
    )
    assert narrow[1].startswith("\\begin{tabular}")
    assert wide[1] == "{\\small\\setlength{\\tabcolsep}{4pt}"
    assert (wide[2], wide[-1]) == ("\\begin{tabular}{rrrrrrrr}", "}")
    assert too_wide[1].startswith("% wider than 16 cm")
    assert too_wide[2].startswith("{\\scriptsize")
