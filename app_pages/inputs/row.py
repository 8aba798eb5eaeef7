"""The row of a page in which its input is chosen: what goes in, through which encoder, and what that encoder is."""

from collections.abc import Sequence
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.control_bar import bar
from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.map_controls import QUERY
from app_pages.inputs import drawing
from app_pages.inputs.digit_input import digit_input
from app_pages.inputs.input_list import right_class, stepper
from app_pages.inputs.record_input import invite, record_input
from app_pages.inputs.text_input import text_input
from app_pages.inputs.unknown_tokens import say_unknown
from app_pages.subject import session_encoders, state
from app_pages.subject.opened import OTHER_KIND, Opened
from app_pages.toolkit.markdown import PLACEMENTS, plain
from model import checkpoint
from model.checkpoint.seeds import by_seed, seed_of
from model.checkpoint.training_history import measured, standard_error
from model.inputs import Input
from model.loaded import Loaded
from viz.builders.number_format import with_error

INVITATION = {
    state.TEXT: "Type a sentence above, or choose an example there, to see all heads.",
    state.DIGIT: "Draw a digit above, or upload a picture of one, to see all heads.",
}
NEEDS_ENCODER = (
    "This page runs an encoder, but a record holds only the results of one run: choose Text or Digit. Records are shown on "
    "the pages Attention and Heads, there in table and scatter."
)
NO_ENCODER = "This page needs an encoder, which a record does not contain: choose Text or Digit."
_ENCODER = (
    "The trained encoder that reads the input. Pre-LN: a LayerNorm stands before attention and before feed-forward; "
    "post-LN: after each of the two additions."
)

# By words in the name of a data set.
_DATA = {
    "SST": "SST is the Stanford Sentiment Treebank: single sentences from film reviews.",
    "of our own": "Sentences of our own were written for this project; in each a word like “not” or “never” decides.",
}
NO_NUMBERS = (
    "cannot be shown with this input, choose another one: its activations are too large for float32, and what was computed "
    "from them is no number."
)


def choose_input(
    places: tuple[DeltaGenerator, DeltaGenerator] | None = None, *, records: bool = False
) -> state.Selection:
    """Draws the row, and below it the bar that the page fills, where it has not made one itself (`controls.control_bar.bar`).

    A page that needs no more than attention patterns takes `records` that were opened from a file as well: only to
    such a page is one ever given. Where nothing can be read, a sentence ends the page.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="input"):
        kind = _choose_kind()
        look = {"horizontal": True, "vertical_alignment": "center", "gap": "xsmall"}
        place = st.container(key=f"input_{kind.lower()}", **look)
        beside = st.container(horizontal=True, vertical_alignment="center", key="input_beside")
        name = "" if kind == state.RECORD else _choose_encoder(kind)
        about = st.container(width="content")
        answer = st.container(horizontal=True, vertical_alignment="center", width="content", key="answer")
    if kind != state.RECORD:
        session_encoders.say_gone(name)
    opened, label = None, None
    if kind == state.RECORD:
        with place:
            opened = record_input()
        given = _of_record(opened, records)
    else:
        with place:
            if kind == state.TEXT:
                given, label = text_input(name)
            else:
                given, label = digit_input(name)
            label = state.label_for(name, label)
            label = right_class(kind, name, given) if label is None else label
        with place:
            stepper(kind, name, given)
        _need_encoder(name, kind, given, about)
    controls, more = places or bar("controls")
    selection = state.Selection(
        checkpoint=name,
        given=given,
        label=label,
        beside=beside,
        answer=answer,
        controls=controls,
        more=more,
        opened=opened,
    )
    state.select(selection)
    return selection


def _need_encoder(name: str | None, kind: str, given: Input | None, about: DeltaGenerator) -> None:
    """Ends the page where there is no encoder, or nothing that it could read."""
    if name is None:
        stop(f"There is no encoder for this input: none in `checkpoints/` reads a {kind.lower()}.")
    try:
        loaded = state.loaded(name)
        with about:
            _describe(loaded)
        n_read = state.encoded_text(name, given).n_read if kind == state.TEXT and given else None
    except (ValueError, OSError) as error:
        stop(f"The encoder {name} cannot be used, choose another one: {plain(str(error))}.")
    if given is None or n_read == 0:
        stop(INVITATION[kind])
    if not state.record(name, given).is_finite:
        stop(f"The encoder {plain(name)} {NO_NUMBERS}")
    session_encoders.say_on_cpu(name)
    if left_out := state.left_out(name, given):
        st.caption(f"The text is too long for the encoder, which leaves out the {left_out}.")
    say_unknown(name, given)


def _of_record(opened: Opened | None, records: bool) -> Input | None:
    """What the open record is of; ends the page where none is open, or where a record is too little."""
    if not records:
        stop(NEEDS_ENCODER)
    if opened is None:
        invite()
        st.stop()
    for said in filter(None, (opened.holds, opened.odd_rows)):
        st.caption(said)
    return opened.given


def choose_encoder() -> str | None:
    """For a page about encoders, whatever they read: which kind, and which of that kind."""
    if (kind := _choose_kind()) == state.RECORD:
        stop(NO_ENCODER)
    name = _choose_encoder(kind)
    session_encoders.say_gone(name)
    return name


def stop(why: str) -> NoReturn:
    """Ends the run with a sentence."""
    st.info(why, icon=":material/info:")
    st.stop()


def _choose_kind() -> str:
    return KIND.choose(on_change=_change_kind)


def _choose_encoder(kind: str) -> str | None:
    """Those that differ in their seed alone stand once in the box, with a second box for the seed."""
    seeds = by_seed(state.checkpoints(kind))
    held = CHECKPOINT.held() or st.query_params.get("checkpoint")
    shown = [held if held in names else names[0] for names in seeds.values()]
    # Not by a shorter name: the address holds what stands in the box, and must say the seed.
    name = CHECKPOINT.choose(shown, gone=alike)
    if name is not None and len(names := seeds[seed_of(name)[0]]) > 1:
        st.session_state["seed"] = name
        st.selectbox(
            "Seed",
            names,
            key="seed",
            format_func=lambda name: f"seed {seed_of(name)[1]}",
            on_change=_take_seed,
            help="The same recipe with other random numbers: what differs between two seeds is chance.",
            width=100,
            label_visibility="collapsed",
        )
    return name


def _take_seed() -> None:
    CHECKPOINT.take(st.session_state["seed"])


def _change_kind() -> None:
    """A token's position means nothing on a digit, nor a patch in a text, nor a head in another encoder."""
    QUERY.take(0)
    st.session_state[OTHER_KIND] = True
    drawing.leave()


