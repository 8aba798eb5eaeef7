"""Controls on a page that is run again and again with other options."""

from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import RerunException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest

from app_pages.controls import address
from app_pages.controls.address import (
    Code,
    Control,
    MultiSelect,
    Number,
    Pills,
    Row,
    SelectBox,
    SelectSlider,
    Slider,
    TextBox,
    Toggle,
)
from app_pages.controls.map_controls import LAYER


def page() -> None:
    import streamlit as st

    kind, fixed, declared, options = st.session_state["now"]
    if kind is not None:
        control = kind("it", "Choose", *fixed, **declared)
        st.session_state["found"] = control.choose(*options)
        st.button("Take", on_click=lambda: control.take(st.session_state["wanted"]))


class Page:
    """One control, drawn with these options or bounds; `declared` is what its declaration says beside them."""

    def __init__(
        self, kind: type[Control], *options: Any, link: str | list[str] | None = None, **declared: Any
    ) -> None:
        self.kind, self.declared = kind, declared
        self.app = AppTest.from_function(page)
        if link is not None:
            self.app.query_params["it"] = link
        self.draw(*options)

    def draw(self, *options: Any) -> Any:
        """What is chosen among these options."""
        fixed, drawn = (options, ()) if self.kind in FIXED else ((), options)
        self.app.session_state["now"] = self.kind, fixed, self.declared, drawn
        self.app.run()
        return self.found

    def look_away(self) -> None:
        self.app.session_state["now"] = None, (), {}, ()
        self.app.run()

    def choose(self, value: Any) -> Any:
        self.widget.set_value(value).run()
        return self.found

    def take(self, value: Any) -> Any:
        """As a click on a figure does."""
        self.app.session_state["wanted"] = value
        self.app.button[0].click().run()
        return self.found

    @property
    def widget(self) -> Any:
        return self.app.get_by_key("it")

    @property
    def found(self) -> Any:
        """What the control returned, which is also what it shows and what the session holds."""
        assert not self.app.exception
        result = self.app.session_state["found"]
        assert self.app.session_state["it"] == result
        return result

    @property
    def link(self) -> list[str] | None:
        """What the address holds."""
        held = self.app.query_params.get("it")
        return [held] if isinstance(held, str) else held


CELLS = Code("cells")
FIXED = (Pills, SelectSlider, Number, Slider, Toggle)  # what these offer is drawn as it is declared

# What is chosen to begin with, and what a link brings back

BEGINNINGS = {
    Row: (["a", "b"],),
    SelectBox: (range(3), 1),
    MultiSelect: (range(4), [1, 3]),
    Pills: (["a", "b", "c"], ["c", "a"]),
    Number: (2, 9, 5),
    Slider: (0, 9, 5),
    SelectSlider: ((1, 2, 4), 2),
    Toggle: (True,),
    TextBox: ("great film",),
}


@pytest.mark.parametrize(
    ("kind", "begun"),
    [
        (Row, "a"),
        (SelectBox, 1),
        (MultiSelect, [1, 3]),
        (Number, 5),
        (Slider, 5),
        (SelectSlider, 2),
        (Toggle, True),
        (TextBox, "great film"),
    ],
)
def test_what_is_chosen_to_begin_with_is_not_in_the_address(kind, begun):
    opened = Page(kind, *BEGINNINGS[kind])
    assert opened.found == begun
    assert opened.link is None


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("kind", "link", "result"),
    [
        (Row, "b", "b"),
        (SelectBox, "2", 2),
        (MultiSelect, ["0", "2"], [0, 2]),
        (Number, "9", 9),
        (Slider, "0", 0),
        (SelectSlider, "4", 4),
        (Toggle, "false", False),
        (TextBox, "bad", "bad"),
        # what is no option is as if it were not there
        (Row, "c", "a"),
        (SelectBox, "3", 1),
        (Number, "10", 5),
        *((Number, text, 5) for text in ("nan", "inf", "-1e999", "9" * 400, ["x", "-inf"], ["9", "inf"])),
        (Slider, "-1", 5),
        (Slider, "inf", 5),
        (SelectSlider, "3", 2),
        (Toggle, "perhaps", True),
    ],
)
def test_a_link_brings_a_choice_back(kind, link, result):
    opened = Page(kind, *BEGINNINGS[kind], link=link)
    assert opened.found == result
    assert opened.draw(*BEGINNINGS[kind]) == result


def test_a_number_is_bound_to_the_address_again_after_an_infinity_was_left_out_of_it():
    opened = Page(Number, *BEGINNINGS[Number], link="inf")
    assert opened.link is None
    assert opened.take(7) == 7
    assert opened.link == ["7"]


