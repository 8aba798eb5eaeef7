"""Links and strongest keys as arcs over a sentence."""

import pytest

from tests.viz.scene import drawn
from viz.builders.palette import EMPHASIS, NEUTRAL
from viz.heads.link_arcs import LinkExample, fits_into_line, link_arcs

WORDS = ("It", "looks", "at", "the", "film")
HIT, MISS = LinkExample(WORDS, 2, 4, 4), LinkExample(WORDS, 2, 4, 1)
LONG = tuple(f"word{index}" for index in range(60))


def test_arcs_go_from_the_query_to_both_ends() -> None:
    figure = link_arcs([HIT], title="L0 H2")
    tips, bold, words = drawn(figure)
    places = {item["text"]: item["x"] for item in (*bold, *words)}
    assert [item["text"] for item in bold] == ["at"]
    assert list(places) == ["at", "It", "looks", "the", "film"]
    assert places["It"] < places["looks"] < places["at"] < places["the"] < places["film"]
    assert [item["x"] for item in tips] == pytest.approx([places["film"]] * 2)
    (line,) = {item["y"] for item in words}
    above, below = (item["y"] for item in tips)
    assert above < line < below
    arcs = figure.frames["arcs"]
    assert arcs["arc"].nunique() == 2
    for _, arc in arcs.groupby("arc"):
        assert (arc["x"].iloc[0], arc["x"].iloc[-1]) == pytest.approx((places["at"], places["film"]))


def test_where_a_head_looks_elsewhere_its_arc_has_another_colour() -> None:
    hit, *_ = drawn(link_arcs([HIT], title=""))
    miss, bold, words = drawn(link_arcs([MISS], title=""))
    assert [item["fill"] for item in hit] == [EMPHASIS, NEUTRAL]
    assert miss[0]["fill"] not in (EMPHASIS, NEUTRAL)
    places = {item["text"]: item["x"] for item in (*bold, *words)}
    assert [item["x"] for item in miss] == pytest.approx([places["looks"], places["film"]])


def test_of_a_long_sentence_the_words_around_the_arcs_are_shown() -> None:
    example = LinkExample(LONG, 30, 32, 29)
    frame = link_arcs([example], title="").frames["words"]
    shown = frame["word"].tolist()
    assert {"word29", "word30", "word32"} < set(shown)
    assert "word0" not in shown
    assert shown.count("…") == 2
    assert frame["x"].between(0, 820).all()


def test_a_link_that_is_too_long_for_a_line_is_refused() -> None:
    assert fits_into_line(HIT)
    assert not fits_into_line(LinkExample(LONG, 0, 50, 1))
    assert not fits_into_line(LinkExample(LONG, 0, 1, 50))
    with pytest.raises(ValueError, match="a line has no room for the words 'word0 word1"):
        link_arcs([LinkExample(LONG, 0, 50, 1)], title="")


def test_the_file_holds_a_row_for_each_sentence() -> None:
    frame = link_arcs([HIT, MISS], title="").frame
    assert frame["strongest key"].tolist() == ["film", "looks"]
    assert frame["hit"].tolist() == [True, False]
    assert frame["sentence"][0] == "It looks at the film"


def test_everything_is_said_in_words() -> None:
    described = link_arcs([HIT, MISS], title="L0 H2 on case").description
    assert described == "L0 H2 on case: from at to film; from at to looks instead of film"
    assert link_arcs([], title="L0 H2").description == "L0 H2: no example"
