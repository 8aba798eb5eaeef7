from viz.inside.categories import COLOURS
from viz.palette import ACCENT


def test_no_two_kinds_and_no_choice_look_alike():
    assert len({*COLOURS, ACCENT}) == len(COLOURS) + 1
