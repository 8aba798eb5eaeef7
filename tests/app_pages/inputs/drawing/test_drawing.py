"""The package's own file, `app_pages/drawing/__init__.py`."""

from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st
from PIL import Image
from streamlit.testing.v1 import AppTest

from app_pages.controls.input_controls import DRAWING, KIND, SOURCE
from app_pages.controls.pages import ATTENTION
from app_pages.inputs import drawing
from app_pages.inputs.drawing.code import BLANK, from_code, to_code
from app_pages.inputs.drawing.picture import centred
from tests.app_pages.inputs.drawing.test_picture import BAR, file, header, page

LOPSIDED = BLANK.copy()
LOPSIDED[0:10, 0:3] = 255


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Stands in for the query parameters; the session begins empty."""
    parameters: dict[str, str] = {}
    monkeypatch.setattr(st, "query_params", parameters)
    monkeypatch.setattr(st, "session_state", {})
    return parameters


def test_pixels_are_a_hexadecimal_digit_each():
    pixels = drawing.to_hex(LOPSIDED)
    assert pixels.startswith("fff0")
    np.testing.assert_array_equal(drawing.from_hex(pixels), LOPSIDED)


@pytest.mark.parametrize("pixels", ["", "f", "x" * 784, None, 7, ["f"] * 784, {"f": 1}])
def test_other_pixels_are_refused(pixels):
    with pytest.raises(ValueError):  # noqa: PT011 - two kinds of nonsense, two messages
        drawing.from_hex(pixels)


def test_the_address_follows_the_pen(address):
    st.session_state["canvas"] = SimpleNamespace(drawn=drawing.to_hex(LOPSIDED))
    drawing.take_drawing()
    np.testing.assert_array_equal(from_code(address["drawing"]), LOPSIDED)


def test_what_no_canvas_sends_leaves_the_drawing(address):
    address["drawing"] = to_code(LOPSIDED)
    st.session_state["canvas"] = SimpleNamespace(drawn={"pixels": [1, 2]})
    drawing.take_drawing()
    assert address["drawing"] == to_code(LOPSIDED)
    assert "could not be read" in st.session_state["upload_problem"]


def test_an_upload_becomes_the_drawing(address):
    upload(file(Image.fromarray(page())))
    np.testing.assert_array_equal(from_code(address["drawing"]), BAR)


def test_an_upload_that_cannot_be_read_leaves_the_drawing_and_says_why(address):
    address["drawing"] = to_code(LOPSIDED)
    upload(header(8000, 5000))
    assert address["drawing"] == to_code(LOPSIDED)
    assert "too large" in st.session_state["upload_problem"]
    upload(None)
    assert st.session_state["upload_problem"] is None


@pytest.mark.parametrize("act", [drawing.leave, drawing.take_drawing])
def test_what_was_wrong_with_an_upload_is_over_once_something_else_is_done(address, act):
    upload(header(8000, 5000))
    st.session_state["canvas"] = SimpleNamespace(drawn="f" * 784)
    act()
    assert ("drawing" in address) == (act == drawing.take_drawing)
    assert st.session_state["upload_problem"] is None


def upload(content: bytes | None) -> None:
    st.session_state["upload"] = None if content is None else SimpleNamespace(getvalue=lambda: content)
    drawing.take_upload()


def code(app: AppTest) -> str:
    held = app.query_params["drawing"]
    return held if isinstance(held, str) else held[0]


def test_the_buttons(open_app):
    app = open_app(ATTENTION, KIND.to("Digit"), SOURCE.to("Draw"), DRAWING.to(to_code(LOPSIDED)))
    app.button(key="centre").click().run()
    assert not app.exception
    np.testing.assert_array_equal(from_code(code(app)), centred(LOPSIDED))
    app.button(key="clear").click().run()
    assert not app.exception
    assert "Draw a digit" in app.info[0].value
    assert app.button(key="clear").disabled


def test_a_picture_stands_in_the_row_before_and_after_something_is_drawn(open_app):
    blank, drawn = (
        open_app(ATTENTION, KIND.to("Digit"), SOURCE.to("Draw"), **code).get("image")
        for code in ({}, {"drawing": to_code(LOPSIDED)})
    )
    assert len(blank) == len(drawn) == 1


def test_the_drawing_outlives_a_change_of_the_page(open_app):
    app = open_app(ATTENTION, KIND.to("Digit"), SOURCE.to("Draw"), DRAWING.to(to_code(LOPSIDED)))
    del app.query_params["drawing"]  # as Streamlit does
    app.switch_page("app_pages/compare/page.py").run()
    assert not app.exception
    assert code(app) == to_code(LOPSIDED)


def test_another_input_leaves_the_address_and_the_drawing_comes_back(open_app):
    app = open_app(ATTENTION, KIND.to("Digit"), SOURCE.to("Draw"), DRAWING.to(to_code(LOPSIDED)))
    for key, elsewhere, back in (("source", "Test digits", "Draw"), ("kind", "Text", "Digit")):
        app.segmented_control(key=key).set_value(elsewhere).run()
        assert not app.exception
        assert "drawing" not in app.query_params
        app.segmented_control(key=key).set_value(back).run()
        assert code(app) == to_code(LOPSIDED)
