from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from app_pages.controls.reading_controls import OWN_TEXT
from app_pages.reading.guide import GUIDE, papers

Open = Callable[..., AppTest]

PAGE = "app_pages/reading/page.py"
PAPERS = papers(GUIDE.read_text(encoding="utf-8"))


def shown(app: AppTest) -> str:
    assert not app.exception
    return "\n".join(part.value for part in (*app.subheader, *app.markdown))


def test_the_page_opens_at_the_start_of_the_guide(open_app: Open) -> None:
    first = next(iter(PAPERS.values()))
    text = shown(open_app(PAGE))
    assert next(iter(first.sections)) in text
    assert first.about in text


def test_another_paper_begins_at_its_first_place_and_a_link_leads_to_any(open_app: Open) -> None:
    app = open_app(PAGE)
    title = next(title for title in PAPERS if title.startswith("Xiong et al. 2020"))
    app.selectbox(key="reading_paper").select(title).run()
    first, *_, last = PAPERS[title].sections
    assert first in shown(app)
    assert last not in shown(app)
    app = open_app(PAGE, reading_paper=title, reading_place=last)
    assert last in shown(app)
    assert 'target="_self"' in shown(app)
    assert app.selectbox(key="reading_paper").value == title


def test_every_place_can_be_opened(open_app: Open) -> None:
    app = open_app(PAGE)
    for title, paper in PAPERS.items():
        app.selectbox(key="reading_paper").select(title).run()
        for place in paper.sections:
            app.segmented_control(key="reading_place").set_value(place).run()
            assert place in shown(app)


def test_the_reader_s_own_sentence_goes_into_the_links_and_the_address_of_the_guide(open_app: Open) -> None:
    app = open_app()
    app.text_area(key="text").set_value("A quiet film.").run()
    app.switch_page(PAGE).run()
    assert "positions=Embeddings&amp;text=A%20quiet%20film." in shown(app)
    assert app.query_params["reading_text"] == "A quiet film."


def test_the_guide_finds_the_reader_s_sentence_in_its_address_and_hands_it_on(open_app: Open) -> None:
    app = open_app(PAGE, OWN_TEXT.to("A quiet film."))
    assert "text=A%20quiet%20film." in shown(app)
    app.switch_page("app_pages/attention/page.py").run()
    assert app.text_area(key="text").value == "A quiet film."


def test_the_sentence_to_begin_with_is_not_in_the_links(open_app: Open) -> None:
    app = open_app()
    app.switch_page(PAGE).run()
    assert "positions=Embeddings&amp;text=" not in shown(app)
    assert "reading_text" not in app.query_params