def test_a_row_has_something_chosen_even_where_the_link_has_no_value():
    app = AppTest.from_function(page)
    app.query_params["it"] = ""
    app.session_state["now"] = Row, (), {}, (["a", "b"],)
    for _ in range(2):
        assert not app.run().exception
        assert app.session_state["found"] == "a"
    assert app.get_by_key("it").value == "a"


@pytest.mark.parametrize(
    ("kind", "value", "link"),
    [(Row, "b", ["b"]), (Number, 6, ["6"]), (Slider, 0, ["0"]), (Toggle, False, ["false"])],
)
def test_the_address_follows_what_is_taken(kind, value, link):
    opened = Page(kind, *BEGINNINGS[kind])
    assert opened.take(value) == value
    assert opened.link == link
    opened.look_away()
    assert opened.draw(*BEGINNINGS[kind]) == value


def test_pills_are_in_the_order_of_the_options():
    app = AppTest.from_function(page)
    app.session_state["now"] = Pills, BEGINNINGS[Pills], {}, ()
    app.run()
    assert app.session_state["found"] == ["a", "c"]


def test_an_emptied_text_is_an_empty_text():
    assert Page(TextBox, *BEGINNINGS[TextBox]).choose("") == ""


# What is no option any more


def test_in_a_row_the_first_takes_its_place():
    opened = Page(Row, ["a", "b", "c"])
    assert opened.choose("c") == "c"
    assert opened.draw(["b", "c"]) == "c"
    assert opened.draw(["b", "d"]) == "b"
    assert opened.draw(["d", "b"]) == "b"


@pytest.mark.parametrize(
    ("gone", "result"),
    [(address.first, 0), (address.nearest, 2), (lambda held, options: options[held - 4], 1)],
)
def test_in_a_box_it_is_as_declared(gone, result):
    opened = Page(SelectBox, range(6), gone=gone)
    assert opened.choose(5) == 5
    assert opened.draw(range(6)) == 5
    assert opened.draw(range(3)) == result
    assert opened.draw(range(6)) == result


def test_in_a_box_a_choice_that_became_too_large_while_it_was_away_is_mended():
    opened = Page(SelectBox, range(6), gone=address.nearest)
    opened.choose(5)
    opened.look_away()
    assert opened.draw(range(3)) == 2


def test_nearest_to_what_is_no_number_is_the_first():
    assert address.nearest(None, range(3, 6)) == 3
    assert address.nearest(1, range(3, 6)) == 3
    assert address.nearest(9, range(3, 6)) == 5


def test_a_box_of_no_options_is_empty_until_there_are_some():
    opened = Page(SelectBox, [], gone=address.first)
    assert opened.found is None
    assert opened.draw(["a"]) == "a"
    assert opened.draw([]) is None


def test_what_was_the_first_and_so_not_in_the_address_is_written_there_once_it_is_the_second():
    opened = Page(SelectBox, ["a", "b"])
    assert opened.draw(["b", "a"]) == "a"
    assert opened.link == ["a"]
    assert opened.draw(["a", "b"]) == "a"
    assert opened.link is None


def test_under_other_labels_the_address_has_the_new_one():
    opened = Page(SelectBox, range(3), format_func="{} great".format)
    opened.choose(2)
    opened.declared["format_func"] = "{} bad".format
    assert opened.draw(range(3)) == 2
    assert (opened.widget.proto.set_value, opened.widget.proto.raw_value) == (True, "2 bad")
    assert opened.link == ["2 bad"]


@pytest.mark.parametrize(
    ("gone", "result"), [(address.drop_option, [1, 0]), (address.nearest, [2, 1, 0]), (address.first, [0, 1])]
)
def test_of_several_those_that_are_left_stay_in_their_order(gone, result):
    opened = Page(MultiSelect, range(6), gone=gone)
    assert opened.choose([5, 1, 4, 0]) == [5, 1, 4, 0]
    assert opened.draw(range(3)) == result


@pytest.mark.parametrize("kind", [Number, Slider])
def test_a_number_is_brought_within_the_bounds(kind):
    opened = Page(kind, 0, 63, 10)
    assert opened.found == 10
    assert opened.choose(25) == 25
    assert opened.draw(0, 127, 10) == 25
    assert opened.draw(0, 20, 10) == 20
    assert opened.draw(0, 63, 10) == 20
    assert opened.choose(30) == 30
    assert opened.draw(0, 63, 10) == 30
    assert opened.draw(40, 63, 50) == 40


@pytest.mark.parametrize(("chosen", "kept"), [((40, 90), (40, 60)), ((70, 90), (60, 60)), ((2, 5), (2, 5))])
def test_a_range_is_brought_within_the_bounds(chosen, kept):
    opened = Page(Slider, 0, 100, (0, 63))
    assert opened.choose(chosen) == chosen
    assert opened.draw(0, 60, (0, 60)) == kept


