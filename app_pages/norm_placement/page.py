"""Norm placement: claims about pre-LN and post-LN, their sources, and what measurements on the project's encoders show."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from app_pages.norm_placement.claim_row import WIDTHS, draw_row
from app_pages.norm_placement.stream_length import draw_placements
from app_pages.show.verdicts import LEGEND, TEST, stored_measurements
from app_pages.toolkit.markdown import counted, sentence
from model.claims.catalogue import CLAIMS, Claim
from model.claims.verdict import COMMAND, Measurement, Overall, overall_verdict

MEASURED = (
    "Two encoders of one seed begin with the same random numbers and see the same data; only the place of the norm differs. A dot "
    "is one encoder: orange-brown pre-LN, blue post-LN. The line behind the dots reaches from the least to the largest; the numbers "
    "at the right are the means. Kinds of encoders with too few seeds for a verdict are under Numbers."
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
    """Sentence on how many claims of papers have each verdict, and how many rows are no paper's."""
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
