"""Many inputs: a list of texts or pictures with the prediction for each; any of them can be opened."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.estimated_work import duration, multiply_adds
from app_pages.controls.heads_controls import NUMBERS_OF, OVER, PART, TABLE
from app_pages.controls.input_controls import KIND
from app_pages.controls.many_inputs_controls import AS_GIVEN, CONTAINED, HARDEST, ORDER, WRONG, WRONG_ONLY
from app_pages.controls.pages import ATTENTION, HEADS, go_to, notify
from app_pages.inputs import input_list
from app_pages.inputs.enter_list import draw_list_entry, example_list, round_number
from app_pages.inputs.input_list import InputList, Item
from app_pages.inputs.row import choose_usable_encoder, stop
from app_pages.many_inputs.accuracy import RowFilter, accuracy_text, chosen_cell, draw_accuracy, say_filter
from app_pages.many_inputs.prediction_table import as_csv, draw_table
from app_pages.many_inputs.predictions import Predictions, predict
from app_pages.subject import cache, encoders
from app_pages.subject.cache import Checkpoint
from app_pages.subject.stored_results import examples_phrase, heads_of, session_heads
from app_pages.subject.subject import encoded_text
from app_pages.toolkit.markdown import plain, sentence
from app_pages.toolkit.stoppable import forget_stopped, is_wanted, progress, until_done
from model.atlas.measure_dataset import measure_listed_inputs
from model.inputs import Input, Text
from viz.builders.number_format import percent

LISTED_TEXTS, LISTED_PICTURES = "texts of the list on Many inputs", "pictures of the list on Many inputs"
_MEASURED_ITEMS_KEY = (
    "measured_items"  # in the session: over which items the heads were measured, by the name of the encoder
)
_COMMAND = "Many inputs: Measure all heads over these inputs"


def say_summary(kind: str, listed: InputList, predictions: Predictions) -> None:
    """Writes on the page how many inputs the list has, of the `kind` text or picture, and how many are classified correctly."""
    what = "examples, chosen to be hard" if listed.is_ours and kind == encoders.TEXT else "inputs"
    sentence = f"{len(predictions.lines):,} {what}"
    if n := predictions.n_labelled:
        subset = "" if n == len(predictions.lines) else f" of the {n:,} with a label"
        sentence += f": {predictions.n_right:,} right{subset}, {accuracy_text(predictions.n_right, n)}"
    sentence += "."
    st.markdown(sentence, width="content")


def say_notes(listed: InputList, predictions: Predictions) -> None:
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
        say_summary(kind, listed, predictions)
        say_notes(listed, predictions)
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
            input_list.keep_list(kind, listed)
            input_list.entered(kind).order = entered.order
        go_to(ATTENTION, *input_list.open_item(kind, number, name))

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="many_summary"):
        say_summary(kind, listed, predictions)
        say_filter(row_filter, len(lines), predictions)
    if predictions.n_labelled:
        with st.container(horizontal=True, gap="medium", key="many_columns"):
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
            "Download table",
            make_csv,
            f"inputs-{name.replace('/', '-')}.csv",
            "text/csv",
            key="many_csv",
            type="tertiary",
            icon=":material/download:",
            on_click="ignore",
        )
    say_notes(listed, predictions)
    draw_measuring(name, listed.items, predictions)


def draw_measuring(name: Checkpoint, items: tuple[Item, ...], predictions: Predictions) -> None:
    """Draws a button that measures all heads over the inputs that have a prediction and, once that is done, a link to the results
    on Heads.
    """
    with st.container(key="many_measure"):
        if len(predictions.lines) < 2:
            return
        if not _is_measured(name, items):
            _measure_heads(name, items, predictions)
        if _is_measured(name, items):
            _draw_link_to_heads(name)


def _is_measured(name: str, items: tuple[Item, ...]) -> bool:
    if name not in session_heads() or st.session_state.get(_MEASURED_ITEMS_KEY, {}).get(name) != items:
        return False
    return heads_of(name) is session_heads()[name]  # not if the weights have changed since


def _measure_heads(name: Checkpoint, items: tuple[Item, ...], predictions: Predictions) -> None:
    loaded = cache.loaded(name)
    numbers = [line.number for line in predictions.lines]
    inputs = _readable_inputs(name, [items[number] for number in numbers])
    what = ("heads over a list", name, items)
    label = f"Measure all heads over these {len(inputs):,} inputs, {duration(_n_multiply_adds(name, inputs))}"
    if not is_wanted(what, label, "many_measure_heads", is_short=False):
        return
    n_done = 0
    list_name = LISTED_TEXTS if loaded.config.is_text else LISTED_PICTURES
    try:
        with until_done(what), progress("Measuring all heads …", what) as move:

            def step(n: int) -> None:
                nonlocal n_done
                n_done += n
                move(n_done / len(inputs))

            measured = measure_listed_inputs(loaded, inputs, list_name, _COMMAND, step)
    except ValueError as error:
        st.warning(plain(sentence(error)), icon=":material/warning:")
        return
    session_heads()[name] = measured
    st.session_state.setdefault(_MEASURED_ITEMS_KEY, {})[name] = items
    forget_stopped(what)  # its result is held above, and another list may take its place


def _draw_link_to_heads(name: str) -> None:
    source = session_heads()[name].source
    unknown = f"; {percent(source.unknown)} of their tokens are unknown" if source.unknown else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"All heads are measured over {plain(examples_phrase(source))}, for this session alone{unknown}.",
            width="content",
        )
        st.button(
            "Show on Heads →", key="many_to_heads", type="tertiary", on_click=_go_to_heads, args=(name,)
        )
        st.button("Forget", key="many_forget_heads", type="tertiary", on_click=_forget_measures, args=(name,))


def _go_to_heads(name: str) -> None:
    """Callback: opens Heads with the numbers over this list, and shows a notice that says so."""
    choices = PART.to(TABLE), NUMBERS_OF.to(OVER)
    for choice in choices:
        choice.take()
    notify(
        f"The data set is now {plain(examples_phrase(session_heads()[name].source))}, for this session alone."
    )
    go_to(HEADS, *(choice for choice in choices if choice.address_value))


def _forget_measures(name: str) -> None:
    """Callback: removes the measures over this list, so that pages show those stored beside the encoder again."""
    session_heads().pop(name, None)


def _readable_inputs(name: Checkpoint, items: Sequence[Item]) -> list[Input]:
    config, reads_pairs = cache.loaded(name).config, encoders.reads_pairs(name)
    values = (item.as_input(config, reads_pairs=reads_pairs) for item in items)
    return [value for value in values if value is not None]


def _n_multiply_adds(name: Checkpoint, inputs: Sequence[Input]) -> int:
    """Multiply-adds of one forward pass for each input."""
    config = cache.loaded(name).config
    lengths = (len(encoded_text(name, value)) if isinstance(value, Text) else 0 for value in inputs)
    return sum(multiply_adds(config, length) for length in lengths)
