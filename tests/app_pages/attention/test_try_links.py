from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.attention import try_links
from app_pages.controls.address import Control
from app_pages.subject import cache, encoders, shipped_inputs
from app_pages.subject.answer import most_influential_position
from app_pages.subject.subject import LiveSubject
from model.inputs import Text
from tests.app_pages.linked import side_names
from tests.app_pages.shown_subject import subject_of


def links(app: AppTest) -> list[str]:
    assert not app.exception
    return [button.label for button in app.button if str(button.key).startswith("try_")]


def menus(app: AppTest) -> list[str]:
    return [menu.proto.popover.label for menu in app.get("popover")]


def is_telling(name: str, text: Text) -> bool:
    """Whether it is read correctly, and answered otherwise without one of its words."""
    subject = LiveSubject(name, text)
    telling = most_influential_position(subject)
    is_read = shipped_inputs.correct_class(subject) == subject.record.logits.argmax()
    return is_read and telling is not None and telling.changes_class


def test_they_fold_once_one_was_used(open_app):
    app = open_app()
    shown = links(app)
    assert len(shown) == 4
    assert "Try" not in menus(app)
    app.button(key="try_3").click().run()
    assert "Try" in menus(app)
    assert links(app) == shown  # one step away


def test_the_first_leads_into_the_tour_which_is_the_only_guide_then(open_app):
    app = open_app().button(key="try_0").click().run()
    assert any("All heads at once" in block.body for block in app.get("html"))
    assert not links(app)


def test_they_stand_where_a_link_was_opened(open_app):
    assert len(links(open_app(text="great film"))) == 4


def test_from_a_digit_a_guess_leads_to_a_text_and_an_encoder_of_texts(open_app):
    app = open_app(kind="Digit", checkpoint="mnist-post-ln").button(key="try_3").click().run()
    assert not app.exception
    selection = subject_of(app)
    assert isinstance(selection.model_input, Text)
    assert selection.checkpoint == "imdb-post-ln"


def test_from_a_digit_a_word_is_hidden_in_a_text(open_app):
    app = open_app(kind="Digit").button(key="try_1").click().run()
    assert not app.exception
    selection = subject_of(app)
    telling = most_influential_position(selection)
    assert app.multiselect(key="masks_positions").value == [telling.position]


def test_a_hidden_word_that_turns_the_answer_if_any_does(open_app):
    app = open_app().button(key="try_1").click().run()
    assert not app.exception
    selection = subject_of(app)
    assert app.multiselect(key="masks_positions").value == [most_influential_position(selection).position]
    texts = [Text(text) for text in shipped_inputs.sentences().values() if "[MASK]" not in text]
    assert is_telling(selection.checkpoint, selection.model_input) == any(
        is_telling(selection.checkpoint, text) for text in texts
    )


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", ["imdb-pre-ln", "imdb-post-ln"])
def test_the_shipped_encoders_read_that_example_correctly(monkeypatch, name):
    """The first one whose answer turns is read wrongly: it would teach the opposite of what a "not" does."""
    shown = {}
    monkeypatch.setattr(Control, "take", lambda control, value: shown.update({control.key: value}))
    monkeypatch.setattr(try_links, "block_in", lambda record, key: shown.update(word=record.tokens[key]))
    monkeypatch.setattr(try_links, "go_to", lambda page: shown.update(page=page.name))
    cache.clear()
    try_links._open_hidden_word(LiveSubject(name, Text("The film is not bad at all.")))
    assert (shown["text"], shown["word"]) == ("The film is not good.", "not")


def test_one_digit_under_two_norms(open_app):
    app = open_app().button(key="try_2").click().run()
    assert not app.exception
    titles = side_names(app)
    assert [title.partition(" ")[0] for title in titles] == ["mnist-pre-ln", "mnist-post-ln"]
    digit = app.number_input(key="digit").value
    made = [encoders.predictions(name)["predicted"][digit] for name in ("mnist-pre-ln", "mnist-post-ln")]
    assert made[0] != made[1]


def test_a_guess_of_what_is_masked(open_app):
    app = open_app().button(key="try_3").click().run()
    assert not app.exception
    assert "[MASK]" in app.text_area(key="text").value
    assert any("In place of" in block.value for block in app.markdown)


def test_a_typed_text_stays_where_one_of_its_words_turns_the_answer(open_app, monkeypatch):
    turning = SimpleNamespace(changes_class=True, change=2.0, position=2)
    monkeypatch.setattr(try_links, "most_influential_position", lambda *_: turning)
    app = open_app(text="great film not").button(key="try_1").click().run()
    assert not app.exception
    assert subject_of(app).model_input == Text("great film not")
    assert app.multiselect(key="masks_positions").value == [2]
    assert not app.toast


def test_it_is_told_that_a_typed_text_gave_way_to_an_example(open_app, monkeypatch):
    still = SimpleNamespace(changes_class=False, change=0.1, position=1)
    monkeypatch.setattr(try_links, "most_influential_position", lambda *_: still)
    app = open_app(text="great film not").button(key="try_1").click().run()
    assert subject_of(app).model_input.text in shipped_inputs.sentences().values()
    assert "no single word" in app.toast[0].value
    app = open_app(text="great film not").button(key="try_3").click().run()
    assert "[MASK]" in app.text_area(key="text").value
    assert "hides no word" in app.toast[0].value


def test_a_text_with_a_hidden_word_stays(open_app):
    app = open_app(text="great [MASK] film").button(key="try_3").click().run()
    assert app.text_area(key="text").value == "great [MASK] film"
    assert not app.toast
