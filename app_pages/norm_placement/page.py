"""Norm placement: the claims about pre-LN and post-LN, their sources, and what the encoders here show."""

import streamlit as st

from app_pages.norm_placement.claim_row import WIDTHS, draw_row
from app_pages.show.show import show
from app_pages.show.verdicts import LEGEND, TEST, stored_measurements
from app_pages.toolkit.markdown import sentence
from model.claims.catalogue import CLAIMS
from model.claims.conflicts import conflicts
from model.claims.measurements import COMMAND, Measurement
from viz.norm_placement.seed_strip import placement_key


def _stored() -> list[Measurement]:
    """The stored measurements; stops the page with a sentence if there are none."""
    try:
        measurements = stored_measurements()
    except (ValueError, OSError) as error:
        st.info(f"{sentence(error)} `{COMMAND}` writes it again.", icon=":material/info:")
        st.stop()
    if not measurements:
        st.info(f"Nothing is measured yet: run `{COMMAND}`.", icon=":material/info:")
        st.stop()
    return measurements


measured = _stored()
st.markdown(
    "**pre-LN**: the norm stands before attention and before the feed-forward layer, and the residual stream itself is never "
    "normalised. **post-LN**: the norm stands after each addition, and normalises the stream."
)
st.markdown(LEGEND, help=TEST)
with st.container(key="claims"):
    heads = st.columns(WIDTHS, gap="medium", vertical_alignment="bottom")
    heads[0].markdown("**Claim**")
    with heads[1]:
        show(placement_key(), key="placements")
    heads[2].markdown("**Verdict**")
    for when in dict.fromkeys(claim.when for claim in CLAIMS):
        st.subheader(when, divider="gray")
        for claim in (claim for claim in CLAIMS if claim.when == when):
            draw_row(claim, measured)

if contradictions := conflicts(measured):
    st.subheader("Numbers above that seem to contradict each other, and why they do not", divider="gray")
    for because in dict.fromkeys(conflict.because for conflict in contradictions):
        seeming, reason = st.columns(2, gap="medium")
        seeming.markdown(
            "\n\n".join(conflict.seems for conflict in contradictions if conflict.because == because)
        )
        reason.markdown(because)
st.caption(f"Measured by `{COMMAND}`; the verdicts are computed from the stored values.")
