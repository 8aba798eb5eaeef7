from html import unescape

import numpy as np
import pytest

from loupe import capture, show
from model.record.from_arrays import from_arrays
from tests.model import tiny
from tests.model.capture.test_from_transformers import MODELS, made, words
from tests.viz.export.offline_parts import Parts
from viz.export.notebook import NotebookPage
from viz.export.offline_page import offline_page

pytestmark = pytest.mark.usefixtures("without_vega")
TEXT = "a film"
BARE = from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"])


def parts(page: NotebookPage) -> Parts:
    return Parts(page.page)


def test_an_encoder_its_folder_and_its_record_show_the_same_weights(tmp_path):
    loaded = tiny.stored(tmp_path / "mine")
    record = capture(loaded, TEXT)
    for page in (show(loaded, TEXT), show(tmp_path / "mine", TEXT), show(str(tmp_path / "mine"), TEXT)):
        np.testing.assert_allclose(parts(page).weights(), record.pattern, atol=1e-5)
        assert page.title == "Attention of mine"
        assert parts(page).settings()["Text"] == TEXT
        assert "SHA-256 of the weights" in parts(page).settings()
        assert len(parts(page).answer()) == 2
    np.testing.assert_allclose(parts(show(record)).weights(), record.pattern, atol=1e-5)


@pytest.mark.usefixtures("checkpoints")
def test_a_shipped_encoder_is_known_by_its_name():
    assert show("imdb-pre-ln", TEXT).title == "Attention of imdb-pre-ln"


def test_bare_attention_is_shown():
    page = show(BARE)
    np.testing.assert_allclose(parts(page).weights(), BARE.pattern, atol=1e-5)
    assert parts(page).data()["script"]["queries"] == ["a", "film"]


def test_a_picture_is_shown_with_its_patches():
    page = show(tiny.loaded(tiny.DIGIT), np.eye(8, dtype=np.uint8))
    assert parts(page).data()["datasets"]["picture"]["rows"] == [2]


def test_a_model_of_transformers_is_shown_with_its_tokenizer():
    page = show(made("Bert", **MODELS["Bert"]), TEXT, tokenizer=words())
    assert page.title == "Attention of BertModel"
    assert parts(page).settings()["Text"] == TEXT
    assert parts(page).weights().shape[:2] == (2, 4)


def test_the_frame_holds_the_page_of_a_file(tmp_path):
    page = show(BARE)
    page.save(tmp_path / "heads.html")
    content = (tmp_path / "heads.html").read_bytes()
    assert content == offline_page(BARE, title="Attention", settings={})
    html = page._repr_html_()
    assert html.startswith('<iframe srcdoc="')
    assert "<script" not in html  # marimo would put the frame into another one
    assert unescape(html.split('"')[1]).encode() == content
    assert len(repr(page)) < 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((BARE, TEXT), "a record holds its input already"),
        ((3, TEXT), "show takes the name or folder of an encoder, .*, got int"),
        ((tiny.loaded(tiny.TEXT),), "the input is missing"),
        ((tiny.loaded(tiny.TEXT), np.eye(8, dtype=np.uint8)), "tiny takes text, got a picture"),
        ((made("Bert", **MODELS["Bert"]), TEXT), "a model of transformers needs its tokenizer"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        show(*arguments)


def test_an_encoder_that_does_not_exist_is_refused():
    with pytest.raises(FileNotFoundError, match="no checkpoint 'nothing-of-that-name'"):
        show("nothing-of-that-name", TEXT)
