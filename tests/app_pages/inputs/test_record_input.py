from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app_pages.controls import input_controls
from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.map_controls import LAYER
from app_pages.controls.pages import ATTENTION, TRAINING
from app_pages.inputs.record_input import EXAMPLE, open_record
from app_pages.inputs.row import NEEDS_ENCODER, NO_ENCODER
from app_pages.subject import cache, encoders, shipped_inputs
from app_pages.subject.subject import OPENED, FileSubject, LiveSubject
from model.capture.provenance import settings
from model.inputs import Picture, Text
from model.record.from_arrays import attention_alone, from_arrays
from model.record.record_file import dump, from_bytes
from tests.app_pages.charts import shown, table
from tests.app_pages.linked import ROUNDING, linked, tokens

Open = Callable[..., AppTest]

TEXT = "not great films"
TOKENS = ("[CLS]", "film", "##s", "[SEP]")
PATTERN = np.random.default_rng(0).dirichlet(np.full(4, 0.5), (2, 3, 4)).astype(np.float32)


def opened(content: bytes, name: str = "a.npz") -> FileSubject:
    result = from_bytes(content, name)
    return FileSubject(file_name=name, record=result.record, settings=result.settings, picture=result.picture)


def show(open_app: Open, what: FileSubject, page: str | None = None, **query: Any) -> AppTest:
    """The app in a session in which that was opened."""
    return open_app(page, session={OPENED: what}, kind="Record", **query)


def saved(model_input: Text | Picture, name: str) -> bytes:
    picture = model_input.array if isinstance(model_input, Picture) else None
    return dump(LiveSubject(name, model_input).record, settings(cache.loaded(name), model_input), picture)


def test_nothing_is_open_at_first(open_app):
    app = open_app(ATTENTION, KIND.to("Record"))
    assert not app.exception
    assert any("`pattern` [layer, head, query, key]" in block.value for block in app.caption)
    assert not app.get("plotly_chart")


def test_an_example_opens_with_one_click(open_app):
    app = open_app(ATTENTION, KIND.to("Record"))
    app.button(key="record_example").click().run()
    assert not app.exception
    record = app.session_state[OPENED].record
    own = LiveSubject(encoders.checkpoints("Text")[0], Text(EXAMPLE)).record
    assert record.tokens == own.tokens
    np.testing.assert_array_equal(record.pattern, own.pattern)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("page", ["masks", "inside_a_head", "compare", "training"])
def test_a_record_is_not_offered_where_an_encoder_is_needed(open_app, page):
    app = open_app(f"app_pages/{page}/page.py")
    assert encoders.RECORD not in app.segmented_control(key=KIND.key).options
    assert encoders.RECORD in open_app(ATTENTION).segmented_control(key=KIND.key).options


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("page", ["masks", "inside_a_head", "positions", "compare"], ids=lambda page: page)
def test_a_page_that_needs_an_encoder_says_so(open_app, page):
    app = show(open_app, opened(dump(from_arrays(PATTERN, TOKENS), {})), f"app_pages/{page}/page.py")
    assert not app.exception
    if page == "positions":
        app.segmented_control(key="positions").set_value("This encoder").run()
        assert not app.exception
    assert [block.value for block in app.info] == [NEEDS_ENCODER]


def test_a_page_about_encoders_says_so(open_app):
    app = open_app(TRAINING, KIND.to("Record"))
    assert not app.exception
    assert [block.value for block in app.info] == [NO_ENCODER]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("query", [{}, {"view": "lines"}, {"layer": "1", "head": "1", "part": "mean"}])
def test_a_reopened_text_gives_the_same_pictures(open_app, query):
    app = open_app(
        ATTENTION,
        KIND.to("Text"),
        input_controls.TEXT.to(TEXT),
        CHECKPOINT.to("imdb-pre-ln"),
        query="2 great",
        **query,
    )
    again = show(open_app, opened(saved(Text(TEXT), "imdb-pre-ln")), query="2 great", **query)
    assert not again.exception
    figures = [[chart.proto.spec for chart in item.get("plotly_chart")] for item in (app, again)]
    assert figures[0] == figures[1]
    assert len(figures[0]) == ("part" in query)
    charts = [
        [
            (chart.proto.spec, [part.data.data for part in chart.proto.datasets])
            for chart in item.get("vega_lite_chart")
        ]
        for item in (app, again)
    ]
    assert charts[0] == charts[1]
    assert charts[0]
    of_tokens = [[data["queries"] for data in tokens(item)] for item in (app, again)]
    assert of_tokens[0] == of_tokens[1] != []
    assert [metric.value for metric in app.metric] == [metric.value for metric in again.metric]


