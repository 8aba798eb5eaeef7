import gc
import weakref
from pathlib import Path

import pytest
import streamlit as st

from app_pages.subject import cache
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.callbacks import callback, only_of_this_page
from model.inputs import Text
from tests.slow import one_of_each

PAGES = Path(cache.__file__).parents[1]
STATES = [  # of every page and part whose figures can be clicked
    ("attention", {}),
    ("attention", {"view": "lines", "lens": "rollout"}),
    ("inside_a_head", {}),
    ("inside_a_head", {"inside": "Why √d_k", "inside_scale": "temperature"}),
    ("heads", {}),
    ("heads", {"heads_part": "Ablate"}),
    ("heads", {"heads_part": "Patch"}),
    ("masks", {}),
    ("masks", {"masks_part": "Ways of masking"}),
    ("positions", {"positions": "This encoder"}),
    ("positions", {"positions": "Experiments"}),
    ("compare", {}),
    ("compare", {"compare_part": "Knock-out"}),
    ("compare", {"compare_part": "Stream"}),
]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.setattr(st, "session_state", {})
    return st.session_state


@pytest.mark.usefixtures("session")
def test_what_was_given_last_for_a_key_is_called():
    called = []
    first = callback("map", lambda: called.append(1))
    callback("map", lambda: called.append(2))
    first()
    assert called == [2]


@pytest.mark.usefixtures("session")
def test_a_page_that_was_drawn_without_a_figure_lets_its_callback_go():
    called = []
    strip, chart = (callback(key, lambda key=key: called.append(key)) for key in ("strip", "chart"))
    with only_of_this_page():
        callback("chart", lambda: called.append("chart again"))
    strip(), chart()
    assert called == ["chart again"]


@pytest.mark.usefixtures("session")
def test_a_run_that_ended_early_leaves_what_is_still_on_the_screen():
    called = []
    strip = callback("strip", lambda: called.append("strip"))
    with pytest.raises(TimeoutError), only_of_this_page():
        raise TimeoutError
    strip()
    assert called == ["strip"]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("page", "query"), one_of_each(STATES))
def test_a_session_holds_no_record_of_a_text_that_it_left(open_app, page, query):
    app = open_app(str(PAGES / page / "page.py"), text="great film", **query)
    left = weakref.ref(LiveSubject("imdb-pre-ln", Text("great film")).record.pattern)
    for key in {"head", "query"} & {box.key for box in app.selectbox}:
        app.selectbox(key=key).set_value(1).run()  # figures on which it was chosen are put up anew
    app.text_area(key="text").set_value("not great").run()
    assert not app.exception
    cache.clear()
    gc.collect()
    assert left() is None
