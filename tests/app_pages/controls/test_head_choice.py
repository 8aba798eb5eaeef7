import pytest
import streamlit as st

from app_pages.controls.head_choice import step, take_query
from app_pages.controls.input_controls import KIND, TEXT
from app_pages.controls.map_controls import HEAD, LAYER
from app_pages.controls.pages import ATTENTION
from model.measures.head_statistics import clearest_head
from tests.app_pages.shown_subject import subject_of


@pytest.mark.parametrize(
    ("offsets", "start", "end"),
    [
        ((0, 1), (0, 0), (0, 1)),
        ((0, -1), (0, 0), (0, 1)),
        ((1, 0), (1, 1), (0, 1)),
        ((-1, 0), (1, 0), (0, 0)),
    ],
)
def test_an_arrow_key_steps_to_the_neighbour_and_over_the_edge_to_the_other_side(
    monkeypatch, offsets, start, end
):
    state = {"n_heads": (2, 2), "layer": start[0], "head": start[1]}
    monkeypatch.setattr(st, "session_state", state)
    step(*offsets)
    assert (state["layer"], state["head"]) == end


def test_the_app_opens_on_the_head_that_looks_most_at_the_next_token(open_app):
    app = open_app()
    selection = subject_of(app)
    record = selection.record
    chosen = app.selectbox(key="layer").value, app.selectbox(key="head").value
    assert chosen == clearest_head(record)
    address = {key: app.query_params[key] for key in ("layer", "head", "query") if key in app.query_params}
    assert address == {  # the first ones are left out, the query never
        **{key: str(value) for key, value in zip(("layer", "head"), chosen, strict=True) if value},
        "query": record.labels[app.selectbox(key="query").value],
    }


def test_another_kind_of_input_opens_on_a_telling_head_of_its_encoder(open_app):
    app = open_app(ATTENTION, LAYER.to(1), HEAD.to(1))
    app.segmented_control(key="kind").set_value("Digit").run()
    assert not app.exception
    selection = subject_of(app)
    record = selection.record
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == clearest_head(record)


def test_back_at_a_kind_of_input_its_head_and_query_are_chosen_again(open_app):
    app = open_app(ATTENTION, TEXT.to("not great film"), LAYER.to(1), HEAD.to(1))
    app.selectbox(key="query").select_index(2).run()
    app.segmented_control(key="kind").set_value("Digit").run()
    for key in ("layer", "head"):
        app.selectbox(key=key).select_index(0)
    app.run()
    app.segmented_control(key="kind").set_value("Text").run()
    assert [app.selectbox(key=key).value for key in ("layer", "head", "query")] == [1, 1, 2]
    app.segmented_control(key="kind").set_value("Digit").run()
    assert [app.selectbox(key=key).value for key in ("layer", "head")] == [0, 0]


def test_a_link_opens_on_what_it_names_and_on_the_first_head_where_it_names_none(open_app):
    app = open_app(ATTENTION, TEXT.to("great film"))
    assert [app.selectbox(key=key).value for key in ("layer", "head", "query")] == [0, 0, 1]


def test_the_choice_of_a_head_is_not_made_again_when_the_first_one_was_chosen(open_app):
    app = open_app()
    for key in ("layer", "head", "query"):
        app.selectbox(key=key).select_index(0)
        app.query_params.pop(key, None)  # as the browser does; of the query it makes the new one
        app.run()
    app.query_params["query"] = "0 [CLS]"
    app.switch_page("app_pages/inside_a_head/page.py").run()
    assert [app.selectbox(key=key).value for key in ("layer", "head", "query")] == [0, 0, 0]


def test_the_query_is_named_by_its_place_and_token(open_app):
    assert open_app(ATTENTION, TEXT.to("great great")).selectbox(key="query").options == [
        "0 [CLS]",
        "1 great",
        "2 great",
        "3 [SEP]",
    ]
    assert open_app(ATTENTION, KIND.to("Digit")).selectbox(key="query").options == [
        "[CLS]",
        "r0c0",
        "r0c1",
        "r1c0",
        "r1c1",
    ]


def test_the_help_tells_what_no_word_and_no_patch_is(open_app):
    message = open_app(ATTENTION, TEXT.to("not greatly"), query="0 [CLS]").selectbox(key="query").help
    assert "`[CLS]` at the beginning stands for the whole: the classifier reads its row" in message
    assert "`[SEP]` at the end marks it." in message
    assert "`##…` goes on with the word before it." in message
    assert "[MASK]" not in message
    assert "##" not in open_app(ATTENTION, KIND.to("Digit")).selectbox(key="query").help


def test_a_click_on_a_token_shows_its_lines_alone(monkeypatch):
    monkeypatch.setattr(st, "session_state", {"query": 0, "all_queries": True})
    take_query(3.0)
    assert st.session_state == {"query": 3, "all_queries": False}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("page", "key", "without", "about_a_head"),
    [
        ("app_pages/compare/page.py", "compare_part", "Stream", "Heads"),
        ("app_pages/positions/page.py", "positions", "By distance", "Experiments"),
    ],
)
def test_a_part_about_no_head_leaves_the_choice_out_and_does_not_lose_it(
    open_app, page, key, without, about_a_head
):
    app = open_app(page, layer="1", head="1", **{key: about_a_head})
    app.segmented_control(key=key).set_value(without).run()
    assert not {"layer", "head"} & {box.key for box in app.selectbox}
    app.segmented_control(key=key).set_value(about_a_head).run()
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == (1, 1)
