import pytest
from streamlit.testing.v1 import AppTest

from model.capture import capture
from tests.model import tiny

RECORD = capture(tiny.loaded(tiny.TEXT), "not great film")  # two layers of two heads, five tokens


def run() -> None:
    import streamlit as st

    from app_pages.heads.ablation_code import (
        ablated_parts,
        can_undo,
        restore_tokens_of_other_text,
        set_ablated_parts,
        undo,
    )
    from tests.app_pages.heads.test_ablation_code import RECORD

    def toggle(part: tuple) -> None:
        set_ablated_parts(ablated_parts(RECORD).parts ^ {part})

    restore_tokens_of_other_text(RECORD)
    for part in (("h", 0, 1), ("h", 1, 0), ("a", 1), ("f", 0), ("p", 3)):
        name = "".join(map(str, part))
        st.button(name, key=name, on_click=toggle, args=(part,))
    st.button("undo", key="undo", on_click=undo, disabled=not can_undo())
    st.button("reset", key="reset", on_click=set_ablated_parts, args=((),))
    st.session_state["away"] = ablated_parts(RECORD)


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(run).run()


def press(app: AppTest, *keys: str) -> str:
    """What the address holds then."""
    for key in keys:
        app.button(key=key).click().run()
        assert not app.exception
    return app.query_params.get("ablated", "")


def test_a_click_takes_away_and_a_second_one_puts_back(app: AppTest) -> None:
    assert press(app, "h01") == "h0-1"
    assert press(app, "f0", "p3", "a1") == "a1.f0.h0-1.p3"
    assert app.session_state["away"] == (((0, 1),), (1,), (0,), (3,))
    assert press(app, "h01") == "a1.f0.p3"
    assert app.session_state["away"].heads == ()


def test_each_step_can_be_undone(app: AppTest) -> None:
    steps = [press(app, key) for key in ("h01", "h10", "h01", "reset")]
    assert steps == ["h0-1", "h0-1.h1-0", "h1-0", ""]
    assert [press(app, "undo") for _ in steps] == ["h1-0", "h0-1.h1-0", "h0-1", ""]
    assert app.button(key="undo").disabled


def test_what_changes_nothing_is_no_step(app: AppTest) -> None:
    press(app, "reset")
    assert app.button(key="undo").disabled
