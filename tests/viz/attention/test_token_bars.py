import numpy as np
import pytest

from tests.viz.scene import drawn, scene
from viz.attention.token_bars import knock_out_bars, row_sums
from viz.builders.palette import ACCENT, FALLS, RISES
from viz.builders.theme import MIDDLE


def test_a_bar_is_as_high_as_its_row_sums_up_to():
    bars, (one,) = drawn(row_sums(np.array([[0.5, 0.5], [0.25, 0.0]]), ("a", "b"), query=1), width=300)
    heights = [bar["height"] for bar in bars]
    assert heights[1] == pytest.approx(heights[0] / 4)
    assert one["y"] == pytest.approx(bars[0]["y"])
    assert [bar["stroke"] == ACCENT for bar in bars] == [False, True]


@pytest.mark.parametrize("width", [300, 700])
@pytest.mark.parametrize(("n", "query"), [(6, 0), (26, 7), (64, 0), (64, 33)])
def test_upright_names_never_touch_and_the_query_has_its_own(n, query, width):
    tokens = ["a"] * n
    for figure in (
        row_sums(np.eye(n), tokens, query=query),
        knock_out_bars(tokens, np.zeros(n), query=query, limit=1, what="P(good)"),
    ):
        labels = [item for item in items(scene(figure, width=width)) if str(item.get("text")).endswith(" a")]
        assert f"{query} a" in {label["text"] for label in labels}
        assert {label["angle"] % 360 for label in labels} == {270}
        assert np.diff(sorted(label["x"] for label in labels)).min() >= MIDDLE


def items(node):
    yield node
    for child in node.get("items", ()):
        yield from items(child)


TOKENS = ("[CLS]", "not", "not")


def bars(tokens=TOKENS, change=(0.0, -0.5, 0.25), **options):
    return knock_out_bars(
        tokens, np.array(change), **({"query": 1, "limit": 0.5, "what": "P(good)"} | options)
    )


def test_what_falls_is_purple_below_and_what_rises_is_gold_above():
    coloured, ((zero),), _ = drawn(bars(), width=500)
    by_height = sorted(coloured, key=lambda bar: bar["x"])
    assert [bar["fill"] for bar in by_height[1:]] == [FALLS, RISES]
    assert by_height[1]["y"] == pytest.approx(zero["y"])
    assert by_height[2]["y"] + by_height[2]["height"] == pytest.approx(zero["y"])
    assert by_height[1]["height"] == pytest.approx(2 * by_height[2]["height"])


def test_equal_tokens_keep_their_own_bars():
    *_, cover = drawn(bars(), width=500)
    assert len({bar["x"] for bar in cover}) == 3


def test_a_token_can_be_clicked_over_its_whole_height():
    *_, cover = drawn(bars(), width=500)
    assert len({(bar["y"], bar["height"]) for bar in cover}) == 1
    assert cover[0]["height"] > 150


def test_the_query_is_outlined():
    *_, cover = drawn(bars(), width=500)
    assert [bar["stroke"] == ACCENT for bar in sorted(cover, key=lambda bar: bar["x"])] == [
        False,
        True,
        False,
    ]


def test_tokens_and_changes_of_different_number_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \(3,\), got change of \(1,\)"):
        bars(change=(0.1,))
