import pytest

from tests.app_pages.shown_text import html


def test_the_line_below_the_title_says_what_the_encoder_is_for_and_what_it_answers(open_app):
    app = open_app()
    assert "This encoder judges whether a text is positive or negative: <b>" in html(app)
    app = open_app(kind="Digit")
    assert "This encoder recognises digits: <b>" in html(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("page", ["masks", "compare"])
def test_a_page_with_several_answers_says_what_the_named_encoder_is_for(open_app, page):
    app = open_app(f"app_pages/{page}/page.py")
    name = app.selectbox(key="checkpoint").value
    assert f"{name} judges whether a text is positive or negative.</p>" in html(app)


@pytest.mark.slow
def test_a_page_without_an_encoder_says_nothing_of_one(open_app):
    assert "This encoder" not in html(open_app("app_pages/theory/page.py"))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("page", "has_button"), [("attention", True), ("your_own", False)])
def test_an_address_shows_the_figure_alone_where_it_can_stand_alone(open_app, page, has_button):
    app = open_app(f"app_pages/{page}/page.py", present="1", forgiven={"present"})
    assert not app.exception
    assert ("present_leave" in [button.key for button in app.button]) == has_button