def test_a_reopened_digit_gives_the_same_pictures(open_app):
    app = open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"), LAYER.to(1), query="r0c1")
    digit = Picture.of(shipped_inputs.test_digits()[0][0])
    again = show(open_app, opened(saved(digit, "mnist-pre-ln")), layer="1", query="r0c1")
    assert not again.exception
    one, other = linked(app), linked(again)
    assert one.frames.keys() == other.frames.keys() >= {"picture", "patches", "small_patches"}
    assert all(one.frames[name].equals(other.frames[name]) for name in one.frames)
    np.testing.assert_array_equal(one.weights, other.weights)
    assert (one.kept, one.data["hidden"] is None, other.data["hidden"]) == (other.kept, False, None)


def test_attention_alone_is_shown_with_its_own_labels(open_app):
    app = show(open_app, opened(dump(from_arrays(PATTERN, TOKENS), {})), query="2 ##s")
    np.testing.assert_allclose(linked(app).map, PATTERN[0, 0], atol=ROUNDING)
    assert not app.metric
    assert app.selectbox(key="query").options == ["0 [CLS]", "1 film", "2 ##s", "3 [SEP]"]
    assert app.selectbox(key="query").value == 2
    assert [len(app.selectbox(key=key).options) for key in ("layer", "head")] == [2, 3]
    app.selectbox(key="head").set_value(2).run()
    assert app.selectbox(key="head").value == 2


@pytest.mark.parametrize("view", ["matrix", "lines"])
def test_keys_that_are_no_queries(open_app, view):
    record = from_arrays(PATTERN[..., :3], TOKENS, keys=("x", "y", "x"))
    app = show(open_app, opened(dump(record, {})), query="1 film", view=view)
    assert not app.exception
    if view == "matrix":
        chart = linked(app)
        assert chart.frames["keys"]["label"].tolist() == ["0 x", "y", "2 x"]
        assert (chart.data["queries"], chart.data["keys"]) == (list(TOKENS), ["x", "y", "x"])
        assert chart.map.shape == (4, 3)
        return
    lines = table(app, "Lines of L0 H0 from", "query", "key")
    assert set(lines["key token"]) <= {"x", "y"}
    (above,) = tokens(app)
    assert (above["queries"], above["keys"]) == (list(TOKENS), ["x", "y", "x"])


def test_patches_without_a_picture_lie_on_a_blank_one(open_app):
    pattern = np.full((1, 2, 7, 7), 1 / 7, np.float32)
    app = show(open_app, opened(dump(from_arrays(pattern, patch_grid=(2, 3)), {})))
    assert len(linked(app).frames["patches"]) == 6


def test_rows_that_do_not_sum_to_one_are_counted(open_app):
    odd = PATTERN.copy()
    odd[0, 1] *= 0.5
    app = show(open_app, opened(dump(from_arrays(odd, TOKENS), {})))
    texts = [caption.value for caption in app.caption]
    assert "4 of 24 rows do not sum to 1 but to 0.5. They are shown as they are." in texts
    assert any("**sum of a row**" in block.value for block in app.markdown)
    np.testing.assert_allclose(linked(app).map, odd[0, 0], atol=ROUNDING)


def test_a_file_of_many_positions_shows_a_window(open_app):
    n = 90
    pattern = np.tril(np.ones((1, 1, n, n))) / np.arange(1, n + 1)[:, None]
    app = show(
        open_app, opened(dump(from_arrays(pattern, [f"w{index}" for index in range(n)]), {})), query="80 w80"
    )
    assert len(linked(app).map) == n
    app.session_state["cell_by_cell"] = True  # as a click on the heading does
    app.run()
    assert shown(app, "matrix_cells")["data"][0]["y"] == [f"w{index}" for index in range(50, 90)]


