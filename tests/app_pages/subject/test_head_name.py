import pytest

from app_pages.subject.head_name import HeadNames
from app_pages.subject.subject import LiveSubject
from model.inputs import Text
from tests.model.measures.roles import roles_on_input

TEXT = "not great film x y z"


def of_head(layer: int, head: int) -> list:
    return list(roles_on_input(LiveSubject("imdb-pre-ln", Text(TEXT)).record, layer, head))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("page", ["attention", "inside_a_head", "compare"])  # Heads: in its table
def test_a_head_is_called_by_its_roles_wherever_it_is_chosen(open_app, page):
    app = open_app(f"app_pages/{page}/page.py", text=TEXT, checkpoint="imdb-pre-ln")
    assert not app.exception
    result = of_head(0, 0)
    assert result
    named = ", ".join(role.name for role in result)
    # Side by side names the heads in its charts.
    named = "" if page == "compare" else named
    explained = [block for block in app.markdown if named in block.value and block.help]
    assert any(all(role.rule in block.help for role in result) for block in explained)


def test_without_a_role_nothing_stands_there(open_app, monkeypatch):
    monkeypatch.setattr("app_pages.subject.head_name.roles_from_numbers", lambda *_: ())
    app = open_app("app_pages/inside_a_head/page.py", text=TEXT, checkpoint="imdb-pre-ln")
    assert not app.exception
    assert not [item for item in app.markdown if "head" in item.value and item.value.startswith(":gray")]


def test_a_click_on_another_head_says_its_roles(open_app):
    app = open_app("app_pages/inside_a_head/page.py", text=TEXT, checkpoint="imdb-pre-ln")
    app.selectbox(key="head").set_value(1).run()
    message = ", ".join(role.name for role in of_head(0, 1))
    assert not message or any(message in item.value for item in app.markdown)


@pytest.mark.parametrize(
    ("called", "short", "whole"),
    [
        (HeadNames("a head", "", "", "r"), "a head", "a head"),
        (HeadNames("", "", "", ""), "", ""),
        (HeadNames("a head", "a head", "9 texts", "r"), "a head", "a head"),
        (HeadNames("a head", "b head", "9 texts", "r"), "a head", "a head here; over 9 texts: b head"),
        (HeadNames("a head", "", "9 texts", "r"), "a head", "a head here; over 9 texts: no role"),
        (
            HeadNames("", "b head", "9 texts", "r"),
            "b head over the data set",
            "no role here; over 9 texts: b head",
        ),
        (HeadNames("", "", "9 texts", ""), "", ""),
    ],
)
def test_what_differs_over_the_data_set_is_said(called, short, whole):
    assert (called.short_text, called.full_text) == (short, whole)


def test_the_rules_and_the_data_set_are_the_help():
    assert HeadNames("", "", "9 texts", "").help_text is None
    assert HeadNames("a head", "", "", "**a head**: it is").help_text == "**a head**: it is."
    assert HeadNames("a head", "", "9 texts", "it is").help_text == "it is. Over 9 texts: no role."