def test_a_number_that_became_too_large_while_the_slider_was_away():
    opened = Page(Slider, 0, 16, 1)
    opened.choose(12)
    opened.look_away()
    assert opened.draw(0, 6, 1) == 6


def test_the_least_is_in_the_address_where_it_is_not_what_one_begins_with():
    opened = Page(Slider, 0, 16, 10)
    opened.take(0)
    for most in (30, 16):
        assert opened.draw(0, most, 10) == 0
        assert opened.link == ["0"]
    opened.take(10)
    assert opened.draw(0, 20, 10) == 10
    assert opened.link is None


@pytest.mark.parametrize(("kind", "options"), [(Slider, (0, 9, 5)), (SelectBox, (range(9), 5))])
def test_while_the_options_stay_the_browser_is_told_nothing(kind, options):
    """Else what is being dragged would jump back."""
    opened = Page(kind, *options)
    opened.choose(7)
    opened.draw(*options)
    assert not opened.widget.proto.set_value


# Codes, and choices from elsewhere


@pytest.mark.usefixtures("parameters")
def test_a_page_is_arrived_at_once():
    arrived = []
    for page in ("attention", "attention", "masks", "masks", "attention"):
        address.begin_run(page)
        arrived.append(st.session_state["arrived"])
    assert arrived == [True, False, True, False, True]


class BrowserAddress(dict[str, str]):
    def get_all(self, key: str) -> list[str]:
        return [self[key]]


@pytest.fixture
def parameters(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The address, with an empty session beside it."""
    held = BrowserAddress()
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", held)
    monkeypatch.setattr(address, "add_to_address", lambda _values: None)
    return held


def test_a_code_is_in_the_address_as_long_as_there_is_one(parameters):
    assert CELLS.read() == ""
    CELLS.take("1.4")
    assert (parameters, CELLS.read()) == ({"cells": "1.4"}, "1.4")
    CELLS.take("")
    assert (parameters, CELLS.read()) == ({}, "")


def test_a_code_that_a_change_of_the_page_dropped_is_put_back(parameters):
    CELLS.take("1.4")
    parameters.clear()
    address.begin_run("another page")
    assert CELLS.read() == "1.4"
    assert parameters == {"cells": "1.4"}


def test_a_code_that_the_reader_has_gone_back_from_is_gone(parameters):
    address.begin_run("masks")
    assert CELLS.read() == ""
    CELLS.take("1.4")
    with address.kept_for_next_run():
        assert CELLS.read() == "1.4"
    parameters.clear()  # as the browser does on the way back
    address.begin_run("masks")
    assert CELLS.read() == ""
    assert parameters == {}


def test_a_code_in_the_address_wins_over_what_is_held(parameters):
    CELLS.take("1.4")
    parameters["cells"] = "2"
    assert CELLS.read() == "2"
    parameters.clear()
    address.begin_run("another page")
    assert CELLS.read() == "2"


def test_a_code_that_was_left_comes_back(parameters):
    CELLS.leave()
    CELLS.take("1.4")
    CELLS.leave()
    assert parameters == {}
    assert CELLS.read() == "1.4"
    assert parameters == {"cells": "1.4"}


@pytest.mark.usefixtures("parameters")
def test_what_is_taken_is_held():
    assert (LAYER.held(), LAYER.held(3)) == (None, 3)
    LAYER.take(0)
    assert (LAYER.held(), LAYER.held(3)) == (0, 0)


@pytest.mark.parametrize("name", ["", "$$ID-it", "it"])
def test_a_name_in_the_address_that_no_control_can_have_is_left_alone(name):
    def begins() -> None:
        import streamlit as st

        from app_pages.controls import address

        address.begin_run("a page")
        st.text("drawn")

    app = AppTest.from_function(begins)
    app.query_params[name] = "1"
    app.run()
    assert not app.exception
    assert app.text[0].value == "drawn"


@pytest.mark.parametrize("taken", ["1-2", ""])
def test_what_was_chosen_outlasts_a_run_that_told_the_browser_nothing(taken, parameters):
    address.begin_run("masks")
    CELLS.take(taken)
    with pytest.raises(RerunException), address.kept_for_next_run():
        raise RerunException(RerunData())
    parameters["cells"] = "0-1"  # the next run is asked for by a click before the browser has heard
    address.begin_run("masks")
    with address.kept_for_next_run():
        assert CELLS.read() == taken
    parameters["cells"] = "0-1"  # the reader goes back
    address.begin_run("masks")
    assert CELLS.read() == "0-1"
