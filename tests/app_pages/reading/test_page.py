from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.reading_controls import LECTURES, OWN_TEXT, PAPERS, PART
from app_pages.controls.tour_controls import STOPS
from app_pages.reading.page import GUIDE, PICTURES, THEMES, papers, picture_file

Open = Callable[..., AppTest]

PAGE = "app_pages/reading/page.py"
GUIDE_BY_PAPER = papers(GUIDE.read_text(encoding="utf-8"))
LARGEST_PICTURES = 250_000  # bytes


def shown(app: AppTest) -> str:
    assert not app.exception
    return "\n".join(part.value for part in (*app.header, *app.markdown))


def test_the_page_opens_with_the_stops_of_the_tour_and_the_lectures_are_a_click_away(open_app):
    app = open_app(PAGE)
    html = "\n".join(part.proto.body for part in app.get("html"))
    for number, stop in enumerate(STOPS, 1):
        assert stop.seen in html or stop.otherwise.format(part="a word") in html
        assert app.button(key=f"tour_open_{number}").label == f"Open {stop.page.title} →"
    app.segmented_control(key=PART.key).set_value(LECTURES).run()
    lectures = GUIDE_BY_PAPER[LECTURES]
    assert next(iter(lectures.sections)) in shown(app)
    assert lectures.about in shown(app)


def test_every_stop_has_a_small_picture_for_both_themes():
    expected = {picture_file(number, theme) for number in range(1, len(STOPS) + 1) for theme in THEMES}
    assert set(PICTURES.iterdir()) == expected
    assert sum(path.stat().st_size for path in expected) < LARGEST_PICTURES


def test_another_paper_begins_at_its_first_place_and_a_link_leads_to_any(open_app):
    app = open_app(PAGE, PART.to(PAPERS))
    title = next(title for title in GUIDE_BY_PAPER if title.startswith("Xiong et al. 2020"))
    app.selectbox(key="reading_paper").select(title).run()
    first, *_, last = GUIDE_BY_PAPER[title].sections
    assert first in shown(app)
    assert last not in shown(app)
    app = open_app(PAGE, PART.to(PAPERS), reading_paper=title, reading_place=last)
    assert last in shown(app)
    assert 'target="_self"' in shown(app)
    assert app.selectbox(key="reading_paper").value == title


@pytest.mark.slow
def test_every_place_can_be_opened(open_app):
    app = open_app(PAGE, PART.to(PAPERS))
    for title, paper in GUIDE_BY_PAPER.items():
        if title == LECTURES:
            continue
        app.selectbox(key="reading_paper").select(title).run()
        for section in paper.sections:
            app.segmented_control(key="reading_place").set_value(section).run()
            assert section in shown(app)


def test_the_reader_s_own_sentence_goes_into_the_links_and_the_address_of_the_guide(open_app):
    app = open_app()
    app.text_area(key="text").set_value("A quiet film.").run()
    app.switch_page(PAGE).run()
    assert "A quiet film" in shown(app)
    app.segmented_control(key=PART.key).set_value(LECTURES).run()
    assert "positions=Embeddings&amp;text=A%20quiet%20film." in shown(app)
    assert app.query_params["reading_text"] == "A quiet film."


def test_the_guide_finds_the_reader_s_sentence_in_its_address_and_hands_it_on(open_app):
    app = open_app(PAGE, PART.to(LECTURES), OWN_TEXT.to("A quiet film."))
    assert "text=A%20quiet%20film." in shown(app)
    app.switch_page("app_pages/attention/page.py").run()
    assert app.text_area(key="text").value == "A quiet film."


def test_the_sentence_to_begin_with_is_not_in_the_links(open_app):
    app = open_app()
    app.switch_page(PAGE).run()
    app.segmented_control(key=PART.key).set_value(LECTURES).run()
    assert "positions=Embeddings&amp;text=" not in shown(app)
    assert "reading_text" not in app.query_params
