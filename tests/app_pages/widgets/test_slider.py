import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from app_pages.widgets.slider import slider_up_to

    most, first = st.session_state["now"]
    if most:
        slider_up_to("Value", most, first, key="value")


def open_page(most: int, first: int | tuple[int, int]) -> AppTest:
    app = AppTest.from_function(page)
    app.session_state["now"] = most, first
    return app.run()


def at(app: AppTest, most: int, first: int | tuple[int, int]) -> int | tuple[int, int]:
    """What is chosen in the first run in which the slider reaches to `most`."""
    app.session_state["now"] = most, first
    app.run()
    assert not app.exception
    assert not app.warning
    return app.slider(key="value").value


def test_what_was_chosen_is_kept_as_far_as_the_slider_reaches() -> None:
    app = open_page(63, 10)
    assert app.slider(key="value").value == 10
    app.slider(key="value").set_value(25).run()
    assert at(app, 127, 10) == 25
    assert at(app, 20, 10) == 20
    assert at(app, 63, 10) == 20
    app.slider(key="value").set_value(30).run()
    assert at(app, 63, 10) == 30


@pytest.mark.parametrize(("chosen", "kept"), [((40, 90), (40, 60)), ((70, 90), (60, 60)), ((2, 5), (2, 5))])
def test_a_range_is_kept_as_well(chosen: tuple[int, int], kept: tuple[int, int]) -> None:
    app = open_page(100, (0, 63))
    app.slider(key="value").set_value(chosen).run()
    assert at(app, 60, (0, 63)) == kept


def test_a_value_that_became_too_large_while_the_slider_was_away() -> None:
    app = open_page(16, 1)
    app.slider(key="value").set_value(12).run()
    app.session_state["now"] = 0, 1
    app.run()
    assert at(app, 6, 1) == 6
