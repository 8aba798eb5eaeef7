"""Many inputs: a list of texts or pictures with the prediction for each; any of them can be opened."""

from functools import partial

import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.input_controls import KIND
from app_pages.controls.many_inputs_controls import AS_GIVEN, CONTAINED, HARDEST, ORDER, WRONG, WRONG_ONLY
from app_pages.controls.pages import ATTENTION, go_to
from app_pages.inputs import input_list
from app_pages.inputs.input_list import InputList
from app_pages.inputs.row import choose_usable_encoder, stop
from app_pages.many_inputs.accuracy import accuracy_text, draw_accuracy
from app_pages.many_inputs.enter_list import draw_list_entry, example_list, round_number
from app_pages.many_inputs.measure_heads import draw_measuring
from app_pages.many_inputs.prediction_table import as_csv, draw_table
from app_pages.many_inputs.predictions import Predictions, predict
from app_pages.many_inputs.row_filter import RowFilter, chosen_cell, say_filter
from app_pages.subject import cache, encoders
from app_pages.toolkit.markdown import plain


def write_summary(kind: str, listed: InputList, predictions: Predictions) -> None:
    """Writes how many inputs there are, and how many are right."""
    what = "examples, chosen to be hard" if listed.is_ours and kind == encoders.TEXT else "inputs"
    sentence = f"{len(predictions.lines):,} {what}"
    if n := predictions.n_labelled:
        subset = "" if n == len(predictions.lines) else f" of the {n:,} with a label"
        sentence += f": {predictions.n_right:,} right{subset}, {accuracy_text(predictions.n_right, n)}"
    sentence += "."
    st.markdown(sentence, width="content")


def write_notes(listed: InputList, predictions: Predictions) -> None:
    """Writes what was left out of the list."""
    if notes := (*listed.notes, *predictions.notes):
        st.caption(plain(" ".join(notes)))


def draw() -> None:
    controls, more = bar("many_inputs")
    name, kind = choose_usable_encoder(controls), KIND.held()
    entered, config = input_list.entered(kind), cache.loaded(name).config
    classes = config.class_names if config.chooses_class else ()
    listed = entered.listed or example_list(kind, classes)
    label = "Your own list" if listed.is_ours else "Another list"
    with more, st.popover(label, key=f"another_list_{round_number()}"):
        draw_list_entry(kind, classes)
    predictions: Predictions = predict(name, listed.items)
    if not predictions.lines:
        write_summary(kind, listed, predictions)
        write_notes(listed, predictions)
        stop("The encoder can read none of these inputs.")
    with controls:
        orders = [WRONG] * bool(predictions.n_labelled) + [HARDEST] * bool(predictions.surprise) + [AS_GIVEN]
        order = ORDER.choose(orders)
        wrong_only = bool(predictions.n_labelled) and WRONG_ONLY.choose()
        contained = CONTAINED.choose()
    row_filter = RowFilter(contained=contained, cell=chosen_cell(predictions), wrong_only=wrong_only)
    lines = predictions.order(surprising_first=order != AS_GIVEN, wrong_first=order == WRONG)
    lines = [line for line in lines if row_filter.matches(listed.items[line.number], line)]
    entered.order = [line.number for line in lines]

    def take(number: int) -> None:
        if entered.listed is None:  # the examples are a list like any other once one of them is opened
            input_list.hold(kind, listed)
            input_list.entered(kind).order = entered.order
        go_to(ATTENTION, *input_list.open_item(kind, number, name))

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="many_summary"):
        write_summary(kind, listed, predictions)
        say_filter(row_filter, len(lines), predictions)
    if predictions.n_labelled:
        with st.container(horizontal=True, gap="medium"):
            left, right = st.container(key="many_table_place"), st.container(key="many_accuracy")
        with right:
            draw_accuracy(predictions, row_filter.cell)
    else:
        left = st.container()
    with left:
        if lines:
            draw_table(listed.items, predictions, lines, entered.opened, take)
        else:
            st.info("None of the inputs matches.", icon=":material/search_off:")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption("A click on a row, or Enter, opens it on the page Attention.")
        make_csv = partial(as_csv, listed.items, predictions, lines)  # when it is asked for
        st.download_button(
            "CSV",
            make_csv,
            f"inputs-{name.replace('/', '-')}.csv",
            "text/csv",
            key="many_csv",
            type="tertiary",
            icon=":material/download:",
            on_click="ignore",
        )
    write_notes(listed, predictions)
    draw_measuring(name, listed.items, predictions)
