import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.pages import controls_of
from app_pages.controls.tour_controls import STOPS
from app_pages.subject.subject import LiveSubject
from app_pages.tour.open_stop import SENTENCE
from model.capture.intervention import MaskChoice, masked
from model.inputs import Text
from model.sources import locations
from tests.app_pages.shown_text import html

PAGE = "app_pages/reading/page.py"


def is_at(app: AppTest, number: int) -> bool:
    stop, shown = STOPS[number - 1], html(app)
    expected = (f"Tour, {number} of {len(STOPS)}<", f"<b>{stop.title}.</b> ", f"<h1>{stop.page.title} ")
    return all(words in shown for words in expected)


def test_every_stop_opens_a_part_that_its_page_has():
    for stop in STOPS:
        for key, option in stop.parts.items():
            controls_of(stop.page.name)[key].check(option)


@pytest.mark.slow
def test_the_tour_leads_from_stop_to_stop_with_one_sentence(open_app):
    app = open_app(PAGE)
    app.button(key="tour_begin").click().run()
    assert app.query_params["text"] == SENTENCE
    for number in range(1, len(STOPS) + 1):
        assert is_at(app, number)
        assert app.query_params["tour"] == str(number)
        if app.text_area:
            assert app.text_area(key="text").value == SENTENCE
        if number < len(STOPS):
            app.button(key="tour_next").click().run()
    assert not [button for button in app.button if button.key == "tour_next"]
    labels = {button.key: button.label for button in app.button}
    assert labels["tour_to_attention"] == "your input, all heads →"
    assert labels["tour_to_masks"] == "hide parts of it →"
    app.button(key="tour_stops").click().run()
    assert app.button(key="tour_begin").label == f"Go on with stop {len(STOPS)}"


def test_the_tour_leads_back_as_well(open_app):
    app = open_app(text="great film", tour="1")
    assert app.button(key="tour_back").disabled
    app.button(key="tour_next").click().run()
    assert is_at(app, 2)
    app.button(key="tour_back").click().run()
    assert is_at(app, 1)
    assert app.text_area(key="text").value == "great film"


def test_the_tour_keeps_the_sentence_and_the_encoder_of_the_reader(open_app):
    app = open_app(text="great film", checkpoint="imdb-post-ln")
    app.switch_page(PAGE).run()
    for number in (2, 3, 6):
        app.button(key=f"tour_open_{number}").click().run()
        assert is_at(app, number)
        assert app.text_area(key="text").value == "great film"
        assert app.selectbox(key="checkpoint").value == "imdb-post-ln"
        app.button(key="tour_stops").click().run()


def test_the_second_stop_hides_a_word(open_app):
    app = open_app(PAGE)
    app.button(key="tour_open_2").click().run()
    hidden, query = int(app.query_params["masks_keys"]), app.selectbox(key="query").value
    # The row of another word, of which the most is gone.
    subject = LiveSubject(app.selectbox(key="checkpoint").value, Text(SENTENCE))
    head = tuple(app.selectbox(key=key).value for key in ("layer", "head"))
    after = subject.under(masked(MaskChoice(kind="keys", keys=(hidden,)))).record
    distances = [
        sum(abs(one - other) for one, other in zip(*rows, strict=True))
        for rows in zip(subject.record.pattern[head].tolist(), after.pattern[head].tolist(), strict=True)
    ]
    assert distances[query] == max(distance for row, distance in enumerate(distances) if row != hidden) > 0


def test_the_last_stop_leads_back_to_the_readers_input(open_app):
    app = open_app("app_pages/your_own/page.py", tour=str(len(STOPS)), text="great film")
    app.button(key="tour_to_attention").click().run()
    assert "Tour, " not in html(app)
    assert "tour" not in app.query_params
    assert app.text_area(key="text").value == "great film"


