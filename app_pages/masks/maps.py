"""The chosen head step by step: scores with the mask, pattern, and the change by the mask."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.lens import score_formula
from app_pages.controls.masks_controls import SHOWN
from app_pages.show.show import show
from app_pages.subject.two_sides import Side, difference
from viz.attention.token_heatmaps import MapOptions, attention_heatmap, score_heatmap
from viz.builders.heatmap import compact
from viz.builders.heatmap_figure import Heatmap
from viz.builders.number_format import head_name

LEGIBLE = 64  # positions; of more, a part is shown to begin with
MOST_DRAWN = 512  # positions; with three maps of 1,370 × 1,370 cells a browser was busy for minutes
TITLES = {
    "scores": "Scores",
    "pattern": "Pattern",
    "change": "Change",
}


def draw_maps(
    chosen: HeadChoice, role: str, unmasked: Side, after: Side, query: int, *, with_pattern: bool = True
) -> None:
    """Draws three heatmaps of the chosen head: scores with the mask, pattern, and the change by the mask.

    `role` is the name of what this head does, or "". Without `with_pattern`, which is then seen elsewhere, it is two maps.
    """
    head, n = (chosen.layer, chosen.head), len(after.record)
    name = head_name(*head)
    first, last = 0, n - 1  # position in all maps
    if n > LEGIBLE:
        first, last = SHOWN.choose(most=n - 1, default=(0, LEGIBLE - 1))
    if last - first >= MOST_DRAWN:
        last = first + MOST_DRAWN - 1
        st.caption(f"The maps have room for {MOST_DRAWN} positions, here {first} to {last}.")
    whole: MapOptions = {"query": query, "zoom": (first, last)}
    part = range(
        first, last + 1
    )  # of more positions than `MOST_DRAWN`, that part alone is sent to the browser
    on_screen: MapOptions = whole if n <= MOST_DRAWN else {"query": query, "window": (part, part)}
    drawn: dict[str, Callable[..., Heatmap]] = {
        "scores": partial(
            score_heatmap,
            after.record.scores[head],
            after.record.tokens,
            mask=after.record.mask[head],
            title=f"Scores of {name}",
        ),
        "pattern": partial(
            attention_heatmap,
            after.record,
            *head,
            scale=chosen.of_head(unmasked.record, after.record),
            title=f"Pattern of {name}",
            description=f"Attention of {name} under the mask, queries down, keys across",
            beside=not after.is_text,  # the picture itself takes room from the maps
        ),
        "change": partial(
            difference,
            unmasked,
            after,
            head,
            names=("unmasked", "masked"),
            title=f"Change of the pattern of {name}",
            description=f"Change of the attention of {name} by the mask, queries down, keys across",
        ),
    }
    if not with_pattern:
        del drawn["pattern"]
    with st.container(key="masks_maps", horizontal=True, gap=None):
        for number, (figure_name, draw) in enumerate(drawn.items(), start=1):
            with st.container(key=f"mask_map_{figure_name}"):
                show(
                    compact(draw(**on_screen), f"<b>{number} {TITLES[figure_name]}</b>"),
                    key=f"masks_map_{figure_name}",
                    height="stretch",
                    in_file=partial(draw, **whole),
                )
    scores = score_formula(after.record.config)
    with st.expander("How these maps come about", icon=":material/function:"):
        st.markdown(
            rf"{name}{role and f' ({role})'}: where a query (a row) may not see a key (a column), hatched, $-\infty$ is added to "
            "the score. The softmax then gives that key the weight 0, and the other weights of the row grow until they add up to 1. "
            "Framed: the query. ▲ on the colour bar: the same weight for all allowed keys."
        )
        st.markdown(
            r"$A_{ij} = \operatorname{softmax}_j(s_{ij} + m_{ij})$, with "
            rf"$s_{{ij}} = {scores.tex}$, $\;m_{{ij}} = 0$ where query $i$ sees key $j$, and $-\infty$ where not. {scores.meanings}"
        )
        st.markdown(
            "The change is the pattern with the mask minus the pattern without. In later layers the scores change too: they come "
            "from states that the mask has already changed."
        )
