from collections.abc import Callable

import numpy as np
from streamlit.testing.v1 import AppTest

from app_pages import state
from app_pages.attention.download import content
from model.checkpoint import weights_hash
from model.inputs import Picture
from model.record_file import from_bytes
from model.version import VERSION

Open = Callable[..., AppTest]


def selection(app: AppTest) -> state.Selection:
    assert not app.exception
    return app.session_state["selection"]


def test_the_record_comes_with_settings_version_and_the_weights_hash(open_app: Open) -> None:
    chosen = selection(open_app(text="not great", checkpoint="imdb-post-ln", words="true"))
    found = from_bytes(content(chosen), "a.npz")
    expected = state.record("imdb-post-ln", chosen.given)
    assert found.record.pattern.tobytes() == expected.pattern.tobytes()
    assert found.record.tokens == expected.tokens  # a view is no part of it
    said = {name: found.settings[name] for name in ("checkpoint", "text", "version", "weights_sha256")}
    assert said == {
        "checkpoint": "imdb-post-ln",
        "text": "not great",
        "version": VERSION,
        "weights_sha256": weights_hash("imdb-post-ln"),
    }


def test_the_picture_comes_with_its_record(open_app: Open) -> None:
    chosen = selection(open_app(kind="Digit", digit="3"))
    assert isinstance(chosen.given, Picture)
    np.testing.assert_array_equal(from_bytes(content(chosen), "a.npz").picture, chosen.given.array)


def test_the_button_is_on_the_page(open_app: Open) -> None:
    app = open_app(text="not great", checkpoint="imdb-post-ln")
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["Record", "Offline page"]
