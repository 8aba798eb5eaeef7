"""Cross-attention: queries from the first input, keys from the second, through one head of one encoder."""

import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, choose_query
from app_pages.show.show import show
from app_pages.subject.two_sides import Side
from model.experiments.query_attention import cross_pattern
from viz.attention.token_heatmaps import cross_heatmap
from viz.builders.number_format import head_name


def draw_cross_attention(slots: Slots, chosen: HeadChoice, first: Side, second: Side) -> None:
    """Draws the map of the chosen head with the queries of the first input and the keys of the second."""
    with slots.controls:
        query = choose_query(first.record)
    pattern = cross_pattern(first.record, second.record, chosen.layer, chosen.head)
    scale = chosen.weights_to("the maximum of this map", pattern)
    with st.container(key="matrix_cross_place"):
        figure = cross_heatmap(pattern, first.record.tokens, second.record.tokens, query=query, scale=scale)
        show(figure, key="cross", height="stretch")
    st.latex(
        r"A = \mathrm{softmax}\!\left( \frac{Q_1 K_2^{\top}}{\sqrt{d_k}} \right), \qquad \mathrm{out} = A V_2"
    )
    st.caption(
        f"$Q_1$ are the queries of {head_name(chosen.layer, chosen.head)} on the {first.title}, $K_2$ and $V_2$ its keys and values on "
        f"the {second.title}. In a decoder the queries come from what was written so far and the keys from the encoder "
        "(Vaswani et al. 2017, section 3.2.3). This encoder was never trained for it, so the map shows the formula and "
        "not a skill."
        + (
            " What it adds to its scores by relative positions is left out: between two texts there are none."
            if first.record.config.has_distance_bias or first.record.config.family.parts.disentangled
            else ""
        )
    )
