from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.pages import controls_of
from app_pages.controls.tour_controls import STOPS
from app_pages.tour.open_stop import SENTENCE

Open = Callable[..., AppTest]

PAGE = "app_pages/reading/page.py"


def html(app: AppTest) -> str:
    assert not app.exception
    return "\n".join(part.proto.body for part in app.get("html"))


def is_at(app: AppTest, number: int) -> bool:
    stop, shown = STOPS[number - 1], html(app)
    expected = (f"Tour, {number} of {len(STOPS)}<", f"<b>{stop.title}.</b> ", f"<h1>{stop.page.title} ")
    return all(words in shown for words in expected)


def test_every_stop_opens_a_part_that_its_page_has() -> None:
    for stop in STOPS:
        for key, option in stop.parts.items():
            controls_of(stop.page.name)[key].check(option)


def test_the_tour_leads_from_stop_to_stop_with_one_sentence(open_app: Open) -> None:
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
    app.button(key="tour_stops").click().run()
    assert app.button(key="tour_begin").label == f"Go on with stop {len(STOPS)}"


def test_the_tour_leads_back_as_well(open_app: Open) -> None:
    app = open_app(text="great film", tour="1")
    assert app.button(key="tour_back").disabled
    app.button(key="tour_next").click().run()
    assert is_at(app, 2)
    app.button(key="tour_back").click().run()
    assert is_at(app, 1)
    assert app.text_area(key="text").value == "great film"


def test_the_tour_keeps_the_sentence_and_the_encoder_of_the_reader(open_app: Open) -> None:
    app = open_app(text="great film", checkpoint="imdb-post-ln")
    app.switch_page(PAGE).run()
    for number in (2, 3, 6):
        app.button(key=f"tour_open_{number}").click().run()
        assert is_at(app, number)
        assert app.text_area(key="text").value == "great film"
        assert app.selectbox(key="checkpoint").value == "imdb-post-ln"
        app.button(key="tour_stops").click().run()


def test_the_second_stop_hides_a_word(open_app: Open) -> None:
    app = open_app(PAGE)
    app.button(key="tour_open_2").click().run()
    assert app.query_params["masks_keys"][0].isdigit()


def test_a_stop_opens_its_part_whatever_was_chosen_there_before(open_app: Open) -> None:
    app = open_app("app_pages/inside_a_head/page.py", inside="LayerNorm")
    app.switch_page(PAGE).run()
    app.button(key="tour_open_4").click().run()
    assert app.segmented_control(key="inside").value == "Why √d_k"
    app.button(key="tour_stops").click().run()
    app.button(key="tour_open_3").click().run()
    assert app.segmented_control(key="inside").value == "Step by step"


def test_the_description_of_the_page_returns_when_the_tour_is_left(open_app: Open) -> None:
    app = open_app("app_pages/masks/page.py", tour="2")
    assert is_at(app, 2)
    assert STOPS[1].page.seen not in html(app)
    app.button(key="tour_close").click().run()
    assert "Tour, " not in html(app)
    assert STOPS[1].page.seen in html(app)
    assert "tour" not in app.query_params


@pytest.mark.parametrize("number", ["0", "11", "x"])
def test_a_stop_that_there_is_not_is_none(open_app: Open, number: str) -> None:
    assert "Tour, " not in html(open_app(tour=number))


def test_elsewhere_the_line_is_not_drawn(open_app: Open) -> None:
    app = open_app(tour="1")
    assert is_at(app, 1)
    app.switch_page("app_pages/heads/page.py").run()
    assert "Tour, " not in html(app)
