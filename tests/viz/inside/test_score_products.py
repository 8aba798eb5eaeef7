import numpy as np
import pandas as pd
import pytest

from tests.viz.scene import drawn
from viz.builders.figure import VegaFigure
from viz.builders.palette import FALLS, RISES
from viz.inside.score_products import ALL, score_products

LONG = "L11 H11 from 127 unbelievable"
PRODUCTS = pd.DataFrame(
    [[3.0, -1.0, 0.0], [0.5, 0.25, 0.25]], ["L0 H2 from 4 not", "all others"], [LONG, "token", "all others"]
)


def figure(products: pd.DataFrame = PRODUCTS) -> VegaFigure:
    return score_products(products, query="5 good", key="4 not")


def texts(marks: list[dict]) -> list[str]:
    return [mark["text"] for mark in marks]


def test_the_products_sum_to_the_score_and_the_bars_to_rows_and_columns():
    assert figure().frame["product"].sum() == 3
    assert list(figure().frame["query part"]) == ["L0 H2 from 4 not"] * 3 + ["all others"] * 3
    *_, written, _, _, _ = drawn(figure(), width=700)
    assert texts(written[2:4]) == ["+2.00", "+1.00"]
    assert texts(written[7:]) == ["+3.50", "−0.75", "+0.25"]
    assert figure().specification["title"]["text"] == "Score 3 of 4 not for 5 good, as a sum"


def test_the_others_are_the_last_row_and_the_last_column():
    *_, written, sides, _, _ = drawn(figure(), width=700)
    query_names, key_names = written[:2], written[4:7]
    assert texts(query_names) == ["L0 H2 from 4 not →", "all others"]
    assert texts(key_names) == [f"{LONG} →", "token", "all others"]
    assert query_names[0]["y"] < query_names[1]["y"]
    assert key_names[0]["x"] < key_names[1]["x"] < key_names[2]["x"]
    assert key_names[0]["y"] > key_names[1]["y"] > key_names[2]["y"]
    assert texts(sides) == ["in the query 5 good", "in the key 4 not"]


def test_bars_have_one_zero_the_colour_of_their_sign_and_a_length_in_proportion():
    _, _, _, bars, *_ = drawn(figure(), width=700)
    of_query, of_key = bars[:2], bars[2:]
    assert [bar["fill"] for bar in bars] == [RISES, RISES, RISES, FALLS, RISES]
    assert of_query[0]["width"] == pytest.approx(2 * of_query[1]["width"])
    assert of_query[0]["x"] == of_query[1]["x"]
    heights = np.array([bar["height"] for bar in of_key])
    np.testing.assert_allclose(heights / heights[0], [1, 0.75 / 3.5, 0.25 / 3.5])
    assert of_key[0]["y"] + of_key[0]["height"] == pytest.approx(of_key[1]["y"])


def test_a_product_that_is_written_as_zero_is_left_blank():
    _, _, numbers, *_ = drawn(figure(), width=700)
    assert texts(numbers) == ["+3.00", "−1.00", "", "+0.50", "+0.25", "+0.25"]


def test_pointing_names_both_parts_in_full_and_the_sum():
    opens, others = (figure().frames[name] for name in ("opens", "covers"))
    first, last = opens.iloc[0], others.iloc[-1]
    assert (first["query_part"], first["key_part"], first["sum"]) == ("L0 H2 from 4 not", LONG, "+3")
    assert (last["query_part"], last["key_part"], last["sum"]) == (ALL, "all others", "+0.25")
    assert len(opens) + len(others) == 6 + 2 + 3 + 3  # cells, rows, columns and the names of these
    assert drawn(figure(), width=700)[-1][0]["description"] == f"L0 H2 from 4 not × {LONG}: +3"


def test_only_what_holds_a_head_can_be_clicked():
    *_, others, opens = (layer["mark"].get("cursor") for layer in figure().specification["layer"])
    assert (others, opens) == (None, "pointer")
    heads = {"L0 H2 from 4 not", LONG}
    for name, is_opened in (("opens", True), ("covers", False)):
        sides = figure().frames[name][["query_part", "key_part"]]
        assert sides.isin(heads).any(axis=1).eq(is_opened).all()


def test_a_name_is_cut_only_where_the_figure_ends():
    for width in (700, 1400):
        *_, written, _, _, _ = drawn(figure(), width=width)
        cell = drawn(figure(), width=width)[1][0]["width"]
        limits = [mark["limit"] / cell for mark in (*written[:2], *written[4:7])]
        assert limits == pytest.approx([3.4, 3.4, 6.2, 7.2, 8.2])


def test_of_three_columns_the_names_are_no_wider_than_of_nine():
    nine = pd.DataFrame(np.ones((2, 9)), ["a", "b"], [*"cdefghijk"])
    widths = [drawn(figure(products), width=700)[1][0]["width"] for products in (PRODUCTS, nine)]
    assert widths[0] == pytest.approx(widths[1])


def test_a_score_without_products_is_refused():
    with pytest.raises(ValueError, match=r"at least one product, got shape \(0, 0\)"):
        figure(pd.DataFrame())
