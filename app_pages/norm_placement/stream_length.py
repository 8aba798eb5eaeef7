"""The page's main figure: a block of each placement, with the length of the residual stream or the parts of an answer by
layer.
"""

from textwrap import shorten

import numpy as np
import streamlit as st

from app_pages.controls.compare_controls import NORMS
from app_pages.controls.compare_controls import PARTS as ANSWER_BY_PART
from app_pages.controls.input_controls import TEXT
from app_pages.controls.norm_placement_controls import FIGURE, PARTS
from app_pages.controls.pages import read_link
from app_pages.inputs.text_input import first_text
from app_pages.show.parts_of_answer import draw_parts_of_answer
from app_pages.show.show import show
from app_pages.subject.stored_results import layers_of, over, results_expression
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import PLACEMENTS, plain
from model.atlas.results import LAYERS, read_layers
from model.inputs import Text
from viz.builders.number_format import format_number
from viz.builders.palette import PLACEMENTS as HUES
from viz.compare.stage_curves import stage_curves
from viz.norm_placement.placement_diagram import placement_diagram

ENCODERS = {"pre": "imdb-pre-ln", "post": "imdb-post-ln"}
_PAIR = {"kind": "Text", "checkpoint": ENCODERS["pre"], "compare_with": ENCODERS["post"]}
CURVE = "norm"  # the stored curve: mean length of the states at each stage
_WHERE = {"pre": "norm before each part", "post": "norm after each sum"}
_FIGURE_HEIGHT = 130
_LONGEST = 80  # letters of a text


def draw_placements() -> None:
    """Draws both kinds of block, and beside them the length of the residual stream or the parts of an answer of the review
    encoders, layer by layer.
    """
    with st.container(horizontal=True, gap="medium", key="norm_answer"):
        for placement in ("pre", "post"):
            with st.container(key=f"norm_block_{placement}", width="content", gap=None):
                st.markdown(f"**{PLACEMENTS[placement]}**: {_WHERE[placement]}")
                show(call(placement_diagram, placement), key=f"block_{placement}", width="content")
        with st.container(key="norm_curve", gap=None):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                shown = FIGURE.choose()
                part = {
                    "compare_part": "Stream",
                    "compare_stream": ANSWER_BY_PART if shown == PARTS else NORMS,
                }
                page, query = read_link("compare", _PAIR | part)
                st.page_link(page.script, label=f"{page.title} →", query_params=query)
            if shown == PARTS:
                _draw_parts()
            else:
                _draw_lengths()


def _draw_parts() -> None:
    """Draws what each part of the encoders adds to the answer to the user's text or, without one, to the first example."""
    text = TEXT.held() or first_text()
    sides = (
        Side(LiveSubject(name, Text(text)), PLACEMENTS[placement]) for placement, name in ENCODERS.items()
    )
    st.caption(f"Of “{plain(shorten(text, _LONGEST))}” in {' and '.join(ENCODERS.values())}:")
    draw_parts_of_answer((next(sides), next(sides)), height=_FIGURE_HEIGHT)


def _draw_lengths() -> None:
    layers = [layers_of(name) for name in ENCODERS.values()]
    if not all(results and CURVE in results.curves for results in layers):
        st.caption("The length of the residual stream is not stored for these review encoders.")
        return
    # Only the state that a whole layer leaves: after the embedding, then every second stage.
    curves = {
        PLACEMENTS[placement]: results_expression(name, LAYERS, read_layers).curves[CURVE]
        for placement, name in ENCODERS.items()
    }
    ends = {title: (curve.mean[::2], curve.sd[::2]) for title, curve in curves.items()}
    pre, post = (np.asarray(mean()) for mean, _ in ends.values())
    figure = call(
        stage_curves,
        {title: mean for title, (mean, _) in ends.items()},
        ["embedding", *(f"L{layer}" for layer in range(max(len(pre), len(post)) - 1))],
        y_title="mean length ‖x‖",
        x_title="the tokens' vectors on the thick line, after each layer",
        colours=tuple(HUES[placement] for placement in ENCODERS),
        bands=ends,
        height=_FIGURE_HEIGHT,
    )
    show(figure, key="norm_lengths")
    sources = " and ".join(dict.fromkeys(over(results.source) for results in layers if results))
    st.caption(
        f"From the end of L0 to the end of the last layer: × {_growth_text(pre)} in pre-LN; × {_growth_text(post)} in post-LN, where norms reset the length.",
        help=f"Two encoders of film reviews, one of each. Line and band: mean and standard deviation over {sources}.",
    )


def _growth_text(lengths: np.ndarray) -> str:
    return format_number(float(lengths[-1] / lengths[1]), ".2f")
