import streamlit as st
from streamlit.testing.v1 import AppTest

from app_pages.widgets import in_steps as module
from app_pages.widgets.in_steps import in_steps


def test_the_results_come_in_order() -> None:
    assert in_steps([lambda: 1, lambda: 2], "working") == [1, 2]
    assert in_steps([], "working") == []


def run() -> None:
    import streamlit as st

    from app_pages.widgets.in_steps import in_steps

    st.write(in_steps([lambda: "done"], "working"))


def bars(monkeypatch, glance: float) -> list[str]:
    shown = []
    progress = st.delta_generator.DeltaGenerator.progress
    monkeypatch.setattr(module, "GLANCE", glance)
    monkeypatch.setattr(
        st.delta_generator.DeltaGenerator,
        "progress",
        lambda self, value, text: (shown.append(text), progress(self, value, text))[1],
    )
    app = AppTest.from_function(run).run()
    assert not app.exception
    return shown


def test_what_is_quick_has_no_bar(monkeypatch) -> None:
    assert bars(monkeypatch, 60) == []


def test_what_is_slow_has_one(monkeypatch) -> None:
    assert bars(monkeypatch, -1) == ["working"]


def run_parts() -> None:
    import streamlit as st

    from app_pages.widgets.in_steps import as_they_come

    st.session_state["parts"] = list(as_they_come([3, 1], lambda part: part / 4, "working"))


def test_parts_come_in_order_and_move_the_bar_by_their_share(monkeypatch) -> None:
    shown = []
    progress = st.delta_generator.DeltaGenerator.progress
    monkeypatch.setattr(module, "GLANCE", -1)
    monkeypatch.setattr(
        st.delta_generator.DeltaGenerator,
        "progress",
        lambda self, value, text: (shown.append(value), progress(self, value, text))[1],
    )
    app = AppTest.from_function(run_parts).run()
    assert app.session_state["parts"] == [3, 1]
    assert shown == [0.75, 1.0]
    assert not app.exception
