import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.attention import save_buttons as module
from app_pages.attention.save_buttons import ALL_HALF, ATTENTION, ATTENTION_HALF, page, record_file_content
from app_pages.attention.shown_head import RecordView, ShownHead
from app_pages.controls.attention_controls import HEAD
from app_pages.controls.head_choice import HeadChoice
from app_pages.subject.answer import whole_answer
from app_pages.subject.as_python import record
from app_pages.subject.subject import OPENED, FileSubject, LensChoice, LiveSubject, Subject
from model.checkpoint import weights_hash
from model.inputs import Picture
from model.record import AttentionRecord, ForwardRecord
from model.record.from_arrays import from_arrays
from model.record.record_file import from_bytes, n_bytes
from model.version import VERSION
from tests.app_pages.shown_subject import subject_of
from tests.viz.export.offline_parts import Parts

pytestmark = pytest.mark.usefixtures("without_vega")


def selection(app: AppTest) -> Subject:
    assert not app.exception
    return subject_of(app)


def test_the_record_comes_with_settings_version_and_the_weights_hash(open_app):
    chosen = selection(open_app(text="not films", checkpoint="imdb-post-ln", words="true"))
    result = from_bytes(record_file_content(chosen), "a.npz")
    expected = LiveSubject("imdb-post-ln", chosen.model_input).record
    assert result.record.pattern.tobytes() == expected.pattern.tobytes()
    assert result.record.tokens == expected.tokens  # a view is no part of it
    message = {name: result.settings[name] for name in ("checkpoint", "text", "version", "weights_sha256")}
    assert message == {
        "checkpoint": "imdb-post-ln",
        "text": "not films",
        "version": VERSION,
        "weights_sha256": weights_hash("imdb-post-ln"),
    }


def open_popover(app: AppTest) -> AppTest:
    """As a click on the button does."""
    app.session_state["large_record"] = True
    return app.run()


def test_a_record_too_large_to_be_opened_again_is_offered_in_parts(open_app, monkeypatch):
    app = open_app(text="not great", checkpoint="imdb-pre-ln")
    most = n_bytes(selection(app).record, half=True)
    monkeypatch.setattr(module, "MB", 1)
    monkeypatch.setattr(module, "upload_limit_mb", lambda: most)
    (choice,) = open_popover(app).radio
    assert choice.value == ALL_HALF
    sizes = [int(label.split(": ")[1].split()[0]) for label in choice.options]
    assert (len(sizes), sizes) == (4, sorted(sizes, reverse=True))
    assert ["too large" in label for label in choice.options] == [size > most for size in sizes]


def test_a_record_that_can_be_opened_again_is_saved_whole(open_app):
    assert not open_popover(open_app(text="a film", checkpoint="imdb-pre-ln")).radio


def test_the_parts_of_a_record(open_app):
    chosen = selection(open_app(text="not great", checkpoint="imdb-pre-ln"))
    whole = from_bytes(record_file_content(chosen), "a.npz").record
    half, alone, both = (
        from_bytes(record_file_content(chosen, part), "a.npz")
        for part in (ALL_HALF, ATTENTION, ATTENTION_HALF)
    )
    assert type(half.record) is ForwardRecord
    assert type(alone.record) is type(both.record) is AttentionRecord
    assert alone.record.pattern.tobytes() == whole.pattern.tobytes()
    assert alone.record.tokens == both.record.tokens == whole.tokens
    assert both.record.pattern.tobytes() == half.record.pattern.tobytes() != whole.pattern.tobytes()


def test_the_picture_comes_with_its_record_and_into_the_offline_page(open_app):
    chosen = selection(open_app(kind="Digit", digit="3"))
    assert isinstance(chosen.model_input, Picture)
    np.testing.assert_array_equal(
        from_bytes(record_file_content(chosen), "a.npz").picture, chosen.model_input.array
    )
    picture = parts(chosen).data()["datasets"]["picture"]
    assert picture["on_light"][0].startswith("data:image/png")
    assert (picture["rows"][0], picture["columns"][0]) == chosen.record.patch_grid
    assert picture["first"] == [chosen.record.first_patch]


def parts(chosen: Subject, *notes: str) -> Parts:
    """The offline page of the chosen record."""
    view = RecordView(
        record=chosen.record, source=record(chosen), measures={}, notes=notes, hides_weight=bool(notes)
    )
    shown = ShownHead(
        subject=chosen,
        chosen=HeadChoice(layer=1, head=1),
        through=LensChoice(),
        view=view,
        part=HEAD,
        query=3,
        kind=None,
        answer=whole_answer(chosen.record),
    )
    return Parts(page(shown, None))


def test_the_offline_page_says_what_was_read_and_what_is_shown(open_app):
    made = parts(selection(open_app(text="not great", checkpoint="imdb-post-ln")), "hidden: [CLS]")
    message = made.settings()
    assert (message["Text"], message["Encoder"], message["Shown"]) == (
        "not great",
        "imdb-post-ln",
        "hidden: [CLS]",
    )
    assert message["SHA-256 of the weights"] == weights_hash("imdb-post-ln")
    assert message["Version of Attention Loupe"] == VERSION
    assert made.data()["script"]["kept"] == {"layer": 1, "head": 1, "query": 3}
    assert sorted(made.answer()) == ["negative", "positive"]


def test_the_offline_page_of_attention_from_elsewhere(open_app):
    record = from_arrays(np.full((2, 3, 4, 2), 0.5, np.float32), list("abcd"), keys=["x", "y"])
    app = open_app(kind="Record")
    app.session_state[OPENED] = FileSubject(file_name="mine.npz", record=record, settings={}, picture=None)
    made = parts(selection(app.run()))
    assert made.data()["script"]["keys"] == ["x", "y"]
    assert (made.answer(), made.texts["h1"]) == ([], ["Attention of mine"])


def test_the_button_is_on_the_page(open_app):
    app = open_app(text="not great", checkpoint="imdb-post-ln")
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["Save record", "Save as web page"]
