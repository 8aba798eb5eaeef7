"""Side by side: two encoders on one input, or two inputs in one encoder."""

import streamlit as st

from app_pages.compare.cross_attention import cross_attention
from app_pages.compare.difference import difference
from app_pages.compare.heads import heads
from app_pages.compare.knock_out import knock_out
from app_pages.compare.pairing import pair_heads, pair_layers
from app_pages.compare.recipe import recipes
from app_pages.compare.representations import representations
from app_pages.compare.sides import choose_sides, choose_what
from app_pages.compare.stream import stream
from app_pages.controls.compare_controls import (
    CROSS,
    DIFFERENCE,
    HEADS,
    KNOCK_OUT,
    PART,
    REPRESENTATIONS,
    SECOND_TEXT,
    STREAM,
)
from app_pages.controls.control_bar import bar
from app_pages.controls.head_choice import choose_head
from app_pages.controls.lens import about_lens, choose_lens
from app_pages.inputs.row import choose_input, stop
from app_pages.inputs.unknown_tokens import say_unknown
from app_pages.subject import session_encoders, state
from app_pages.subject.two_sides import predictions, similarity, tell
from app_pages.toolkit.markdown import plain

OF_ALL_HEADS = {KNOCK_OUT: knock_out, STREAM: stream, REPRESENTATIONS: representations}

part = PART.choose()
above = st.container()
places = controls, _ = bar("controls")
with controls:
    what = choose_what()
with above:
    chosen = choose_input(places)
    sides = choose_sides(chosen, what)
if isinstance(sides, str):
    stop(sides)
first, second = sides
pairing = None
if part == CROSS:
    chosen = choose_head(chosen)
if part in (HEADS, DIFFERENCE):
    through = choose_lens(chosen, second.checkpoint, width=150)
    chosen = choose_head(chosen, with_colours=part == HEADS, lens=through.lens)
    if through.lens.has_heads:
        with chosen.more if chosen.view is None else chosen.view:
            pairing = pair_heads(first, second)
    else:
        pairing = pair_layers(first, second)

left_out = state.left_out(second.checkpoint, second.given)
of_one = second.checkpoint == first.checkpoint
if left_out and left_out != state.left_out(first.checkpoint, first.given):
    what = "The second text" if of_one else f"For {second.checkpoint} the text"
    st.caption(f"{what} is too long for the encoder, which leaves out the {left_out}.")
if of_one:
    say_unknown(second.checkpoint, second.given, where="In the second text ", box=SECOND_TEXT)
elif unknown := state.unknown(second.checkpoint, second.given):
    st.caption(f"{plain(second.checkpoint)}: {unknown}.")
if not of_one:
    session_encoders.say_on_cpu(second.checkpoint)
predictions(first, second, key="probabilities")
if not first.said and not second.said:
    if of_one:
        tell(similarity(first.record, second.record))
    else:
        st.caption("Neither encoder has classes, so there is no prediction.")

if part == CROSS:
    cross_attention(chosen, first, second)
elif pairing is None:
    OF_ALL_HEADS[part](chosen, first, second)
else:
    draw = heads if part == HEADS else difference
    draw(chosen, first, second, pairing, through)
    about_lens(chosen, through.lens)

if not of_one:
    recipes(*((side.checkpoint, state.loaded(side.checkpoint).history) for side in sides))
