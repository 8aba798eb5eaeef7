from viz.builders.vega_colours import colour_legend


def test_the_title_is_whole_and_the_ticks_are_those_given():
    legend = colour_legend("change of P(7)", [-0.2, 0, 0.2], format="+.3~g").to_dict()
    assert (legend["title"], legend["titleLimit"]) == ("change of P(7)", 0)
    assert (legend["values"], legend["format"]) == ([-0.2, 0, 0.2], "+.3~g")
    assert (legend["orient"], legend["direction"]) == ("bottom", "horizontal")
