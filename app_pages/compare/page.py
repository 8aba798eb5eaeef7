"""Compare: two checkpoints on one input, or two inputs on one checkpoint."""

import streamlit as st

from app_pages import address, state
from app_pages.compare.difference import difference
from app_pages.compare.heads import heads
from app_pages.compare.knock_out import knock_out
from app_pages.compare.pairing import about, pair_heads
from app_pages.compare.representations import representations
from app_pages.compare.sides import beside, choose_sides
from app_pages.compare.stream import stream
from app_pages.widgets.head_choice import choose_head
from app_pages.widgets.prediction import prediction

HEADS, DIFFERENCE, KNOCK_OUT = "Heads", "Difference", "Knock-out"
STREAM, REPRESENTATIONS = "Stream", "Representations"

chosen = state.selection()
with chosen.top:
    sides = choose_sides(chosen)
if isinstance(sides, str):
    st.info(sides, icon=":material/info:")
    st.stop()
first, second = sides
with chosen.top:
    left_out = state.left_out(second.checkpoint, second.given)
    if left_out and left_out != state.left_out(first.checkpoint, first.given):
        what = (
            "The second text"
            if second.checkpoint == first.checkpoint
            else f"For {second.checkpoint} the text"
        )
        st.caption(f"{what} is longer than the encoder reads: it leaves out the {left_out}.")
    for number, side, place in zip(("first", "second"), sides, beside("answer"), strict=True):
        with place:
            prediction(side.record, side.label, title=side.title, key=f"probabilities_{number}")

with st.container(horizontal=True, vertical_alignment="bottom"):
    part = address.row("Part", (HEADS, DIFFERENCE, KNOCK_OUT, STREAM, REPRESENTATIONS), key="compare_part")
    pairing = pair_heads(first, second) if part in (HEADS, DIFFERENCE) else None
if pairing is not None:
    chosen = choose_head(chosen, with_colours=part == HEADS)
    about(first, second, pairing, (chosen.layer, chosen.head))
    draw = heads if part == HEADS else difference
    draw(chosen, first, second, pairing)
elif part == KNOCK_OUT:
    knock_out(first, second)
elif part == STREAM:
    stream(first, second)
else:
    representations(first, second)
