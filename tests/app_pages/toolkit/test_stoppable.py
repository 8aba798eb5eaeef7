"""What one sees of slow work, and after it was stopped. That Stop ends a run is a matter for tests/browser/test_stop_button.py."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app_pages.toolkit import stoppable as module
from viz.builders.number_format import percent


def run() -> None:
    import streamlit as st

    from app_pages.toolkit.stoppable import in_steps, with_progress

    st.session_state["results"] = in_steps([lambda: 1, lambda: 2], "Working …", "steps")
    st.session_state["parts"] = list(with_progress([3, 1], lambda part: part / 4, "Parting …", "parts"))
    st.text("the rest of the page")


def run_wanted() -> None:
    import streamlit as st

    from app_pages.toolkit.stoppable import in_steps, is_wanted, until_done

    is_short = st.checkbox("short")
    if is_wanted("all", "Begin", "begin", is_short=is_short):
        with until_done("all"):
            in_steps([lambda: 1], "Working …", "a part of it")
        st.text("done")
    st.text("the rest of the page")


def run_two_bars() -> None:
    import streamlit as st

    from app_pages.toolkit.stoppable import in_steps, is_wanted, until_done

    if is_wanted("all", "Begin", "begin", is_short=True):
        with until_done("all"):
            in_steps([lambda: 1, lambda: 2], "First …", "a part of it")
            in_steps([lambda: 1, lambda: 2], "Second …", "another part")
    st.text("done")


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, str]]:
    """What bars showed."""
    shown, progress = [], st.delta_generator.DeltaGenerator.progress
    monkeypatch.setattr(
        st.delta_generator.DeltaGenerator,
        "progress",
        lambda self, value, text: (shown.append((value, text)), progress(self, value, text))[1],
    )
    monkeypatch.setattr(st, "progress", lambda value, text: (shown.append((value, text)), st.empty())[1])
    return shown


def stopped(script, what: str, share: float = 0.5) -> AppTest:
    """The app after its Stop was pressed, when that share was done."""
    app = AppTest.from_function(script).run()
    app.session_state[module._WORK] = {what: module._State(done_share=share, is_stopped=True)}
    return app.run()


def texts(app: AppTest) -> list[str]:
    assert not app.exception
    return [text.value for text in app.text]


def test_results_and_parts_come_in_order():
    app = AppTest.from_function(run).run()
    assert (app.session_state["results"], app.session_state["parts"]) == ([1, 2], [3, 1])
    assert texts(app) == ["the rest of the page"]


def test_what_is_quick_has_no_bar(bars, monkeypatch):
    monkeypatch.setattr(module, "SECONDS_BEFORE_BAR", 60)
    assert texts(AppTest.from_function(run).run())
    assert bars == []


def test_one_piece_of_work_has_several_slow_bars_each_with_a_button(monkeypatch):
    monkeypatch.setattr(module, "SECONDS_BEFORE_BAR", -1)
    assert texts(AppTest.from_function(run_two_bars).run()) == ["done"]


def test_a_bar_shows_the_share_that_is_done(bars, monkeypatch):
    monkeypatch.setattr(module, "SECONDS_BEFORE_BAR", -1)
    app = AppTest.from_function(run).run()
    assert bars == [
        (0.5, f"Working … {percent(0.5, 0)}"),
        (1.0, f"Working … {percent(1, 0)}"),
        (0.75, f"Parting … {percent(0.75, 0)}"),
        (1.0, f"Parting … {percent(1, 0)}"),
    ]
    assert texts(app) == ["the rest of the page"]
    assert not app.button  # Stop goes with the bar


def test_stopped_work_says_so_and_goes_on_when_asked_to():
    app = stopped(run, "steps")
    assert [block.value for block in app.markdown] == [f"Working: stopped at {percent(0.5, 0)}."]
    assert texts(app) == []  # what would follow needs the results
    (button,) = app.button
    assert button.label == "Continue"
    button.click().run()
    assert app.session_state["results"] == [1, 2]
    assert texts(app) == ["the rest of the page"]
    assert not app.button


def test_other_work_is_not_stopped():
    app = stopped(run, "another input")
    assert texts(app) == ["the rest of the page"]


def test_wanted_work_waits_for_its_button_and_once_done_it_needs_none():
    app = AppTest.from_function(run_wanted).run()
    assert texts(app) == ["the rest of the page"]
    app.button(key="begin").click().run()
    assert texts(app) == ["done", "the rest of the page"]
    assert texts(app.run()) == ["done", "the rest of the page"]


def test_short_work_waits_for_a_button_after_it_was_stopped():
    app = AppTest.from_function(run_wanted).run()
    app.checkbox[0].check().run()
    assert texts(app) == ["done", "the rest of the page"]
    app.session_state[module._WORK] = {"all": module._State(done_share=0.5, is_stopped=True)}
    assert texts(app.run()) == ["the rest of the page"]
    assert [block.value for block in app.caption] == ["Stopped before its end."]
    app.button(key="begin").click().run()
    assert texts(app) == ["done", "the rest of the page"]
    assert not app.caption
