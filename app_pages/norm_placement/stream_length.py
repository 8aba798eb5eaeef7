"""The answer of the page: a block of either placement, and how long the residual stream becomes."""

import numpy as np
import streamlit as st

from app_pages.controls.pages import read_link
from app_pages.show.show import show
from app_pages.subject.stored_results import layers_of, over
from app_pages.toolkit.markdown import PLACEMENTS
from viz.builders.number_format import format_number
from viz.builders.palette import PLACEMENTS as HUES
from viz.compare.stage_curves import Band, stage_curves
from viz.norm_placement.placement_diagram import placement_diagram

ENCODERS = {"pre": "imdb-pre-ln", "post": "imdb-post-ln"}
CURVE = "norm"  # the stored curve: mean length of the states at each stage
_FIGURE_HEIGHT = 130


def draw_answer() -> None:
    """Draws both blocks, and beside them the length of the residual stream in the review encoders, layer by layer."""
    st.markdown(
        "The thick line carries each token's vector. **pre-LN**: the norm stands before attention and feed-forward, and vectors "
        "grow. **post-LN**: after each addition a norm brings them back to one length."
    )
    with st.container(horizontal=True, gap="medium", key="norm_answer"):
        for placement in ("pre", "post"):
            with st.container(key=f"norm_block_{placement}", width="content", gap=None):
                st.markdown(f"**{PLACEMENTS[placement]}**")
                show(placement_diagram(placement), key=f"block_{placement}", width="content")
        with st.container(key="norm_curve", gap=None):
            _draw_lengths()


def _draw_lengths() -> None:
    stored = {placement: layers_of(name) for placement, name in ENCODERS.items()}
    layers = {
        placement: results for placement, results in stored.items() if results and CURVE in results.curves
    }
    if len(layers) < len(ENCODERS):
        st.caption("The length of the residual stream is not stored for these review encoders.")
        return
    # Only the state that a whole layer leaves: after the embedding, then every second stage.
    ends: dict[str, Band] = {
        PLACEMENTS[placement]: (results.curves[CURVE].mean[::2], results.curves[CURVE].sd[::2])
        for placement, results in layers.items()
    }
    means = {title: np.asarray(mean) for title, (mean, _) in ends.items()}
    n_layers = max(map(len, means.values())) - 1
    page, query = read_link(
        "compare",
        {
            "kind": "Text",
            "checkpoint": ENCODERS["pre"],
            "compare_with": ENCODERS["post"],
            "compare_part": "Stream",
        },
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        sources = " and ".join(dict.fromkeys(over(results.source) for results in layers.values()))
        st.markdown(
            "**Length of the residual stream, layer by layer**",
            width="content",
            help=f"Two encoders of film reviews, one of each. Line and band: mean and standard deviation over {sources}.",
        )
        st.page_link(page.script, label=f"{page.title} →", query_params=query)
    figure = stage_curves(
        means,
        ["embedding", *(f"L{layer}" for layer in range(n_layers))],
        y_title="mean length ‖x‖",
        x_title="after the embedding, and after each layer",
        colours=tuple(HUES[placement] for placement in layers),
        bands=ends,
        height=_FIGURE_HEIGHT,
    )
    show(figure, key="norm_lengths")
    growth = " and ".join(
        f"{title} {format_number(float(mean[-1] / mean[1]), '.2f')} times" for title, mean in means.items()
    )
    st.caption(f"How long a token's vector is after the last layer, compared with the first: {growth}.")
