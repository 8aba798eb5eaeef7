import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.figure import VegaFigure
from viz.builders.palette import ACCENT, FALLS, RISES, TO_ONE, WeightScale
from viz.inside.key_table import KeyTable, column_digits, key_table

Q, KEYS = np.array([1.0, -2.0]), np.array([[3.0, 1.0], [0.5, 2.0], [-1.0, 0.0]])
VALUES = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [4.0, 0.0, -4.0]])


def table(
    scale: WeightScale = TO_ONE,
    *,
    masked: bool = False,
    others: bool = False,
    added: dict[str, np.ndarray] | None = None,
) -> VegaFigure:
    dots = KEYS @ Q
    weights = np.array([0.5, np.nan if masked else 0.25, 0.25])
    weighted = np.nan_to_num(weights)[:, None] * VALUES
    return key_table(
        KeyTable(
            names=["0 a", "1 b", "2 c"],
            query="1 b",
            q=Q,
            products=KEYS * Q,
            dots=dots,
            scores={"÷ √2": dots / 2**0.5} | (added or {}),
            weights=weights,
            weighted=weighted,
            remaining=weighted[0] if others else None,
            z=weighted.sum(axis=0),
            scale=scale,
            chosen=2,
        )
    )


def test_a_row_a_key_between_the_query_and_the_sum():
    cells, _, texts, keys, frames = drawn(table())
    assert len(cells) == 2 + 3 * 2 + 3 * 3 + 3
    assert len({cell["y"] for cell in cells}) == 5
    assert [text["text"] for text in texts[:2]] == ["q  1 b", "sum: z"]
    assert [key["text"] for key in keys] == ["0 a", "1 b", "2 c"]
    assert [frame["stroke"] for frame in frames] == [ACCENT]
    assert frames[0]["y"] < keys[2]["y"] < frames[0]["y"] + frames[0]["height"]


def test_products_and_weighted_values_have_scales_of_their_own():
    cells = table().frames["cells"]
    assert cells["share"].abs().max() == 1
    np.testing.assert_allclose(cells["value"][2:8], (KEYS * Q).ravel())
    np.testing.assert_allclose(cells["share"][2:8], (KEYS * Q).ravel() / 4)


def test_bars_of_dot_products_have_a_common_zero_and_the_colour_of_their_sign():
    _, bars, *_ = drawn(table())
    dots = bars[:3]  # 1, -3.5 and -1
    assert [bar["fill"] for bar in dots] == [RISES, FALLS, FALLS]
    assert dots[0]["x"] == pytest.approx(dots[1]["x"] + dots[1]["width"])
    assert dots[1]["width"] == pytest.approx(3.5 * dots[0]["width"])


@pytest.mark.parametrize(("scale", "times"), [(TO_ONE, 1), (WeightScale(0.5, "0 to its maximum"), 2)])
def test_bars_of_weights_reach_as_far_as_the_colours_of_the_maps(scale, times):
    _, bars, *_ = drawn(table(scale))
    _, as_shares, *_ = drawn(table())
    assert bars[3]["width"] == pytest.approx(times * as_shares[3]["width"])
    assert bars[3]["width"] == pytest.approx(2 * bars[4]["width"])


def test_a_masked_key_says_so():
    texts = table(masked=True).frames["texts"]["text"].tolist()
    assert texts.count("masked") == 1
    assert "masked" not in table().frames["texts"]["text"].tolist()


def test_keys_without_a_row_are_summed_up_in_one():
    cells, _, texts, _, _ = drawn(table(others=True))
    assert len({cell["y"] for cell in cells}) == 6
    assert texts[1]["text"] == "the other keys"


def test_a_table_of_the_numbers_has_a_row_a_key():
    frame = table().frame
    assert frame["name"].tolist() == ["0 a", "1 b", "2 c"]
    np.testing.assert_allclose(frame["dot"], KEYS @ Q)
    np.testing.assert_allclose(frame[["product 0", "product 1"]], KEYS * Q)
    assert "weighted value 2" in frame


def test_what_is_added_to_the_scores_has_columns_between_the_sums_and_the_weights():
    added = {"+ bias": np.array([1.5, 0.0, -1.5]), "= score": np.array([2.0, 1.0, 0.5])}
    with_bias = table(added=added)
    texts = with_bias.frames["texts"]
    headings = texts[texts["y"] == 10].sort_values("x")["text"].tolist()
    assert headings == [
        *("q · k by component", "sum", "÷ √2", "+ bias", "= score", "softmax"),
        "weight · v by component",
    ]
    assert list(with_bias.frame["= score"]) == [2, 1, 0.5]
    columns = texts[texts["text"].isin(["−1.50", "2.00"])]["x"].tolist()
    assert columns == [texts[texts["text"] == title]["x"].item() for title in ("+ bias", "= score")]
    assert with_bias.specification["width"] == table().specification["width"] + 2 * 60 + 3 * 6


@pytest.mark.parametrize(
    ("largest", "digits"), [(131.5, 1), (1e5, 1), (23.2, 1), (1.85, 2), (0.12, 3), (0.01, 4), (1e-9, 4), (0, 1)]
)  # fmt: skip
def test_a_column_has_three_digits_where_there_is_room(largest, digits):
    assert column_digits(np.array([0.0, -largest])) == digits
