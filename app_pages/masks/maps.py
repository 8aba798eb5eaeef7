"""The chosen head step by step: scores with the mask, pattern, and the change by the mask."""

import streamlit as st

from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.masks_controls import SHOWN
from app_pages.show.show import show
from app_pages.subject.two_sides import Side, difference
from viz.attention.token_heatmaps import attention_heatmap, score_heatmap
from viz.builders.heatmap import compact
from viz.builders.number_format import head_name

LEGIBLE = 64  # positions; of more, a part is shown to begin with
TITLES = {
    "scores": "Scores</b> <i>s</i> + <i>m</i>",
    "pattern": "Pattern</b> <i>A</i>",
    "change": "Change</b> of <i>A</i>",
}


def draw_maps(
    chosen: HeadChoice, role: str, unmasked: Side, after: Side, query: int, *, with_pattern: bool = True
) -> None:
    """Draws three heatmaps of the chosen head: scores with the mask, pattern, and the change by the mask.

    `role` is the name of what this head does, or "". Without `with_pattern`, which is then seen elsewhere, it is two maps.
    """
    head, tokens = (chosen.layer, chosen.head), after.record.tokens
    name = head_name(*head)
    zoom = 0, len(tokens) - 1  # first and last position in all maps
    if len(tokens) > LEGIBLE:
        zoom = SHOWN.choose(most=len(tokens) - 1, default=(0, LEGIBLE - 1))
    figures = {
        "scores": score_heatmap(
            after.record.scores[head],
            tokens,
            mask=after.record.mask[head],
            title=f"Scores of {name}",
            query=query,
            zoom=zoom,
        ),
        "pattern": attention_heatmap(
            after.record,
            *head,
            scale=chosen.of_head(unmasked.record, after.record),
            title=f"Pattern of {name}",
            description=f"Attention of {name} under the mask, queries down, keys across",
            query=query,
            zoom=zoom,
        ),
        "change": difference(
            unmasked,
            after,
            head,
            names=("unmasked", "masked"),
            title=f"Change of the pattern of {name}",
            description=f"Change of the attention of {name} by the mask, queries down, keys across",
            query=query,
            zoom=zoom,
        ),
    }
    if not with_pattern:
        del figures["pattern"]
    with st.container(key="masks_maps", horizontal=True, gap=None):
        for number, (figure_name, figure) in enumerate(figures.items(), start=1):
            with st.container(key=f"mask_map_{figure_name}"):
                show(
                    compact(figure, f"<b>{number} {TITLES[figure_name]}"),
                    key=f"masks_map_{figure_name}",
                    height="stretch",
                    in_file=figure,
                )
    st.markdown(
        rf"{name}{role and f' ({role})'}: $\;A_{{ij}} = \operatorname{{softmax}}_j(s_{{ij}} + m_{{ij}})$, with "
        r"$s_{ij} = q_i \cdot k_j / \sqrt{d_k}$, $\;m_{ij} = 0$ where query $i$ (a row) may attend to key $j$ (a column) "
        r"and $-\infty$ where it may not. Hatched: masked. Framed: the query. ▲ on the colour bar: the same weight for "
        "all allowed keys."
    )
    st.caption(
        "The change is the pattern with the mask minus the pattern without. In later layers the scores come from states "
        "that the mask has already changed."
    )
