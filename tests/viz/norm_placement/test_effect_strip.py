from tests.viz.scene import drawn
from viz.builders.palette import POST_LN, PRE_LN
from viz.norm_placement.effect_strip import HEIGHT, EffectDot, axis_end, effect_axis, effect_strip

DOTS = (EffectDot("texts", 16, -2.0, -3.0, -1.0), EffectDot("digits", 3, 4.0, 2.0, 20.0))


def test_a_dot_below_the_other_within_the_row() -> None:
    frame = effect_strip(DOTS, end=30, title="A claim.").frame
    assert frame["effect"].tolist() == [-2.0, 4.0]
    assert frame["larger"].tolist() == ["post-LN", "pre-LN"]
    assert 0 < frame["y"].iloc[0] < frame["y"].iloc[1] < HEIGHT


def test_dots_have_the_colour_of_the_placement_with_larger_values() -> None:
    items = [
        item for items in drawn(effect_strip(DOTS, end=30, title="A claim."), width=400) for item in items
    ]
    assert {PRE_LN, POST_LN} <= {item.get("fill") for item in items}


def test_the_axis_shows_every_whisker_and_its_ticks_lie_on_it() -> None:
    end = axis_end(DOTS)
    assert end > 20
    assert max(map(abs, effect_axis(end).frame["tick"])) <= end
    assert axis_end([]) == 3
