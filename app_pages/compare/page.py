"""Compare: two checkpoints on one input, or two inputs on one checkpoint."""

import streamlit as st

from app_pages import address, state
from app_pages.compare.difference import difference
from app_pages.compare.heads import heads
from app_pages.compare.knock_out import knock_out
from app_pages.compare.pairing import about, pair_heads
from app_pages.compare.representations import representations
from app_pages.compare.sides import choose_sides
from app_pages.compare.stream import stream
from app_pages.widgets.contrast import predictions, tell, verdict
from app_pages.widgets.head_choice import choose_head

HEADS, DIFFERENCE = "Heads", "Difference"
OF_ALL_HEADS = {"Knock-out": knock_out, "Stream": stream, "Representations": representations}

chosen = state.selection()
with chosen.top:
    sides = choose_sides(chosen)
if isinstance(sides, str):
    st.info(sides, icon=":material/info:")
    st.stop()
first, second = sides
with chosen.top:
    left_out = state.left_out(second.checkpoint, second.given)
    of_one = second.checkpoint == first.checkpoint
    if left_out and left_out != state.left_out(first.checkpoint, first.given):
        what = "The second text" if of_one else f"For {second.checkpoint} the text"
        st.caption(f"{what} is longer than the encoder reads: it leaves out the {left_out}.")
    predictions(first, second, key="probabilities")
    if not first.said and not second.said:
        if of_one:
            tell(verdict(f"From the {first.title} to the {second.title}", first.record, second.record))
        else:
            st.caption("Neither encoder has classes, and so there is no prediction.")

with st.container(horizontal=True, vertical_alignment="bottom"):
    part = address.row("Part", (HEADS, DIFFERENCE, *OF_ALL_HEADS), key="compare_part")
    pairing = pair_heads(first, second) if part in (HEADS, DIFFERENCE) else None
if pairing is None:
    OF_ALL_HEADS[part](first, second)
else:
    chosen = choose_head(chosen, with_colours=part == HEADS)
    about(first, second, pairing, (chosen.layer, chosen.head))
    draw = heads if part == HEADS else difference
    draw(chosen, first, second, pairing)