def test_open_record_in_a_session(monkeypatch):
    session: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", session)
    open_record("../../folder/a.npz", dump(from_arrays(PATTERN, TOKENS), {}))
    assert session["kind"] == encoders.RECORD
    assert session[OPENED].file_name == "a.npz"
    with pytest.raises(ValueError, match=r"^b\.npz cannot be read"):
        open_record("b.npz", b"nothing")
    assert session[OPENED].file_name == "a.npz"


def test_an_upload_is_opened_and_another_takes_its_place(open_app):
    app = open_app(ATTENTION, KIND.to("Record"))
    app.file_uploader[0].upload("a.npz", dump(from_arrays(PATTERN, TOKENS), {})).run()
    assert linked(app).map.shape == (4, 4)
    assert any("`a.npz`" in block.value for block in app.markdown)
    cross = from_arrays(PATTERN[..., :3], TOKENS, keys=("x", "y", "z"))
    app.file_uploader[0].upload("b.safetensors", dump(cross, {}, kind=".safetensors")).run()
    assert linked(app).map.shape == (4, 3)
    assert any("`b.safetensors`" in block.value for block in app.markdown)


def test_an_upload_that_is_no_record_is_said_and_what_is_open_stays(open_app):
    app = show(open_app, opened(dump(from_arrays(PATTERN, TOKENS), {})))
    app.file_uploader[0].upload("a *bold* [link](x).npz", b"nothing").run()
    assert not app.exception
    (message,) = (warning.value for warning in app.warning)
    assert message.startswith(r"a \*bold\* \[link\]\(x\).npz cannot be read")
    assert any("`a.npz`" in block.value for block in app.markdown)


def test_what_a_file_says_of_itself_is_listed(open_app):
    app = show(open_app, opened(saved(Text(TEXT), "imdb-pre-ln"), "my *file*.npz"))
    assert any("`my *file*.npz`" in block.value for block in app.markdown)
    (about,) = (block.value for block in app.caption if "weights (SHA-256)" in block.value)
    assert f"text: `{TEXT}`" in about
    assert "encoder: `imdb-pre-ln`" in about
    app.button(key="read_again").click().run()
    assert not app.exception
    assert (app.session_state["kind"], app.session_state["text"]) == (encoders.TEXT, TEXT)


def test_other_weights_under_the_same_name_are_not_offered(open_app):
    content = dump(
        LiveSubject("imdb-pre-ln", Text(TEXT)).record,
        settings(cache.loaded("imdb-pre-ln"), TEXT) | {"weights_sha256": "0" * 64},
    )
    app = show(open_app, opened(content))
    assert "read_again" not in [button.key for button in app.button]


@pytest.mark.parametrize(
    "hostile", [{"text": 3, "checkpoint": ["x"], "version": None}, {"checkpoint": "../.."}]
)
def test_settings_of_nonsense_are_not_shown(open_app, hostile):
    app = show(open_app, opened(dump(from_arrays(PATTERN, TOKENS), hostile)))
    assert not app.exception
    assert "read_again" not in [button.key for button in app.button]


def test_a_record_can_be_closed(open_app):
    app = show(open_app, opened(dump(from_arrays(PATTERN, TOKENS), {})))
    app.button(key="close_record").click().run()
    assert not app.exception
    assert OPENED not in app.session_state


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("half", "alone", "message"),
    [
        (False, False, ""),
        (True, False, "saved in half precision: they, and the measures made of them, are right to"),
        (False, True, "holds attention and tokens alone: there is no prediction"),
        (True, True, "to show. The numbers were saved in half precision"),
    ],
)
@pytest.mark.parametrize("page", [None, "app_pages/heads/page.py"])
def test_a_record_says_what_it_holds(open_app, half, alone, message, page):
    record = LiveSubject("imdb-pre-ln", Text(TEXT)).record
    app = show(open_app, opened(dump(attention_alone(record) if alone else record, {}, half=half)), page)
    assert not app.exception
    captions = [
        item.value
        for item in app.caption
        if item.value.startswith(("The record holds", "The numbers were saved"))
    ]
    assert [message in caption for caption in captions] == [True] * bool(message)
