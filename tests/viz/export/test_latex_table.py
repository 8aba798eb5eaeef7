import numpy as np
import pandas as pd
import pytest

from viz.export.latex_table import latex_table
from viz.export.latex_width import latex_width


def body(frame: pd.DataFrame) -> list[str]:
    lines = latex_table(frame).splitlines()
    return lines[lines.index("\\midrule") + 1 : lines.index("\\bottomrule")]


def cells(*values: float) -> list[str]:
    return [line.removesuffix(" \\\\") for line in body(pd.DataFrame({"a": values}))]


def test_a_small_table() -> None:
    frame = pd.DataFrame({"head": ["L0 H1", "L1 H0"], "n": [3, -12], "share": [0.25, 0.5]})
    assert latex_table(frame).splitlines() == [
        "% \\usepackage{booktabs}",
        "\\begin{tabular}{@{}lrr@{}}",
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
        ((0.5, 0.00012, 0.0), ["$0.500$", "$<0.0005$", "$0.000$"]),
        ((12.345, -3.2), ["$12.3$", "$-3.2$"]),
        ((1234.5, 2.0), ["$1234$", "$2$"]),
        ((1.5e-6, 2e-7), ["$1.50$", "$0.20$"]),
        ((5e-324, -2e-320), ["$<0.005$", "$-2.00$"]),
        ((1.5e300, 2.0), ["$1.50$", "$<0.005$"]),
        ((0.5, np.nan, np.inf), ["$0.500$", "--", "--"]),
        ((0.0, -0.0), ["$0$", "$0$"]),
        ((0.5, -1e-9), ["$0.500$", "$>-0.0005$"]),
    ],
)
def test_a_column_has_the_digits_that_it_needs(values: tuple[float, ...], expected: list[str]) -> None:
    assert cells(*values) == expected


def test_a_long_table_goes_on_over_pages_with_its_heading() -> None:
    lines = latex_table(pd.DataFrame({"n": range(72)})).splitlines()
    assert lines[:2] == ["% \\usepackage{booktabs,longtable}", "\\begin{longtable}{@{}r@{}}"]
    assert lines[3:6] == ["n \\\\", "\\midrule", "\\endhead"]
    assert lines[6:10] == ["\\bottomrule", "\\endfoot", "\\bottomrule", "\\endlastfoot"]
    assert lines[-1] == "\\end{longtable}"
    assert len(lines) == 10 + 72 + 1


def test_a_table_without_rows_has_its_heading() -> None:
    assert body(pd.DataFrame({"a": [], "b": []})) == []


def test_numbers_below_a_hundredth_have_a_power_of_ten_as_their_unit() -> None:
    assert "importance (in $10^{-4}$) \\\\" in latex_table(pd.DataFrame({"importance": [0.00012, 0.0]}))


def parts(table: str) -> list[list[list[str]]]:
    """The rows of each part of a table, heading lines first, as cells."""
    return [
        [line.removesuffix(" \\\\").split(" & ") for line in part.splitlines() if " & " in line]
        for part in table.split("\\medskip")
    ]


def widths(table: str) -> list[float]:
    """Width of each part in points, of columns that are not broken: a second way to count it, from the written table."""
    gap = int(table.partition("\\tabcolsep}{")[2].partition("pt")[0] or 6)
    size = 9.26 if "\\small" in table else 10
    return [
        sum(max(latex_width(cell, size) for cell in column) for column in zip(*rows, strict=True))
        + 2 * gap * (len(rows[0]) - 1)
        for rows in parts(table)
    ]


@pytest.mark.parametrize("n", [1, 4, 6, 7, 8, 12, 30])
@pytest.mark.parametrize(
    "heading", ["n", "a measure {}", "distance-in-tokens of {}", "standard deviation {}"]
)
def test_a_table_is_as_wide_as_the_text_of_an_article_at_most(n: int, heading: str) -> None:
    measures = {heading.format(number): [0.25, 12.5e-9] for number in range(n)}
    frame = pd.DataFrame({"head": ["L0 H1", "L11 H10"], "role": ["previous-token", ""], **measures})
    table = latex_table(frame)
    assert max(widths(table)) <= 345
    assert all(rows[-1][0] == "L11 H10" for rows in parts(table))


def test_what_does_not_fit_beside_each_other_goes_on_below_with_the_columns_that_tell_the_rows_apart() -> (
    None
):
    measures = {f"measure{number}": [0.25, 0.5, 0.75] for number in range(12)}
    frame = pd.DataFrame(
        {"layer": [0, 0, 1], "head": [0, 1, 0], "role": ["sink", "", "sink"], **measures, "n": [3, 4, 5]}
    )
    first, second = parts(latex_table(frame))
    assert first[0][:3] == ["layer", "head", "role"]
    assert second[0][:2] == ["layer", "head"]
    assert [row[:2] for row in second[1:]] == [["$0$", "$0$"], ["$0$", "$1$"], ["$1$", "$0$"]]
    assert first[0] + second[0][2:] == list(frame.columns)
    assert second[1][-1] == "$3$"


def test_headings_are_broken_before_letters_become_small() -> None:
    table = latex_table(pd.DataFrame({f"mean-ablated {n}": [0.25] for n in range(7)}))
    assert table.splitlines()[1] == "\\begin{tabular}{@{}rrrrrrr@{}}"
    assert [row[0] for row in parts(table)[0]] == ["mean-", "ablated", "0", "$0.250$"]


def test_letters_are_small_but_not_smaller() -> None:
    lines = latex_table(pd.DataFrame({f"measure{n}": [0.25] for n in range(7)})).splitlines()
    assert lines[1] == "{\\small\\setlength{\\tabcolsep}{4pt}%"
    assert lines[-2:] == ["\\end{tabular}%", "}"]


def test_a_long_text_is_broken_into_lines() -> None:
    table = latex_table(pd.DataFrame({"text": ["a very long review of a film " * 9], "share": [0.5]}))
    assert table.startswith("% \\usepackage{booktabs,array}\n")
    points = int(table.partition("p{")[2].partition("pt")[0])
    assert 200 < points <= 345 - 2 * 3 - latex_width("share", 9.26)


def test_a_word_that_cannot_be_broken_is_said() -> None:
    table = latex_table(pd.DataFrame({"word": ["a" * 200]}))
    assert "% wider than 12.1 cm even so: a word is too long to be broken" in table


def test_the_room_can_be_given() -> None:
    frame = pd.DataFrame({f"measure{n}": [0.25] for n in range(6)})
    assert len(parts(latex_table(frame, width_cm=8.5))) == 2
    assert len(parts(latex_table(frame))) == 1


@pytest.mark.parametrize("n", [3, 60])
def test_a_note_stands_below_the_last_row(n: int) -> None:
    lines = latex_table(pd.DataFrame({"n": range(n)}), note="Means over 40 texts & 2 % more.").splitlines()
    (line,) = (line for line in lines if line.startswith("\\multicolumn{1}"))
    assert "Means over 40 texts \\& 2 \\% more.} \\\\" in line
    assert lines[lines.index(line) - 1] == "\\bottomrule"
