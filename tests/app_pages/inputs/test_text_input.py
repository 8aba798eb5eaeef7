import pytest

from app_pages.controls.address import LONGEST
from app_pages.controls.input_controls import TEXT
from app_pages.controls.pages import COST
from app_pages.inputs.text_input import FIRST
from app_pages.subject import cache, shipped_inputs
from model.inputs import digits


def test_an_example_fills_the_box_and_typing_wins_over_it(open_app):
    app = open_app()
    assert app.selectbox(key="example").value == next(iter(shipped_inputs.sentences()))
    app.selectbox(key="example").select("Not good").run()
    assert app.text_area(key="text").value == shipped_inputs.sentences()["Not good"]
    app.text_area(key="text").set_value("great").run()
    assert app.text_area(key="text").value == "great"
    assert app.selectbox(key="example").value is None


def test_an_example_that_is_taken_away_leaves_the_text(open_app):
    app = open_app()
    before = app.text_area(key="text").value
    app.selectbox(key="example").set_value(None).run()
    assert app.text_area(key="text").value == before


def test_every_example_fits_the_box():
    sentences = shipped_inputs.sentences()
    assert 10 <= len(sentences) <= 15
    assert all(0 < len(text) < LONGEST and text == text.strip() for text in sentences.values())
    assert len(set(sentences.values())) == len(sentences)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("content", [None, "[", '{"title": 1}', "[1]"])
def test_without_examples_a_sentence_stands_in_the_box(open_app, tmp_path, monkeypatch, content):
    if content is not None:
        (tmp_path / "sentences.json").write_text(content)
    monkeypatch.setattr(digits, "EXAMPLES", tmp_path)
    cache.clear()
    app = open_app()
    assert not app.exception
    assert app.text_area(key="text").value == FIRST
    assert app.selectbox(key="example").disabled


def test_a_text_in_a_link_to_a_page_that_reads_none_is_found_by_the_next_page(open_app):
    app = open_app(COST, TEXT.to("A quiet film."))
    app.switch_page("app_pages/attention/page.py").run()
    assert not app.exception
    assert app.text_area(key="text").value == "A quiet film."
