"""The chosen head step by step: scores, scores after the mask, pattern, and the change by the mask."""

import streamlit as st

from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.masks_controls import SHOWN
from app_pages.show.show import show
from app_pages.subject.two_sides import Side, difference
from viz.attention.token_heatmaps import attention_heatmap, score_heatmap
from viz.builders.number_format import head_name

LEGIBLE = 64  # positions; of more, a part is shown to begin with


def draw_maps(chosen: HeadChoice, unmasked: Side, after: Side, query: int) -> None:
    """Draws four heatmaps of the chosen head: scores, scores after the mask, pattern, and the change by the mask."""
    head, tokens = (chosen.layer, chosen.head), after.record.tokens
    scores, mask = after.record.scores[head], after.record.mask[head]
    st.markdown(
        rf"{head_name(chosen.layer, chosen.head)}: $\;A_{{ij}} = \operatorname{{softmax}}_j(s_{{ij}} + m_{{ij}})$, "
        "with "
        r"$s_{ij} = q_i \cdot k_j / \sqrt{d_k}$, $\;m_{ij} = 0$ where query $i$ may attend to key $j$ and "
        r"$-\infty$ where it may not. Hatched: masked. Framed: the query."
    )
    zoom = 0, len(tokens) - 1  # first and last position in all four maps
    if len(tokens) > LEGIBLE:
        zoom = SHOWN.choose(most=len(tokens) - 1, default=(0, LEGIBLE - 1))
    figures = {
        "scores": score_heatmap(scores, tokens, title="1 Scores s", query=query, zoom=zoom),
        "masked": score_heatmap(
            scores, tokens, mask=mask, title="2 Scores after the mask, s + m", query=query, zoom=zoom
        ),
        "pattern": attention_heatmap(
            after.record,
            *head,
            scale=chosen.of_head(unmasked.record, after.record),
            title="3 Pattern A",
            description="Attention under the mask, queries down, keys across",
            query=query,
            zoom=zoom,
        ),
        "change": difference(
            unmasked,
            after,
            head,
            names=("unmasked", "masked"),
            title="4 Change of A",
            description="Change of attention by the mask, queries down, keys across",
            query=query,
            zoom=zoom,
        ),
    }
    names = iter(figures)
    with st.container(horizontal=True, gap="medium"):
        for pair in zip(names, names, strict=True):  # two and two stay together where four have no room
            with st.container(key=f"pair_{'_'.join(pair)}"), st.container(horizontal=True, gap="medium"):
                for name in pair:
                    with st.container(key=f"side_{name}"):
                        show(figures[name], key=f"masks_map_{name}")
    st.caption(
        "In later layers the scores come from states that the mask has already changed. The change is the "
        "pattern with the mask minus the pattern without."
    )
