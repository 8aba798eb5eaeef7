"""Measures all heads over the list, for this session; the pages then show these numbers as those over a data set."""

from collections.abc import Sequence

import streamlit as st

from app_pages.controls.estimated_work import duration, multiply_adds
from app_pages.controls.heads_controls import NUMBERS_OF, OVER, PART, TABLE
from app_pages.controls.pages import HEADS, go_to, notify
from app_pages.inputs.input_list import Item
from app_pages.many_inputs.predictions import Predictions
from app_pages.subject import cache, encoders
from app_pages.subject.cache import Checkpoint
from app_pages.subject.stored_results import heads_of, over, session_heads
from app_pages.subject.subject import encoded_text
from app_pages.toolkit.markdown import plain, sentence
from app_pages.toolkit.stoppable import begin_anew, is_wanted, progress, until_done
from model.atlas.measure_dataset import measure_listed_inputs
from model.inputs import Input, Text
from viz.builders.number_format import percent

LISTED_TEXTS, LISTED_PICTURES = "texts of the list on Many inputs", "pictures of the list on Many inputs"
_ITEMS = (
    "measured_items"  # in the session: over which items the heads were measured, by the name of the encoder
)
_COMMAND = "Many inputs: Measure all heads over these inputs"


def draw_measuring(name: Checkpoint, items: tuple[Item, ...], predictions: Predictions) -> None:
    """Draws a button that measures all heads over the inputs that have a prediction; once that is done, the way to them."""
    with st.container(key="many_measure"):
        if len(predictions.lines) < 2:
            return
        if not _is_measured(name, items):
            _measure(name, items, predictions)
        if _is_measured(name, items):
            _draw_way_to_heads(name)


def _is_measured(name: str, items: tuple[Item, ...]) -> bool:
    if name not in session_heads() or st.session_state.get(_ITEMS, {}).get(name) != items:
        return False
    return heads_of(name) is session_heads()[name]  # not if the weights have changed since


def _measure(name: Checkpoint, items: tuple[Item, ...], predictions: Predictions) -> None:
    loaded = cache.loaded(name)
    numbers = [line.number for line in predictions.lines]
    inputs = _readable_inputs(name, [items[number] for number in numbers])
    what = ("heads over a list", name, items)
    label = f"Measure all heads over these {len(inputs):,} inputs, {duration(_work(name, inputs))}"
    if not is_wanted(what, label, "many_measure_heads", is_short=False):
        return
    n_done = 0
    called = LISTED_TEXTS if loaded.config.is_text else LISTED_PICTURES
    try:
        with until_done(what), progress("Measuring all heads …", what) as move:

            def step(n: int) -> None:
                nonlocal n_done
                n_done += n
                move(n_done / len(inputs))

            measured = measure_listed_inputs(loaded, inputs, called, _COMMAND, step)
    except ValueError as error:
        st.warning(plain(sentence(error)), icon=":material/warning:")
        return
    session_heads()[name] = measured
    st.session_state.setdefault(_ITEMS, {})[name] = items
    begin_anew(what)  # its result is held above, and another list may take its place


def _draw_way_to_heads(name: str) -> None:
    source = session_heads()[name].source
    unknown = f"; {percent(source.unknown)} of their tokens are unknown" if source.unknown else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"All heads are measured over {plain(over(source))}, for this session alone{unknown}.",
            width="content",
        )
        st.button(
            "Show on Heads →", key="many_to_heads", type="tertiary", on_click=_go_to_heads, args=(name,)
        )
        st.button("Forget", key="many_forget_heads", type="tertiary", on_click=_forget, args=(name,))


def _go_to_heads(name: str) -> None:
    """Callback: opens Heads with the numbers over the list, and says there what they are of."""
    choices = PART.to(TABLE), NUMBERS_OF.to(OVER)
    for choice in choices:
        choice.take()
    notify(f"The data set is now {plain(over(session_heads()[name].source))}, for this session alone.")
    go_to(HEADS, *(choice for choice in choices if choice.written))


def _forget(name: str) -> None:
    """Callback: the pages show again what is stored beside the encoder."""
    session_heads().pop(name, None)


def _readable_inputs(name: Checkpoint, items: Sequence[Item]) -> list[Input]:
    config, reads_pairs = cache.loaded(name).config, encoders.reads_pairs(name)
    values = (item.as_input(config, reads_pairs=reads_pairs) for item in items)
    return [value for value in values if value is not None]


def _work(name: Checkpoint, inputs: Sequence[Input]) -> int:
    """Multiply-adds of a forward pass for each input."""
    config = cache.loaded(name).config
    lengths = (len(encoded_text(name, value)) if isinstance(value, Text) else 0 for value in inputs)
    return sum(multiply_adds(config, length) for length in lengths)