def alike(held: str | None, names: Sequence[str]) -> str | None:
    """After a change of the input kind, the checkpoint with the same norm placement, or else the first."""
    alike = [name for name in names if held and _after_kind(name) == _after_kind(held)]
    return next(iter([*alike, *names]), None)


def _after_kind(name: str) -> str:
    """Of "mnist-pre-ln-seed1" this is "pre-ln"."""
    return seed_of(name)[0].partition("-")[2]


def _describe(loaded: Loaded) -> None:
    """Behind a button: what the encoder is, and how well it was found to do."""
    config = loaded.config
    published = loaded.history.get("recipe", {}).get("published")
    with st.popover("", icon=":material/info:", type="tertiary", key="about_encoder"):
        st.caption(
            f"{loaded.n_parameters:,} parameters  \n{PLACEMENTS[config.norm_placement]}, "
            f"{_several(config.n_layers, 'layer')} × {_several(config.n_heads, 'head')}  \n"
            + _seed(loaded.name)
            + (f"reference accuracy: {plain(published)}  \n" if published else "")
            + f"runs on {loaded.device.type.upper()}"
        )
        if figures := measured(loaded.history):
            st.caption("Accuracy, with its standard error:")
            st.dataframe([_accuracy(each) for each in figures], hide_index=True, width=440)
            if said := [
                what for name, what in _DATA.items() if any(name in each["data"] for each in figures)
            ]:
                st.caption(" ".join(said))
        else:
            st.caption("Its accuracy was not measured.")
        st.caption(_ENCODER)


def _seed(name: str) -> str:
    """A line about the seed, where there are encoders that differ in nothing else; "" where there are none."""
    alike = by_seed(checkpoint.available()).get(seed_of(name)[0], ())
    if len(alike) < 2 or name not in alike:
        return ""
    return f"seed {seed_of(name)[1]}: one of {len(alike)} encoders that differ only in the random numbers of their training  \n"


def _accuracy(figures: dict) -> dict[str, str]:
    p, n = figures["accuracy"], figures["n"]
    return {"judged on": f"{n:,} {figures['data']}", "correct": with_error(p, standard_error(p, n))}


def _several(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
