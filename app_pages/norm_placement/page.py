"""Norm placement: both kinds of block, claims about pre-LN and post-LN with their sources, and what measurements on the project's
encoders show.
"""

from collections import Counter
from collections.abc import Sequence
from textwrap import shorten

import numpy as np
import streamlit as st

from app_pages.controls.compare_controls import NORMS
from app_pages.controls.compare_controls import PARTS as ANSWER_BY_PART
from app_pages.controls.input_controls import TEXT
from app_pages.controls.norm_placement_controls import FIGURE, PARTS
from app_pages.controls.pages import read_link
from app_pages.inputs.text_input import first_text
from app_pages.norm_placement.claim_row import WIDTHS, draw_row
from app_pages.show.parts_of_answer import draw_parts_of_answer
from app_pages.show.show import show
from app_pages.show.verdicts import LEGEND, TEST, stored_measurements
from app_pages.subject.stored_results import examples_phrase, layers_of, results_expression
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import PLACEMENTS, counted, plain, sentence
from model.atlas.results import LAYERS, read_layers
from model.claims.catalogue import CLAIMS, Claim
from model.claims.verdict import COMMAND, Measurement, Overall, overall_verdict
from model.inputs import Text
from viz.builders.number_format import format_number
from viz.builders.palette import PLACEMENTS as HUES
from viz.compare.stage_curves import stage_curves
from viz.norm_placement.placement_diagram import placement_diagram

ENCODERS = {"pre": "imdb-pre-ln", "post": "imdb-post-ln"}
_PAIR = {"kind": "Text", "checkpoint": ENCODERS["pre"], "compare_with": ENCODERS["post"]}
_CURVE = "norm"  # the stored curve: mean length of the states at each stage
_WHERE = {"pre": "norm before each part", "post": "norm after each sum"}
_FIGURE_HEIGHT = 130
_LONGEST = 80  # letters of a text
MEASURED = (
    "Two encoders of one seed begin with the same random numbers and see the same data; only the place of the norm differs. The "
    "line behind the dots reaches from the least to the largest. Kinds of encoders with too few seeds for a verdict are under "
    "Numbers."
)
# What seems to contradict something else, and why it does not, with numbers of the file that is shipped.
CONTRADICTIONS = (
    (
        "In untrained digit encoders (all 16 seeds), the gradient at the last layer is larger in post-LN (pre-LN 1.26, "
        "post-LN 2.90), but that of all weights is larger in pre-LN (pre-LN 67.5, post-LN 22.7).",
        "Both are true. The first is about one matrix, in the last layer; that is what the theorem of Xiong et al. 2020 is about. "
        "The second counts every layer and the embedding too.",
    ),
    (
        "Without warm-up, post-LN at full size (one seed) reaches 56\u202f% of the digits at a rate of 0.001, 58\u202f% with "
        "30 steps of warm-up, 65\u202f% with 100. At 0.003 it reaches 9\u202f%, 30\u202f% and 48\u202f%.",
        "Whether warm-up “helps” depends on its number of steps, and the number needed depends on the rate. Vaswani et al. "
        "2017 warm up over 4,000.",
    ),
)


def _stored_or_stop() -> list[Measurement]:
    """The stored measurements; ends the page with a sentence if there are none."""
    try:
        measurements = stored_measurements()
    except (ValueError, OSError) as error:
        st.info(f"{sentence(error)} `{COMMAND}` writes it again.", icon=":material/info:")
        st.stop()
    if not measurements:
        st.info(f"Nothing is measured yet: run `{COMMAND}`.", icon=":material/info:")
        st.stop()
    return measurements


def _answer(claims: Sequence[Claim], measured: Sequence[Measurement]) -> str:
    """Markdown with the number of claims of papers by verdict, and of questions that no paper asks: "**9 claims of papers**: holds 5 …"."""
    claimed = [claim for claim in claims if claim.by]
    verdicts = Counter(overall_verdict(claim.judgements(measured)).verdict for claim in claimed)
    counts = " · ".join(f"{verdict.value} {verdicts[verdict]}" for verdict in Overall if verdicts[verdict])
    own = counted(len(claims) - len(claimed), "question")
    return f"**{len(claimed)} claims of papers**: {counts}. Also {own} of our own."


def draw() -> None:
    draw_placements()
    measured = _stored_or_stop()
    with st.container(key="claims", gap=None):
        heads = st.columns(WIDTHS, gap="small", vertical_alignment="bottom")
        heads[0].markdown(_answer(CLAIMS, measured))
        heads[1].markdown(
            "**What was measured here?** A dot is one encoder: :orange[●] pre-LN, :blue[■] post-LN; the numbers are their means.",
            help=MEASURED,
        )
        heads[2].markdown("**Does it hold here?**", help=LEGEND)
        for when in dict.fromkeys(claim.when for claim in CLAIMS):
            st.markdown(f"**{when}**")
            for claim in (claim for claim in CLAIMS if claim.when == when):
                draw_row(claim, measured)

    with st.expander("Why “seems to hold” is not “holds”, and how it is tested"):
        st.markdown(LEGEND)
        st.markdown(TEST)
    with st.container(key="contradictions"):
        st.header("Numbers above that seem to contradict each other, and why they do not")
        for seeming, reason in CONTRADICTIONS:
            left, right = st.columns(2, gap="medium")
            left.markdown(seeming)
            right.markdown(reason)
    st.caption(f"Measured by `{COMMAND}`; the verdicts are computed from the stored values.")


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
    pre, post = (
        Side(LiveSubject(name, Text(text)), PLACEMENTS[placement]) for placement, name in ENCODERS.items()
    )
    st.caption(f"Of “{plain(shorten(text, _LONGEST))}” in {' and '.join(ENCODERS.values())}:")
    draw_parts_of_answer((pre, post), height=_FIGURE_HEIGHT)


def _draw_lengths() -> None:
    layers = [layers_of(name) for name in ENCODERS.values()]
    if not all(results and _CURVE in results.curves for results in layers):
        st.caption("The length of the residual stream is not stored for these review encoders.")
        return
    # Only the state that a whole layer leaves: after the embedding, then every second stage.
    curves = {
        PLACEMENTS[placement]: results_expression(name, LAYERS, read_layers).curves[_CURVE]
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
    sources = " and ".join(dict.fromkeys(examples_phrase(results.source) for results in layers if results))
    st.caption(
        f"From the end of L0 to the end of the last layer: × {_growth_text(pre)} in pre-LN; × {_growth_text(post)} in post-LN, where norms reset the length.",
        help=f"Two encoders of film reviews, one of each. Line and band: mean and standard deviation over {sources}.",
    )


def _growth_text(lengths: np.ndarray) -> str:
    return format_number(float(lengths[-1] / lengths[1]), ".2f")
