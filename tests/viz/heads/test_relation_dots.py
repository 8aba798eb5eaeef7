"""The best head for each relation, as dots."""

import pytest

from tests.viz.scene import drawn, whole
from viz.builders.palette import ACCENT, EMPHASIS, NEUTRAL
from viz.heads.relation_dots import ROW, BestHead, relation_dots

CASE = BestHead("case", 0, 2, "to head", 0.5, 0.45, 0.55, 0.36, 2, 542, True)
DET = BestHead("det", 1, 3, "to dependent", 0.7, 0.6, 0.75, 0.55, -1, 433, True)
OBJ = BestHead("obj", 2, 0, "to head", 0.25, 0.2, 0.3, 0.5, -1, 20, False)


def figure(selected=(0, 2), relation="case"):
    return relation_dots([CASE, DET, OBJ], relation=relation, selected=selected, source="250 sentences")


def test_a_row_for_each_relation_with_its_numbers() -> None:
    frame = figure().frame
    assert frame["relation"].tolist() == ["case", "det", "obj"]
    assert frame["name"].tolist() == ["L0 H2, to head", "L1 H3, to dependent", "L2 H0, to head"]
    assert frame[["share", "baseline", "low", "high"]].iloc[1].tolist() == [0.7, 0.55, 0.6, 0.75]


def test_dots_baselines_and_intervals_lie_on_one_axis() -> None:
    bars, intervals, *_, dots = drawn(figure(), width=700)
    first, second = dots[0]["x"], dots[1]["x"]
    per_share = (second - first) / (DET.share - CASE.share)
    origin = first - CASE.share * per_share
    assert dots[2]["x"] == pytest.approx(origin + OBJ.share * per_share)
    assert [item["y"] for item in dots] == [ROW * (row + 0.5) for row in range(3)]
    ends = sorted((intervals[0]["x"], intervals[0]["x2"]))
    assert ends == pytest.approx([origin + CASE.low * per_share, origin + CASE.high * per_share])
    middle = bars[2]["x"] + bars[2].get("width", 0) / 2
    assert middle == pytest.approx(origin + OBJ.baseline * per_share, abs=2.5)


def test_only_heads_beyond_the_offset_are_filled() -> None:
    *_, dots = drawn(figure(), width=700)
    assert [item["fillOpacity"] for item in dots] == [1, 1, 0]
    assert [item["stroke"] for item in dots] == [ACCENT, EMPHASIS, NEUTRAL]


def test_green_is_only_the_chosen_head_of_the_chosen_relation() -> None:
    *_, dots = drawn(figure(selected=(1, 1)), width=700)
    assert ACCENT not in [item["stroke"] for item in dots]
    *_, dots = drawn(figure(selected=(2, 0), relation="obj"), width=700)
    assert [item["stroke"] for item in dots] == [EMPHASIS, EMPHASIS, ACCENT]


def test_a_click_says_relation_and_head() -> None:
    (param,) = (param for param in whole(figure())["params"] if param["name"] == "relation")
    assert param["select"]["fields"] == ["relation", "layer", "head", "direction"]


def test_everything_is_said_in_words() -> None:
    described = figure().description
    assert described.startswith(
        "The best head for each relation, 250 sentences. case: L0 H2 to head 50\u2009% of 542"
    )
    assert "the best offset 36\u2009%, beyond it" in described
    assert described.endswith("obj: L2 H0 to head 25\u2009% of 20, the best offset 50\u2009%")


def test_a_long_name_is_shortened_in_the_chart_alone() -> None:
    frame = relation_dots(
        [CASE._replace(relation="a very long relation")], relation="", selected=(0, 0), source=""
    ).frame
    assert frame["relation"][0] == "a very long relation"
    assert len(frame["label"][0]) == 13
