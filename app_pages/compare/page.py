"""Side by side: two encoders on one input, or two inputs in one encoder."""

from dataclasses import replace

import streamlit as st

from app_pages.compare.by_words import KNOCKED_OUT, WEIGHTS, say_rule
from app_pages.compare.cross_attention import draw_cross_attention
from app_pages.compare.heads import draw_heads
from app_pages.compare.pairing import pair_heads, pair_layers
from app_pages.compare.sides import choose_comparison, choose_sides, parts
from app_pages.compare.stream import draw_stream
from app_pages.compare.token_knock_out import draw_knock_out
from app_pages.controls import compare_controls as controls
from app_pages.controls.control_bar import bar
from app_pages.controls.head_choice import choose_head
from app_pages.controls.lens import about_lens, choose_lens
from app_pages.inputs.row import choose_input, stop
from app_pages.inputs.unknown_tokens import say_unknown
from app_pages.show.side_predictions import predictions, tell
from app_pages.subject import session_encoders
from app_pages.subject.two_sides import similarity
from app_pages.toolkit.markdown import plain


def draw() -> None:
    part = controls.PART.choose(parts())
    above = st.container()
    places = control_bar, _ = bar("controls")
    with control_bar:
        what = choose_comparison()
    with above:
        subject, slots = choose_input(places, with_answer=False)
        sides = choose_sides(subject, slots, what)
    if isinstance(sides, str):
        stop(sides)
    first, second = sides
    of_one = second.checkpoint == first.checkpoint
    if part == controls.HEADS:
        # behind View, since a click on a map chooses its head
        through = choose_lens(subject, replace(slots, controls=slots.view), second.subject)
        chosen = choose_head(subject, slots, with_roles=False, lens=through.lens, container=slots.view)
        if through.lens.has_heads:
            with slots.view:
                pairing = pair_heads(first, second)
        else:
            pairing = pair_layers(first, second)
    elif part == controls.CROSS:
        chosen = choose_head(subject, slots)

    left_out = second.subject.left_out
    if left_out and left_out != first.subject.left_out:
        which = "The second text" if of_one else f"For {second.checkpoint} the text"
        st.caption(f"{which} is too long for the encoder, which leaves out the {left_out}.")
    if of_one:
        say_unknown(second.subject, before="In the second text ", box=controls.SECOND_TEXT)
    else:
        if second.subject.unknown:
            st.caption(f"{plain(second.checkpoint)}: {second.subject.unknown}.")
        session_encoders.say_on_cpu(second.checkpoint)
        for note in second.subject.loaded.notes:
            st.caption(f"{plain(second.checkpoint)}: {plain(note)}")
    if part in (controls.HEADS, controls.KNOCK_OUT):
        say_rule(first, second, KNOCKED_OUT if part == controls.KNOCK_OUT else WEIGHTS)
    if part != controls.HEADS:
        predictions(first, second, key="probabilities")
    if not first.predicted and not second.predicted:
        if of_one:
            tell(similarity(first.record, second.record))
        else:
            st.caption("Neither encoder has classes, so there is no prediction.")

    if part == controls.HEADS:
        draw_heads(slots, chosen, first, second, pairing, through)
        about_lens(subject, through.lens)
    elif part == controls.CROSS:
        draw_cross_attention(slots, chosen, first, second)
    elif part == controls.KNOCK_OUT:
        draw_knock_out(slots, first, second)
    else:
        draw_stream(slots, first, second)
