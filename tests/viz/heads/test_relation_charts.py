import pandas as pd
import pytest

from tests.viz.scene import drawn, whole
from viz.builders.palette import ACCENT, EMPHASIS, NEUTRAL
from viz.heads.relation_charts import (
    ROW,
    BestHead,
    LinkExample,
    best_heads,
    fits_into_line,
    link_arcs,
    linked_words,
    relation_dots,
)

CASE = BestHead("case", 0, 2, "to head", 0.5, 0.45, 0.55, 0.36, 2, 542, True)
DET = BestHead("det", 1, 3, "to dependent", 0.7, 0.6, 0.75, 0.55, -1, 433, True)
OBJ = BestHead("obj", 2, 0, "to head", 0.25, 0.2, 0.3, 0.5, -1, 20, False)


def figure(selected=(0, 2), relation="case"):
    return relation_dots([CASE, DET, OBJ], relation=relation, selected=selected, source="250 sentences")


def test_the_best_head_of_each_relation_is_the_one_with_the_largest_share():
    second = CASE._replace(layer=2, share=0.4)
    rows = pd.DataFrame([head._asdict() for head in (OBJ, second, DET, CASE)]).drop(columns="tested")
    assert best_heads(rows.assign(p=0.01)) == [CASE, DET, OBJ]
    assert not any(head.tested for head in best_heads(rows.assign(p=None)))


def test_a_row_for_each_relation_with_its_numbers():
    frame = figure().frame
    assert frame["relation"].tolist() == ["case", "det", "obj"]
    assert frame["name"].tolist() == [
        "L0 H2: preposition → noun",
        "L1 H3: noun → determiner",
        "L2 H0: object → verb",
    ]
    assert frame[["share", "baseline", "low", "high"]].iloc[1].tolist() == [0.7, 0.55, 0.6, 0.75]


def test_dots_baselines_and_intervals_lie_on_one_axis():
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


def test_only_heads_beyond_the_offset_are_filled():
    *_, dots = drawn(figure(), width=700)
    assert [item["fillOpacity"] for item in dots] == [1, 1, 0]
    assert [item["stroke"] for item in dots] == [ACCENT, EMPHASIS, NEUTRAL]


def test_green_is_only_the_chosen_head_of_the_chosen_relation():
    *_, dots = drawn(figure(selected=(1, 1)), width=700)
    assert ACCENT not in [item["stroke"] for item in dots]
    *_, dots = drawn(figure(selected=(2, 0), relation="obj"), width=700)
    assert [item["stroke"] for item in dots] == [EMPHASIS, EMPHASIS, ACCENT]


def test_a_click_says_relation_and_head():
    (param,) = (param for param in whole(figure())["params"] if param["name"] == "relation")
    assert param["select"]["fields"] == ["relation", "layer", "head", "direction"]


def test_everything_is_said_in_words():
    described = figure().description
    assert described.startswith(
        "The best head for each relation, 250 sentences. case: L0 H2 to head 50\u2009% of 542"
    )
    assert "the best offset 36\u2009%, beyond it" in described
    assert described.endswith("obj: L2 H0 to head 25\u2009% of 20, the best offset 50\u2009%")


def test_a_long_name_is_shortened_in_the_chart_alone():
    frame = relation_dots(
        [CASE._replace(relation="a very long relation")], relation="", selected=(0, 0), source=""
    ).frame
    assert frame["relation"][0] == "a very long relation"
    assert len(frame["label"][0]) == 13


WORDS = ("It", "looks", "at", "the", "film")
HIT, MISS = LinkExample(WORDS, 2, 4, 4), LinkExample(WORDS, 2, 4, 1)
LONG = tuple(f"word{index}" for index in range(60))


def test_arcs_go_from_the_query_to_both_ends():
    figure = link_arcs([HIT], title="L0 H2")
    tips, bold, words = drawn(figure)
    x_by_text = {item["text"]: item["x"] for item in (*bold, *words)}
    assert [item["text"] for item in bold] == ["at"]
    assert list(x_by_text) == ["at", "It", "looks", "the", "film"]
    assert x_by_text["It"] < x_by_text["looks"] < x_by_text["at"] < x_by_text["the"] < x_by_text["film"]
    assert [item["x"] for item in tips] == pytest.approx([x_by_text["film"]] * 2)
    (line,) = {item["y"] for item in words}
    above, below = (item["y"] for item in tips)
    assert above < line < below
    arcs = figure.frames["arcs"]
    assert arcs["arc"].nunique() == 2
    for _, arc in arcs.groupby("arc"):
        assert (arc["x"].iloc[0], arc["x"].iloc[-1]) == pytest.approx((x_by_text["at"], x_by_text["film"]))


def test_where_a_head_looks_elsewhere_its_arc_has_another_colour():
    hit, *_ = drawn(link_arcs([HIT], title=""))
    miss, bold, words = drawn(link_arcs([MISS], title=""))
    assert [item["fill"] for item in hit] == [EMPHASIS, NEUTRAL]
    assert miss[0]["fill"] not in (EMPHASIS, NEUTRAL)
    x_by_text = {item["text"]: item["x"] for item in (*bold, *words)}
    assert [item["x"] for item in miss] == pytest.approx([x_by_text["looks"], x_by_text["film"]])


def test_of_a_long_sentence_the_words_around_the_arcs_are_shown():
    example = LinkExample(LONG, 30, 32, 29)
    frame = link_arcs([example], title="").frames["words"]
    shown = frame["word"].tolist()
    assert {"word29", "word30", "word32"} < set(shown)
    assert "word0" not in shown
    assert shown.count("…") == 2
    assert frame["x"].between(0, 820).all()


def test_a_link_that_is_too_long_for_a_line_is_refused():
    assert fits_into_line(HIT)
    assert not fits_into_line(LinkExample(LONG, 0, 50, 1))
    assert not fits_into_line(LinkExample(LONG, 0, 1, 50))
    with pytest.raises(ValueError, match="a line has no room for the words 'word0 word1"):
        link_arcs([LinkExample(LONG, 0, 50, 1)], title="")


def test_the_file_holds_a_row_for_each_sentence():
    frame = link_arcs([HIT, MISS], title="").frame
    assert frame["strongest key"].tolist() == ["film", "looks"]
    assert frame["hit"].tolist() == [True, False]
    assert frame["sentence"][0] == "It looks at the film"


def test_the_description_has_every_example():
    described = link_arcs([HIT, MISS], title="L0 H2 on case").description
    assert described == "L0 H2 on case: from at to film; from at to looks instead of film"
    assert link_arcs([], title="L0 H2").description == "L0 H2: no example"


@pytest.mark.parametrize(
    ("relation", "direction", "expected"),
    [
        ("det", "to head", "determiner → noun"),
        ("det", "to dependent", "noun → determiner"),
        ("nsubj:pass", "to head", "subject → verb"),
        ("contact", "to dependent", "contact, to dependent"),
    ],
)
def test_a_relation_is_named_by_the_words_that_it_links(relation, direction, expected):
    assert linked_words(relation, direction) == expected
