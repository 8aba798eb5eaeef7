"""Norm placement: claims about pre-LN and post-LN, their sources, and what measurements on the project's encoders show."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from app_pages.norm_placement.claim_row import WIDTHS, draw_row, effect_dots
from app_pages.norm_placement.stream_length import draw_placements
from app_pages.show.show import show
from app_pages.show.verdicts import LEGEND, TEST, stored_measurements
from app_pages.toolkit.markdown import sentence
from model.claims.catalogue import CLAIMS, Claim
from model.claims.verdict import COMMAND, Measurement, Overall, overall_verdict
from viz.norm_placement.seed_effects import axis_end, effect_axis

EFFECT = (
    "A dot is one kind of encoder, such as untrained digit encoders: point at it to see which. It is the mean over pairs of a "
    "pre-LN and a post-LN encoder that began with the same random numbers, the seed; its line reaches over all pairs. At −3 the "
    "value is larger in post-LN, by 3 times as much as encoders of one placement differ from seed to seed. Near 0, chance can "
    "explain it."
)
EXACTLY = (
    "**A dot** is the mean of (pre − post) / s over pairs of one seed, s = √((s²_pre + s²_post) / 2), where s_pre and s_post are the "
    "standard deviations over the seeds of one placement (n − 1); its line reaches from the least to the largest pair. Where the "
    "axis of the values is logarithmic, of logarithms. Of only 3 seeds, s itself is uncertain. No dot: fewer seeds, a spread of "
    "zero, and rates at which post-LN only guesses. The steps of the axis widen: 1, 3, 10, 30. A claim can hold though a line "
    "reaches over 0: the mean of all pairs is tested. A claim about one placement has a dashed 0: its values minus the "
    "value it is compared with, over that placement's own s. “Undecided”: too few seeds, or left out. Circle: larger in "
    "pre-LN, or pre-LN alone; square: post-LN."
)
# What seems to contradict something else, and why it does not, with numbers of the file that is shipped.
CONTRADICTIONS = (
    (
        "In untrained digit encoders (all 16 seeds), the gradient of the last layer is larger in post-LN (pre-LN 1.26, "
        "post-LN 2.90), and that of all parameters in pre-LN (pre-LN 67.5, post-LN 22.7).",
        "The theorem of Xiong et al. 2020 is about one matrix, at the end of the last block. The norm over all "
        "parameters counts every block and the embedding too, and says nothing about that matrix.",
    ),
    (
        "Without warm-up, post-LN at full size (one seed) reaches 56\u202f% of the digits at a rate of 0.001, 58\u202f% with "
        "30 steps of it, 65\u202f% with 100. At 0.003 it reaches 9\u202f%, 30\u202f% and 48\u202f%.",
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
    """Sentence on how many claims have each verdict."""
    verdicts = Counter(overall_verdict(claim.judgements(measured)).verdict for claim in claims)
    counts = " · ".join(f"{verdict.value} {verdicts[verdict]}" for verdict in Overall if verdicts[verdict])
    return f"**{len(claims)} claims of papers**: {counts}"


def draw() -> None:
    draw_placements()
    measured = _stored_or_stop()
    ends = axis_end([dot for claim in CLAIMS for dot in effect_dots(claim, measured)])
    with st.container(key="claims", gap=None):
        heads = st.columns(WIDTHS, gap="small", vertical_alignment="bottom")
        heads[0].markdown(_answer([claim for claim in CLAIMS if claim.by], measured))
        with heads[1], st.container(gap=None):
            st.markdown(
                "**Which is larger?** A dot is one kind of encoder. At ±1, both placements differ about as much as two random starts do.",
                help=EFFECT,
            )
            show(effect_axis(ends), key=None)
        heads[2].markdown("**Does it hold here?**")
        for when in dict.fromkeys(claim.when for claim in CLAIMS):
            st.markdown(f"**{when}**")
            for claim in (claim for claim in CLAIMS if claim.when == when):
                draw_row(claim, measured, end=ends)

    with st.expander("Why “seems to hold” is not “holds”, and how all this is computed"):
        st.markdown(LEGEND)
        st.markdown(TEST)
        st.markdown(EXACTLY)
    with st.container(key="contradictions"):
        st.header("Numbers above that seem to contradict each other, and why they do not")
        for seeming, reason in CONTRADICTIONS:
            left, right = st.columns(2, gap="medium")
            left.markdown(seeming)
            right.markdown(reason)
    st.caption(f"Measured by `{COMMAND}`; the verdicts are computed from the stored values.")
