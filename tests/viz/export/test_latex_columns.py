import pandas as pd
import pytest

from viz.export.latex_columns import columns, heading_lines


@pytest.mark.parametrize(
    ("heading", "values", "lines"),
    [
        ("entropy", [0.25], ("entropy",)),
        ("distance (tokens)", [1.5], ("distance", "(tokens)")),
        ("mean-ablated", [0.25], ("mean-", "ablated")),
        ("n of a list", [0.25], ("n of", "a list")),
        ("importance", [0.00025], ("importance", "(in $10^{-4}$)")),
        ("a text", ["which is longer than its heading"], ("a text",)),
        ("-1", [0.25], ("-1",)),
        ("", [1], ("",)),
    ],
)
def test_a_heading_is_broken_to_be_as_narrow_as_cells_and_words_allow(
    heading: str, values: list, lines: tuple[str, ...]
) -> None:
    (column,) = columns(pd.DataFrame({heading: values}))
    assert heading_lines(column) == lines


def test_the_columns_before_the_first_measure_say_what_a_row_is_about() -> None:
    frame = pd.DataFrame({"layer": [0], "role": ["sink"], "share": [0.5], "n": [3]})
    assert [column.is_key for column in columns(frame)] == [True, True, False, False]
    assert [column.is_text for column in columns(frame)] == [False, True, False, False]
