"""Side by side: two encoders on one input, two inputs in one encoder, or a picture and texts in a picture encoder and a text
encoder from one folder (CLIP).
"""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from app_pages.compare.heads import draw_heads
from app_pages.compare.pairing import pair_heads, pair_layers
from app_pages.compare.patch_views import draw_colours, draw_norms, draw_patch
from app_pages.compare.picture_with_texts import draw_text_on_picture
from app_pages.compare.several_texts import draw_several_texts
from app_pages.compare.sides import (
    KNOCKED_OUT,
    WEIGHTS,
    choose_comparison,
    choose_sides,
    offered_tabs,
    say_rule,
    take_encoder_of_pictures,
)
from app_pages.compare.similar_pairs import draw_pairs
from app_pages.compare.similar_words import draw_hidden_words, draw_input_tokens
from app_pages.compare.stream import draw_stream
from app_pages.compare.token_knock_out import draw_knock_out
from app_pages.controls import compare_controls as controls
from app_pages.controls.control_bar import Slots, bar, beside
from app_pages.controls.head_choice import HeadChoice, choose_head, choose_query
from app_pages.controls.lens import choose_lens, draw_lens_description
from app_pages.inputs.row import choose_input, say_unknown, stop
from app_pages.show.show import show
from app_pages.show.side_predictions import predictions, tell
from app_pages.subject import session_encoders
from app_pages.subject.as_python import record
from app_pages.subject.two_sides import Side, similarity_sentence
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import plain
from model.experiments.query_attention import cross_pattern
from viz.attention.token_heatmaps import cross_heatmap
from viz.builders.number_format import head_name

# The views of the tab Similarity.
_OF_TEXTS: dict[str, Callable[[Slots, Side, Side], None]] = {
    controls.PAIRS: draw_pairs,
    controls.HIDDEN_WORDS: draw_hidden_words,
    controls.INPUT_TOKENS: draw_input_tokens,
    controls.SEVERAL: draw_several_texts,
}
_OF_PICTURES: dict[str, Callable[[Slots, Side, Side], None]] = {
    controls.PAIRS: draw_pairs,
    controls.ONE_PATCH: draw_patch,
    controls.THREE_COLOURS: draw_colours,
    controls.PATCH_NORMS: draw_norms,
}


def draw() -> None:
    take_encoder_of_pictures()
    part = controls.PART.choose(offered_tabs())
    above = st.container()
    places = control_bar, _ = bar("controls")
    with control_bar:
        what = choose_comparison()
    with above:
        subject, slots = choose_input(places, with_answer=False)
    if what == controls.TEXTS_ON_PICTURE:
        draw_text_on_picture(subject)
        return
    with above:
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

    left_out = second.subject.left_out_phrase
    if left_out and left_out != first.subject.left_out_phrase:
        which = "The second text" if of_one else f"For {second.checkpoint} the text"
        st.caption(f"{which} is too long for the encoder, which leaves out the {left_out}.")
    if of_one:
        say_unknown(second.subject, before="In the second text ", box=controls.SECOND_TEXT)
    else:
        if second.subject.unknown_phrase:
            st.caption(f"{plain(second.checkpoint)}: {second.subject.unknown_phrase}.")
        session_encoders.say_on_cpu(second.checkpoint)
        for note in second.subject.loaded.notes:
            st.caption(f"{plain(second.checkpoint)}: {plain(note)}")
    if part in (controls.HEADS, controls.KNOCK_OUT):
        say_rule(first, second, KNOCKED_OUT if part == controls.KNOCK_OUT else WEIGHTS)
    if part != controls.HEADS:
        predictions(first, second, key="probabilities")
    if part != controls.SIMILARITY and not first.predicted_class_name and not second.predicted_class_name:
        if of_one:
            tell(similarity_sentence(first.record, second.record))
        else:
            st.caption("Neither encoder has classes, so there is no prediction.")

    if part == controls.HEADS:
        draw_heads(slots, chosen, first, second, pairing, through)
        draw_lens_description(subject, through.lens)
    elif part == controls.CROSS:
        draw_cross_attention(slots, chosen, first, second)
    elif part == controls.KNOCK_OUT:
        draw_knock_out(slots, first, second)
    elif part == controls.SIMILARITY:
        views = _OF_TEXTS if first.is_text else _OF_PICTURES
        with slots.controls:
            view = controls.SIMILARITY_VIEW.choose([*views])
        views[view](slots, first, second)
    else:
        draw_stream(slots, first, second)


def draw_cross_attention(slots: Slots, chosen: HeadChoice, first: Side, second: Side) -> None:
    """Draws the map of the chosen head with the queries of the first input and the keys of the second."""
    with slots.controls:
        query = choose_query(first.record)
    pattern = cross_pattern(first.record, second.record, chosen.layer, chosen.head)
    scale = chosen.weights_to("the maximum of this map", pattern)
    st.markdown(
        f"**What would the {first.title} look at in the {second.title}?** This encoder was never trained for it: the map shows the "
        "formula and not a skill."
    )
    map_column, formula_column = beside("cross", "cross_formula")
    with map_column, st.container(key="matrix_cross_place"):
        sources = record(first.subject), record(second.subject)
        weights = call(cross_pattern, *sources, chosen.layer, chosen.head)
        figure = call(
            cross_heatmap, weights, *(source.tokens for source in sources), query=query, scale=scale
        )
        show(figure, key="cross", height="stretch")
    with formula_column:
        st.latex(
            r"A = \mathrm{softmax}\!\left( \frac{Q_1 K_2^{\top}}{\sqrt{d_k}} \right), \qquad \mathrm{out} = A V_2"
        )
        st.caption(
            f"$Q_1$ are the queries of {head_name(chosen.layer, chosen.head)} on the {first.title}, $K_2$ and $V_2$ its keys and values on "
            f"the {second.title}. In a decoder the queries come from what was written so far and the keys from the encoder "
            "(Vaswani et al. 2017, section 3.2.3)."
            + (
                " What it adds to its scores by relative positions is left out: between two texts there are none."
                if first.record.config.has_distance_bias or first.record.config.family.parts.disentangled
                else ""
            )
        )