def test_a_stop_opens_its_part_whatever_was_chosen_there_before(open_app):
    app = open_app("app_pages/inside_a_head/page.py", inside="LayerNorm")
    app.switch_page(PAGE).run()
    app.button(key="tour_open_4").click().run()
    assert app.segmented_control(key="inside").value == "Why √d_k"
    app.button(key="tour_stops").click().run()
    app.button(key="tour_open_3").click().run()
    assert app.segmented_control(key="inside").value == "Step by step"


def test_the_description_of_the_page_returns_when_the_tour_is_left(open_app):
    app = open_app("app_pages/masks/page.py", tour="2")
    assert is_at(app, 2)
    assert STOPS[1].page.description not in html(app)
    app.button(key="tour_close").click().run()
    assert "Tour, " not in html(app)
    assert STOPS[1].page.description in html(app)
    assert "tour" not in app.query_params


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("number", ["0", "11", "x"])
def test_a_stop_that_there_is_not_is_none(open_app, number):
    assert "Tour, " not in html(open_app(tour=number))


def test_elsewhere_the_line_is_not_drawn(open_app):
    app = open_app(tour="1")
    assert is_at(app, 1)
    app.switch_page("app_pages/heads/page.py").run()
    assert "Tour, " not in html(app)


@pytest.fixture
def opened(checkpoints: Path, tmp_path: Path) -> Iterator[str]:
    """The name of an encoder from elsewhere, whose folder does not say how it was trained."""
    folder = tmp_path / "models" / "their-bert"
    shutil.copytree(checkpoints / "imdb-post-ln", folder)
    (folder / "history.json").write_text("{}")
    locations.use_models_folder(folder.parent)
    yield folder.name
    locations.use_models_folder(None)


def test_of_an_opened_encoder_the_stop_on_training_is_left_out_and_that_is_said(open_app, opened):
    app = open_app("app_pages/heads/page.py", text="great film", checkpoint=opened, tour="6")
    app.button(key="tour_next").click().run()
    assert is_at(app, 8)
    assert "(Stop 7 is left out: your encoder brings no recording of its training.)" in html(app)
    app.button(key="tour_back").click().run()
    assert is_at(app, 6)
    app.button(key="tour_stops").click().run()
    assert [app.button(key=f"tour_open_{number}").disabled for number in (6, 7, 8)] == [False, True, False]
    assert html(app).count("This stop cannot be shown: your encoder brings no recording") == 1


def test_a_link_to_a_stop_that_cannot_be_shown_says_so(open_app, opened):
    app = open_app("app_pages/training/page.py", checkpoint=opened, tour="7")
    assert "This stop cannot be shown: your encoder brings no recording of its training." in html(app)
    assert "Press Play" not in html(app)


@pytest.mark.parametrize("checkpoint", ["imdb-pre-ln", "imdb-post-ln"])
def test_of_an_encoder_with_a_recording_no_stop_is_left_out(open_app, checkpoint):
    app = open_app("app_pages/heads/page.py", text="great film", checkpoint=checkpoint, tour="6")
    app.button(key="tour_next").click().run()
    assert is_at(app, 7)
    assert "left out" not in html(app)


def test_no_stop_says_which_encoder_stands_where(open_app):
    """Which of two is left follows from the one that was chosen."""
    app = open_app("app_pages/compare/page.py", text="great film", checkpoint="imdb-post-ln", tour="9")
    (line,) = [part for part in html(app).split("\n") if "Two encoders, one input." in part]
    assert "pre-LN" not in line


def test_of_a_picture_no_stop_asks_for_a_word(open_app):
    assert "point at a part of the picture" in html(open_app(kind="Digit", tour="1"))
    app = open_app("app_pages/masks/page.py", kind="Digit", tour="2")
    assert "struck-out" not in html(app)
    assert "Click a part of the picture: it is hidden" in html(app)


def test_where_no_word_is_hidden_none_is_said_to_be(open_app):
    masks = "app_pages/masks/page.py"
    assert "struck-out" in html(open_app(masks, text="great film", masks_keys="1", tour="2"))
    assert "Click a word: it is hidden" in html(open_app(masks, text="great film", tour="2"))
